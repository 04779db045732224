"""Members of the class: a nickname for each phone that still gives a sign."""

from __future__ import annotations

import os
import re
import secrets
import threading
import unicodedata

import redis

from app.domain import Invalid, Unreadable
from app.domain.records import encode, parse, versioned
from app.service.classroom.roll import GONE, ClassMember, Roll
from app.store import classroom as records
from app.store.clients.clock import StoreClock
from app.store.clients.redis import answering
from app.text import Text

LONGEST_NAME = 20  # characters; it must fit next to two hundred others on a projector
# Letters and signs by Unicode that show nothing: the fillers of Hangul, the Braille cell
# without a dot, the null notehead, the blanks of hieroglyphs.
BLANK = frozenset("\u115f\u1160\u3164\uffa0\u2800\U0001d159\U00013441\U00013442")


def nickname(text: str) -> str:
    """Return the nickname as shown: composed, no superfluous spaces. Raises Invalid.

    Control and format characters are refused: one that turns the direction of writing would also
    turn the names after it. So is a name of accents and blanks only: it would be invisible.
    """
    name = re.sub(r"\s+", " ", unicodedata.normalize("NFC", text[:1_000])).strip()
    if not name:
        raise Invalid({"name": Text("Choose a nickname.")})
    if len(name) > LONGEST_NAME:
        too_long = Text("A nickname has %(most)s characters at most.", most=LONGEST_NAME)
        raise Invalid({"name": too_long})
    is_visible = any(unicodedata.category(sign)[0] in "LNPS" for sign in name)
    if not is_visible or not name.isprintable() or not BLANK.isdisjoint(name):
        raise Invalid({"name": Text("A nickname has letters, digits and signs that can be seen.")})
    return name


ITEM = "apple"  # what a class buys
LONG_GONE = 60_000  # ms more after which a worker's roll of them is thrown away
REFRESH = 3_000  # ms between two writes of the roll when no phone joined


class Members:
    """The roll of the phones that one worker of the shop hears, written to the store now and then.

    A write for every sign would be too many for the disk: two hundred phones give sixty-six signs a
    second. When a worker dies, another one hears its phones within three seconds.
    """

    def __init__(self, store: redis.Redis, clock: StoreClock) -> None:
        self.store = store
        self.clock = clock
        self.worker = f"{os.getpid()}-{secrets.token_hex(4)}"
        self.roll = Roll()
        self.written = 0
        self.lock = threading.Lock()

    def greet(self, id: str, name: str, joined: int, address: str) -> None:
        """Enter the sign of a phone at `address`. Raises StoreAway."""
        now = self.clock.now()
        with self.lock:
            is_new = self.roll.hear(ClassMember(id, name, joined, now), address)
            if not is_new and now < self.written + REFRESH:
                return
            self.roll.forget_the_gone(now)
            self.written = now
            roll = b"[" + b",".join(map(encode, self.roll.members())) + b"]"
        with answering():
            records.put_roll(self.store, ITEM, self.worker, roll)

    def present(self) -> list[ClassMember]:
        """Return this class's phones that were heard lately, in the order in which they joined.

        Raises StoreAway.
        """
        with answering():
            began, rolls = records.began(self.store, ITEM), records.rolls(self.store, ITEM)
        since, here = self.clock.now() - GONE, dict[str, ClassMember]()
        for worker, roll in rolls.items():
            try:
                members = [versioned(ClassMember, each) for each in parse(roll)]
            except Unreadable:  # another version's worker: its phones are not known here
                continue
            for member in members:
                known = here.get(member.id)  # by another worker, before
                if member.seen >= since and (known is None or member.seen > known.seen):
                    here[member.id] = member
            if all(member.seen < since - LONG_GONE for member in members):
                with answering():
                    records.forget(self.store, ITEM, [worker])  # it died, or has no phones
        ours = [member for member in here.values() if member.joined >= began]
        return sorted(ours, key=lambda member: (member.joined, member.id))

    def hidden(self) -> set[str]:
        """Return the ids of phones whose nicknames are kept off the screens. Raises StoreAway."""
        with answering():
            return records.hidden(self.store, ITEM)

    def hide(self, id: str) -> None:
        """Keep a nickname off the screens; its phone buys all the same. Raises Invalid, StoreAway.

        The phone is hidden, not the name: it may choose another name, and a worse one.
        """
        if all(member.id != id for member in self.present()):
            raise Invalid({"hide": Text("No participant has this id.")})
        with answering():
            records.hide(self.store, ITEM, id)

    def show(self, id: str) -> None:
        """Show a hidden phone's nickname again. Raises StoreAway."""
        with answering():
            records.show(self.store, ITEM, id)
