"""Who is in the class: a nickname for each phone, for as long as the phone is heard."""

from __future__ import annotations

import os
import re
import secrets
import threading
import unicodedata
from dataclasses import dataclass

import redis

from app.domain import ClassIsFull, Invalid, Unreadable
from app.domain.records import encode, parse, versioned
from app.store import classroom as records
from app.store.clock import StoreClock
from app.store.redis import answering
from app.text import Text

ITEM = "apple"  # what a class buys
MOST = 500  # phones of one worker; what any more would do is not measured
LONGEST_NAME = 20  # characters; it must fit beside two hundred others on a projector
# ms without a sign after which a phone is gone. Around the opening it may be silent for ten
# seconds (static/shop/class.js), and its sign waits for up to three to be written down.
GONE = 15_000
LONG_GONE = 60_000  # ms more after which a worker's roll of them is thrown away
REFRESH = 3_000  # ms between two writes of the roll when nobody came


@dataclass(frozen=True)
class Member:
    """One phone. `id` is its buyer; times are in ms since 1970."""

    id: str
    name: str
    joined: int
    seen: int


class Members:
    """A worker of the shop keeps the roll of those it hears, and writes it down now and then.

    Not with every sign: that would be a write to the disk, two hundred phones sixty-six times a
    second. When a worker dies, another one hears its phones within three seconds.
    """

    def __init__(self, store: redis.Redis, clock: StoreClock) -> None:
        self.store = store
        self.clock = clock
        self.worker = f"{os.getpid()}-{secrets.token_hex(4)}"
        self.heard: dict[str, Member] = {}
        self.written = 0
        self.lock = threading.Lock()

    def greet(self, id: str, name: str, joined: int) -> None:
        """A phone gives a sign. Raises ClassIsFull, StoreAway."""
        now = self.clock.now()
        with self.lock:
            before = self.heard.get(id)
            if before is None and len(self.heard) >= MOST:
                self._forget_the_gone(now)
                if len(self.heard) >= MOST:
                    full = Text("The class has %(most)s phones, and takes no more.", most=MOST)
                    raise ClassIsFull(full)
            self.heard[id] = Member(id, name, joined, now)
            known = before is not None and before.name == name and before.seen > now - GONE
            if known and now < self.written + REFRESH:
                return
            self._forget_the_gone(now)
            self.written = now
            roll = b"[" + b",".join(map(encode, self.heard.values())) + b"]"
        with answering():
            records.put_roll(self.store, ITEM, self.worker, roll)

    def _forget_the_gone(self, now: int) -> None:
        self.heard = {id: member for id, member in self.heard.items() if member.seen >= now - GONE}

    def present(self) -> list[Member]:
        """Those whose phone was heard lately, in the order in which they came. Raises StoreAway."""
        with answering():
            rolls = records.rolls(self.store, ITEM)
        since, here = self.clock.now() - GONE, dict[str, Member]()
        for worker, roll in rolls.items():
            try:
                there = [versioned(Member, each) for each in parse(roll)]
            except Unreadable:  # another version's worker: its phones are not known here
                continue
            for member in there:
                known = here.get(member.id)  # by another worker, before
                if member.seen >= since and (known is None or member.seen > known.seen):
                    here[member.id] = member
            if all(member.seen < since - LONG_GONE for member in there):
                with answering():
                    records.forget(self.store, ITEM, [worker])  # it died, or has nobody
        return sorted(here.values(), key=lambda member: (member.joined, member.id))

    def hidden(self) -> set[str]:
        """Ids of those whose nicknames are kept off the screens. Raises StoreAway."""
        with answering():
            return records.hidden(self.store, ITEM)

    def hide(self, id: str) -> None:
        """Keep a nickname off the screens; its phone buys all the same. Raises Invalid, StoreAway.

        Of the phone, not of the name: it may call itself something else, and worse.
        """
        if all(member.id != id for member in self.present()):
            raise Invalid({"hide": Text("Nobody here has this id.")})
        with answering():
            records.hide(self.store, ITEM, id)

    def show(self, id: str) -> None:
        """Take that back. Raises StoreAway."""
        with answering():
            records.show(self.store, ITEM, id)


def nickname(text: str) -> str:
    """As it is shown: composed, without superfluous spaces. Raises Invalid.

    No control or format characters: one that turns the direction of writing would do so to the
    names after it.
    """
    name = re.sub(r"\s+", " ", unicodedata.normalize("NFC", text[:1_000])).strip()
    if not name:
        raise Invalid({"name": Text("Choose a nickname.")})
    if len(name) > LONGEST_NAME:
        most = Text("A nickname has %(most)s characters at most.", most=LONGEST_NAME)
        raise Invalid({"name": most})
    if not name.isprintable():
        raise Invalid({"name": Text("A nickname has letters, digits and signs that can be seen.")})
    return name
