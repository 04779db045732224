"""A history put together: what each buyer was told of each purchase, and in which round."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from loadtest.chaos.history import Audited, Begun, Called, Entry, Event, Fault, Over, Run, Told
from loadtest.chaos.judge.moves import NEVER
from loadtest.chaos.words import Answer, Book, Deed

# What tells that the units were taken under this key at some time before.
TAKEN = frozenset({Answer.SOLD, Answer.HELD, Answer.EXPIRED, Answer.GIVEN_BACK})


@dataclass(frozen=True, slots=True)
class Op:
    """One thing that a buyer did, with what came of it."""

    called: Called
    told: Told | None

    @property
    def number(self) -> int:
        return self.called.op

    @property
    def deed(self) -> Deed:
        return self.called.deed

    @property
    def answer(self) -> Answer:
        return self.told.answer if self.told else Answer.UNKNOWN

    @property
    def at(self) -> int:
        return self.called.at

    @property
    def until(self) -> int:
        """When it was over; what is unknown may happen at any later time."""
        return NEVER if self.told is None or self.answer is Answer.UNKNOWN else self.told.at

    @property
    def left(self) -> int | None:
        return self.told.left if self.told else None

    @property
    def round(self) -> int | None:
        said = self.told.round if self.told else None
        return self.called.round if said is None else said


@dataclass(slots=True)
class Purchase:
    """All that was done and told under one key of an item, and what the books say of it."""

    item: str
    key: str
    ops: list[Op] = field(default_factory=list)  # in the order of their calls
    entries: list[Entry] = field(default_factory=list)

    def told(self, *answers: Answer) -> list[Op]:
        return [op for op in self.ops if op.answer in answers]

    def did(self, *deeds: Deed) -> list[Op]:
        return [op for op in self.ops if op.deed in deeds]

    @property
    def orders(self) -> set[str]:
        """Ids of all orders that were told or booked under this key."""
        said = {op.told.order for op in self.told(Answer.SOLD, Answer.HELD) if op.told}
        return {one for one in said if one} | {entry.id for entry in self.entries}

    @property
    def booked(self) -> bool:
        return any(entry.where is Book.DATABASE for entry in self.entries)

    @property
    def sold(self) -> bool:
        return bool(self.entries or self.told(Answer.SOLD))

    @property
    def taken(self) -> bool:
        return bool(self.entries or self.told(*TAKEN))

    @property
    def rounds(self) -> set[int]:
        """Those it is known to be of: one, as a rule; none for one of which nothing is known."""
        said = {op.told.round for op in self.told(*TAKEN) if op.told}
        known = {entry.round for entry in self.entries} | {one for one in said if one is not None}
        if known or not self.taken:
            return known
        return {op.called.round for op in self.ops if op.called.round is not None}

    @property
    def units(self) -> int:
        """As asked for; as booked, if nobody asked."""
        asked = [op.called.units for op in self.did(Deed.BUY) if op.called.units]
        return asked[0] if asked else sum(entry.units for entry in self.entries)

    @property
    def buyer(self) -> str:
        return self.ops[0].called.buyer if self.ops else ""

    @property
    def numbers(self) -> tuple[int, ...]:
        return tuple(op.number for op in self.ops)


@dataclass(slots=True)
class Sold:
    """A round: what it was, when it can have been over (ns), what the last audit of it says."""

    begun: Begun
    over: int = NEVER
    audited: Audited | None = None
    purchases: list[Purchase] = field(default_factory=list)  # those known to be of this round
    near: list[Purchase] = field(default_factory=list)  # of which something may concern it

    @property
    def name(self) -> tuple[str, int]:
        return self.begun.item, self.begun.round

    @property
    def settled(self) -> bool:
        return self.audited is not None and self.audited.settled

    @property
    def left(self) -> int:
        """In the end: as it was found there, or as the audit says if nobody else has looked."""
        if self.audited is None:
            return 0
        found = self.audited.found_left
        return self.audited.left if found is None else found

    @property
    def held(self) -> int:
        """The same."""
        if self.audited is None:
            return 0
        found = self.audited.found_held
        return self.audited.held if found is None else found


@dataclass(slots=True)
class Story:
    run: Run
    rounds: dict[tuple[str, int], Sold]
    purchases: dict[tuple[str, str], Purchase]
    faults: list[Fault]


def story(events: Iterable[Event]) -> Story:
    """Raises ValueError for a history that contradicts itself, or has no run."""
    parts: dict[type, list[Event]] = {}
    for event in events:
        parts.setdefault(type(event), []).append(event)
    runs = [one for one in parts.get(Run, []) if isinstance(one, Run)]
    if len(runs) != 1:
        raise ValueError(f"A history is of one run, this one is of {len(runs)}.")
    rounds = _rounds(parts)
    purchases = _purchases(parts)
    for purchase in purchases.values():
        for number in purchase.rounds:
            if (purchase.item, number) in rounds:
                rounds[purchase.item, number].purchases.append(purchase)
    _bring_near(rounds.values(), purchases.values(), runs[0].late)
    faults = [one for one in parts.get(Fault, []) if isinstance(one, Fault)]
    return Story(runs[0], rounds, purchases, sorted(faults, key=lambda one: one.since))


def _rounds(parts: dict[type, list[Event]]) -> dict[tuple[str, int], Sold]:
    rounds: dict[tuple[str, int], Sold] = {}
    last: dict[str, Sold] = {}
    begun = [one for one in parts.get(Begun, []) if isinstance(one, Begun)]
    for one in sorted(begun, key=lambda one: one.called):
        if (one.item, one.round) in rounds:
            raise ValueError(f"Round {one.round} of {one.item} was begun twice.")
        if one.item in last:  # an item has one running round
            last[one.item].over = one.told
        last[one.item] = rounds[one.item, one.round] = Sold(one)
    for event in parts.get(Over, []):
        if isinstance(event, Over) and event.told is not None:
            of = rounds[event.item, event.round]
            of.over = min(of.over, event.told)
    for event in parts.get(Audited, []):
        if isinstance(event, Audited):
            of = rounds[event.item, event.round]
            if of.audited is None or of.audited.at < event.at:
                of.audited = event
    return rounds


def _bring_near(rounds: Iterable[Sold], purchases: Iterable[Purchase], late: int | None) -> None:
    """To each round what was under way between its begin and its last audit.

    A run has thousands of rounds: to look at every purchase for each would take an hour. What is
    unknown is under way for `late` ns.
    """
    of_item: dict[str, list[Sold]] = {}
    for round in rounds:
        of_item.setdefault(round.begun.item, []).append(round)
    for purchase in purchases:
        unknown = (
            op.at + late if op.until == NEVER and late is not None else op.until
            for op in purchase.ops
        )
        until = max(unknown, default=-1)
        for round in of_item.get(purchase.item, ()):
            over = round.audited.at if round.audited else NEVER
            if until >= round.begun.called and purchase.ops[0].at <= over:
                round.near.append(purchase)


def _purchases(parts: dict[type, list[Event]]) -> dict[tuple[str, str], Purchase]:
    told: dict[int, Told] = {}
    for event in parts.get(Told, []):
        if isinstance(event, Told):
            if event.op in told:
                raise ValueError(f"Op {event.op} was told twice.")
            told[event.op] = event
    found: dict[tuple[str, str], Purchase] = {}
    calls = [one for one in parts.get(Called, []) if isinstance(one, Called)]
    seen = set[int]()
    for call in sorted(calls, key=lambda one: one.at):
        if call.op in seen:
            raise ValueError(f"Op {call.op} was called twice.")
        seen.add(call.op)
        if call.key is None:  # a look at the shelf
            continue
        of = found.setdefault((call.item, call.key), Purchase(call.item, call.key))
        of.ops.append(Op(call, told.get(call.op)))
    if unasked := told.keys() - seen:
        raise ValueError(f"Told, and never called: op {min(unasked)}.")
    for event in parts.get(Entry, []):
        if isinstance(event, Entry):
            name = event.item, event.key
            found.setdefault(name, Purchase(*name)).entries.append(event)
    return found
