"""A history put together: what each buyer was told of each purchase, and in which round."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from loadtest.chaos.history import (
    Action,
    Book,
    BookEntry,
    Event,
    InjectedFault,
    Reply,
    Request,
    Response,
    RoundAudit,
    RoundEnded,
    RoundStarted,
    RunStarted,
)
from loadtest.chaos.judge.moves import NEVER

# What tells that the units were taken under this key at some time before.
TAKEN = frozenset({Reply.SOLD, Reply.HELD, Reply.EXPIRED, Reply.GIVEN_BACK})


@dataclass(frozen=True, slots=True)
class Op:
    """One thing that a buyer did, with what came of it."""

    called: Request
    told: Response | None

    @property
    def number(self) -> int:
        return self.called.op

    @property
    def deed(self) -> Action:
        return self.called.deed

    @property
    def answer(self) -> Reply:
        return self.told.answer if self.told else Reply.UNKNOWN

    @property
    def at(self) -> int:
        return self.called.at

    @property
    def until(self) -> int:
        """When it was over; what is unknown may happen at any later time."""
        return NEVER if self.told is None or self.answer is Reply.UNKNOWN else self.told.at

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
    entries: list[BookEntry] = field(default_factory=list)

    def told(self, *answers: Reply) -> list[Op]:
        return [op for op in self.ops if op.answer in answers]

    def did(self, *deeds: Action) -> list[Op]:
        return [op for op in self.ops if op.deed in deeds]

    @property
    def orders(self) -> set[str]:
        """Ids of all orders that were told or booked under this key."""
        said = {op.told.order for op in self.told(Reply.SOLD, Reply.HELD) if op.told}
        return {one for one in said if one} | {entry.id for entry in self.entries}

    @property
    def booked(self) -> bool:
        return any(entry.where is Book.DATABASE for entry in self.entries)

    @property
    def sold(self) -> bool:
        return bool(self.entries or self.told(Reply.SOLD))

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
        asked = [op.called.units for op in self.did(Action.BUY) if op.called.units]
        return asked[0] if asked else sum(entry.units for entry in self.entries)

    @property
    def buyer(self) -> str:
        return self.ops[0].called.buyer if self.ops else ""

    @property
    def numbers(self) -> tuple[int, ...]:
        return tuple(op.number for op in self.ops)


@dataclass(slots=True)
class PlayedRound:
    """A round: what it was, when it can have been over (ns), what the last audit of it says."""

    begun: RoundStarted
    over: int = NEVER
    audited: RoundAudit | None = None
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
class RunHistory:
    run: RunStarted
    rounds: dict[tuple[str, int], PlayedRound]
    purchases: dict[tuple[str, str], Purchase]
    faults: list[InjectedFault]


def reconstruct_run(events: Iterable[Event]) -> RunHistory:
    """Raises ValueError for a history that contradicts itself, or has no run."""
    parts: dict[type, list[Event]] = {}
    for event in events:
        parts.setdefault(type(event), []).append(event)
    runs = [one for one in parts.get(RunStarted, []) if isinstance(one, RunStarted)]
    if len(runs) != 1:
        raise ValueError(f"A history is of one run, this one is of {len(runs)}.")
    rounds = _rounds(parts)
    purchases = _purchases(parts)
    for purchase in purchases.values():
        for number in purchase.rounds:
            if (purchase.item, number) in rounds:
                rounds[purchase.item, number].purchases.append(purchase)
    _bring_near(rounds.values(), purchases.values(), runs[0].late)
    faults = [one for one in parts.get(InjectedFault, []) if isinstance(one, InjectedFault)]
    return RunHistory(runs[0], rounds, purchases, sorted(faults, key=lambda one: one.since))


def _rounds(parts: dict[type, list[Event]]) -> dict[tuple[str, int], PlayedRound]:
    rounds: dict[tuple[str, int], PlayedRound] = {}
    last: dict[str, PlayedRound] = {}
    begun = [one for one in parts.get(RoundStarted, []) if isinstance(one, RoundStarted)]
    for one in sorted(begun, key=lambda one: one.called):
        if (one.item, one.round) in rounds:
            raise ValueError(f"Round {one.round} of {one.item} was begun twice.")
        if one.item in last:  # an item has one running round
            last[one.item].over = one.told
        last[one.item] = rounds[one.item, one.round] = PlayedRound(one)
    for event in parts.get(RoundEnded, []):
        if isinstance(event, RoundEnded) and event.told is not None:
            of = rounds[event.item, event.round]
            of.over = min(of.over, event.told)
    for event in parts.get(RoundAudit, []):
        if isinstance(event, RoundAudit):
            of = rounds[event.item, event.round]
            if of.audited is None or of.audited.at < event.at:
                of.audited = event
    return rounds


def _bring_near(
    rounds: Iterable[PlayedRound], purchases: Iterable[Purchase], late: int | None
) -> None:
    """To each round what was under way between its begin and its last audit.

    A run has thousands of rounds: to look at every purchase for each would take an hour. What is
    unknown is under way for `late` ns.
    """
    of_item: dict[str, list[PlayedRound]] = {}
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
    told: dict[int, Response] = {}
    for event in parts.get(Response, []):
        if isinstance(event, Response):
            if event.op in told:
                raise ValueError(f"Op {event.op} was told twice.")
            told[event.op] = event
    found: dict[tuple[str, str], Purchase] = {}
    calls = [one for one in parts.get(Request, []) if isinstance(one, Request)]
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
    for event in parts.get(BookEntry, []):
        if isinstance(event, BookEntry):
            name = event.item, event.key
            found.setdefault(name, Purchase(*name)).entries.append(event)
    return found
