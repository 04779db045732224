"""Places on the projector, for the phones that one worker hears.

No phone is refused: when no place is free, a new phone takes over another one's. All phones of a
class may have one address (a router, a hotspot), so an address may have any number of places. But
an address that adds places too fast gives up its own places first (docs/decisions/lab.md).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

MOST = 500  # phones of one worker; more are not measured
# ms without a sign after which a phone is gone. Around the opening it may be silent for ten
# seconds (static/shop/class.js), and its sign waits for up to three to be written down.
GONE = 15_000
AT_ONCE = 100  # places that an address may add in PACE: more than a class that scans one code
PACE = 10_000  # ms
SOON = 1_000  # ms after which a first sign is no part of joining any more


@dataclass(frozen=True)
class ClassMember:
    """One phone. `id` is its buyer; times are in ms since 1970."""

    id: str
    name: str
    joined: int
    seen: int


@dataclass(frozen=True)
class RollPlace:
    """A phone's place. `added` (ms since 1970) is when its address got it, also before a take-over.

    `again`: the phone was heard since it joined, as every open page is, but not a mere request.
    """

    address: str
    added: int
    member: ClassMember
    again: bool


class Roll:
    def __init__(self) -> None:
        self.places: dict[str, RollPlace] = {}  # by phone; the one heard longest ago comes first

    def hear(self, member: ClassMember, address: str) -> bool:
        """Enter a phone's sign. Return True if a screen should show it at once: new or renamed.

        A phone that takes over a place is shown later: to write that at once would make each
        request of a crowd a write to the disk.
        """
        before = self.places.pop(member.id, None)
        if before and before.member.seen >= member.seen - GONE:
            self.places[member.id] = RollPlace(address, before.added, member, again=True)
            return (before.member.name, before.member.joined) != (member.name, member.joined)
        self.forget_the_gone(member.seen)
        given_up, added = self._given_up(address, member.seen), member.seen
        if given_up:
            del self.places[given_up.member.id]
            added = given_up.added if given_up.address == address else added
        again = member.seen > member.joined + SOON
        self.places[member.id] = RollPlace(address, added, member, again)
        return given_up is None

    def _given_up(self, address: str, now: int) -> RollPlace | None:
        """Return the place that a newcomer takes over; None: there is a free one.

        An address that adds places too fast gives up one of its own. Otherwise, when all are taken,
        the address with the most places gives up one.
        """
        theirs = [place for place in self.places.values() if place.address == address]
        if sum(place.added > now - PACE for place in theirs) >= AT_ONCE:
            return _weakest(theirs)
        if len(self.places) < MOST:
            return None
        counts = Counter(place.address for place in self.places.values())
        [(largest, count)] = counts.most_common(1)
        of = address if counts[address] == count else largest
        return _weakest([place for place in self.places.values() if place.address == of])

    def members(self) -> list[ClassMember]:
        return [place.member for place in self.places.values()]

    def forget_the_gone(self, now: int) -> None:
        self.places = {
            id: place for id, place in self.places.items() if place.member.seen >= now - GONE
        }


def _weakest(places: list[RollPlace]) -> RollPlace:
    """Return the place of a phone that has only joined, else of the one heard longest ago."""
    return min(places, key=lambda place: place.again)  # the first of equals
