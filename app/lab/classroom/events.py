"""Events for a projector: the class's members and the sale's standing, whenever they change.

An event contains the whole of its subject, and its id says what the screen then shows of both. So a
screen that was cut off resumes there, on any server, and gets nothing twice.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypedDict

import orjson

from app.domain import DatabaseAway, Round, StoreAway, WrongPair
from app.lab.classroom.sale import ClassSale, Phase, Standing
from app.service.classroom.members import Members

EVERY = 0.5  # s between two looks


class Event(NamedTuple):
    """`subject` is the new content; `id` is "" when the screen shows the same as before."""

    id: str
    kind: str
    subject: Any


class Name(TypedDict):
    id: str  # the phone's
    name: str  # "" when the screen must not show it
    bought: bool


AWAY, BACK = Event("", "away", {}), Event("", "back", {})


class Watch:
    """One screen's view of the class: remembers what it need not look up again."""

    def __init__(self, sale: ClassSale, members: Members) -> None:
        self.sale = sale
        self.members = members
        self.over: Standing | None = None
        self.counted: tuple[Round | None, int | None] = None, None  # the round, at how many sales
        self.bought: set[str] = set()

    def standing(self) -> Standing:
        """Return how the sale stands. Raises StoreAway, DatabaseAway."""
        now = self.sale.standing()
        if self.over is not None and self.over.round == now.round:
            return self.over
        now = self.sale.judged(now)
        self.over = now if now.phase is Phase.OVER else None
        return now

    def names(self, standing: Standing) -> list[Name]:
        """Return the phones of the class in the order in which they came.

        Raises StoreAway, DatabaseAway.
        """
        self._count(standing.round, standing.sold)
        hidden = self.members.hidden()
        return [
            {
                "id": member.id,
                "name": "" if member.id in hidden else member.name,
                "bought": member.id in self.bought,
            }
            for member in self.members.present()
        ]

    def _count(self, round: Round | None, sold: int | None) -> None:
        if self.counted != (round, sold):
            self.bought = {*self.sale.buyers(round)} if round and sold else set()
            self.counted = round, sold


def follow(
    sale: ClassSale, members: Members, after: str, shown: Callable[[Standing], dict[str, Any]]
) -> Iterator[Event | None]:
    """Yield events forever, for a screen that last got the one with the id `after` ("": none).

    `shown` is a standing as the screen gets it; its content must not change by itself. Yields None
    when there is nothing new, so that the sender notices a closed connection. Yields AWAY while
    store or database do not answer, and BACK when they do again.
    """
    watch = Watch(sale, members)
    away = False
    names, _, stands = after.partition(".")
    while True:
        is_changed = False
        try:
            standing = watch.standing()
            subject = shown(standing)
            if _digest(subject) != stands:
                stands, is_changed = _digest(subject), True
                yield Event(f"{names}.{stands}", "sale", subject)
            roll = watch.names(standing)
            if _digest(roll) != names:
                names, is_changed = _digest(roll), True
                yield Event(f"{names}.{stands}", "names", roll)
        except (StoreAway, DatabaseAway, WrongPair):
            away = True
            yield AWAY
        else:
            if away:
                away = False
                yield BACK
            elif not is_changed:
                yield None
        time.sleep(EVERY)


def _digest(subject: Any) -> str:
    return hashlib.blake2s(orjson.dumps(subject), digest_size=8).hexdigest()
