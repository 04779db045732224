"""A history put together: each buyer's answers to each purchase, and its round."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeVar

from loadtest.chaos.history import (
    Action,
    ActPlayed,
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
    ServedAgain,
)
from loadtest.chaos.judge.moves import NEVER

Kind = TypeVar("Kind", bound=Event)
# Answers which say that the units were taken under this key at some time before.
TAKEN = frozenset({Reply.SOLD, Reply.HELD, Reply.EXPIRED, Reply.GIVEN_BACK})


@dataclass(frozen=True, slots=True)
class Op:
    """One request of a buyer, with its answer."""

    called: Request
    response: Response | None

    @property
    def number(self) -> int:
        return self.called.op

    @property
    def deed(self) -> Action:
        return self.called.deed

    @property
    def answer(self) -> Reply:
        return self.response.answer if self.response else Reply.UNKNOWN

    @property
    def at(self) -> int:
        return self.called.at

    @property
    def until(self) -> int:
        """When it was over; a request without an answer may take effect at any later time."""
        return NEVER if self.response is None or self.answer is Reply.UNKNOWN else self.response.at

    @property
    def left(self) -> int | None:
        return self.response.left if self.response else None

    @property
    def round(self) -> int | None:
        number = self.response.round if self.response else None
        return self.called.round if number is None else number


def last_effect(op: Op, late: int | None) -> int:
    """Return until when it can take effect: without an answer, `late` ns from its call."""
    return op.at + late if op.until == NEVER and late is not None else op.until


@dataclass(slots=True)
class Purchase:
    """All requests and answers under one key of an item, and the books' entries for it."""

    item: str
    key: str
    ops: list[Op] = field(default_factory=list)  # in the order of their calls
    entries: list[BookEntry] = field(default_factory=list)

    def told(self, *answers: Reply) -> list[Op]:
        return [op for op in self.ops if op.answer in answers]

    def did(self, *deeds: Action) -> list[Op]:
        return [op for op in self.ops if op.deed in deeds]

    @property
    def makers(self) -> list[Op]:
        """The presses that may have taken the units; EXPIRED: the answer took longer."""
        return [op for op in self.did(Action.BUY) if op.answer in (*TAKEN, Reply.UNKNOWN)]

    @property
    def orders(self) -> set[str]:
        """The ids of all orders that were answered or booked under this key."""
        answers = self.told(Reply.SOLD, Reply.HELD)
        orders = {op.response.order for op in answers if op.response and op.response.order}
        return orders | {entry.id for entry in self.entries}

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
        """Return the rounds to which it is known to belong: one, as a rule."""
        answers = {op.response.round for op in self.told(*TAKEN) if op.response}
        known = {entry.round for entry in self.entries} | {n for n in answers if n is not None}
        if known or not self.taken:
            return known
        return {op.called.round for op in self.ops if op.called.round is not None}

    @property
    def units(self) -> int:
        """Return the units that the buyer wanted; those booked if no request is known."""
        wanted = [op.called.units for op in self.did(Action.BUY) if op.called.units]
        return wanted[0] if wanted else sum(entry.units for entry in self.entries)

    @property
    def buyer(self) -> str:
        return self.ops[0].called.buyer if self.ops else ""

    @property
    def numbers(self) -> tuple[int, ...]:
        return tuple(op.number for op in self.ops)


@dataclass(slots=True)
class PlayedRound:
    """A round: its terms, when it can have been over (ns), its last audit."""

    begun: RoundStarted
    over: int = NEVER
    audited: RoundAudit | None = None
    audits: list[RoundAudit] = field(default_factory=list)  # while buyers bought
    served: list[ServedAgain] = field(default_factory=list)
    purchases: list[Purchase] = field(default_factory=list)  # those known to be of this round
    near: list[Purchase] = field(default_factory=list)  # purchases that may concern it

    @property
    def name(self) -> tuple[str, int]:
        return self.begun.item, self.begun.round

    @property
    def settled(self) -> bool:
        return self.audited is not None and self.audited.settled

    @property
    def left(self) -> int:
        """The units left in the end, as the harness has read them, else as the audit says."""
        if self.audited is None:
            return 0
        stored = self.audited.found_left
        return self.audited.left if stored is None else stored

    @property
    def held(self) -> int:
        """The units held in the end, as the harness has read them, else as the audit says."""
        if self.audited is None:
            return 0
        stored = self.audited.found_held
        return self.audited.held if stored is None else stored


@dataclass(slots=True)
class RunHistory:
    run: RunStarted
    rounds: dict[tuple[str, int], PlayedRound]
    purchases: dict[tuple[str, str], Purchase]
    faults: list[InjectedFault]
    played: int  # acts, to their end
    begin: int  # of the first round

    def seconds(self, at: int) -> float:
        """Return a moment in s of the run."""
        return round((at - self.begin) / 1_000_000_000, 3)


def reconstruct_run(events: Iterable[Event]) -> RunHistory:
    """Put a history together. Raises ValueError if it contradicts itself, or has no run."""
    events = list(events)
    runs = _select(events, RunStarted)
    if len(runs) != 1:
        raise ValueError(f"A history is of one run, this one is of {len(runs)}.")
    rounds = _rounds(events)
    purchases = _purchases(events)
    for purchase in purchases.values():
        for number in purchase.rounds:
            if (purchase.item, number) in rounds:
                rounds[purchase.item, number].purchases.append(purchase)
    _bring_near(rounds.values(), purchases.values(), runs[0].late)
    faults = sorted(_select(events, InjectedFault), key=lambda fault: fault.since)
    begin = min((of.begun.called for of in rounds.values()), default=0)
    return RunHistory(runs[0], rounds, purchases, faults, len(_select(events, ActPlayed)), begin)


def _select(events: Iterable[Event], kind: type[Kind]) -> list[Kind]:
    return [event for event in events if isinstance(event, kind)]


def _rounds(events: list[Event]) -> dict[tuple[str, int], PlayedRound]:
    rounds: dict[tuple[str, int], PlayedRound] = {}
    last: dict[str, PlayedRound] = {}
    for begun in sorted(_select(events, RoundStarted), key=lambda begun: begun.called):
        if (begun.item, begun.round) in rounds:
            raise ValueError(f"Round {begun.round} of {begun.item} was begun twice.")
        if begun.item in last:  # an item has one running round
            last[begun.item].over = begun.answered
        last[begun.item] = rounds[begun.item, begun.round] = PlayedRound(begun)
    for end in _select(events, RoundEnded):
        if end.answered is not None:
            of = rounds[end.item, end.round]
            of.over = min(of.over, end.answered)
    for served in _select(events, ServedAgain):
        rounds[served.item, served.round].served.append(served)
    for audit in _select(events, RoundAudit):
        of = rounds[audit.item, audit.round]
        if audit.called is not None:
            of.audits.append(audit)
        elif of.audited is None or of.audited.at < audit.at:
            of.audited = audit
    return rounds


def _bring_near(
    rounds: Iterable[PlayedRound], purchases: Iterable[Purchase], late: int | None
) -> None:
    """Give each round the purchases that were under way between its begin and its last audit.

    A run has thousands of rounds: to look at every purchase for each would take an hour. A request
    without an answer is under way for `late` ns.
    """
    of_item: dict[str, list[PlayedRound]] = {}
    for round in rounds:
        of_item.setdefault(round.begun.item, []).append(round)
    for purchase in purchases:
        until = max((last_effect(op, late) for op in purchase.ops), default=-1)
        for round in of_item.get(purchase.item, ()):
            over = round.audited.at if round.audited else NEVER
            if until >= round.begun.called and purchase.ops[0].at <= over:
                round.near.append(purchase)


def _purchases(events: list[Event]) -> dict[tuple[str, str], Purchase]:
    responses: dict[int, Response] = {}
    for response in _select(events, Response):
        if response.op in responses:
            raise ValueError(f"Op {response.op} has two responses.")
        responses[response.op] = response
    purchases: dict[tuple[str, str], Purchase] = {}
    called = set[int]()
    for request in sorted(_select(events, Request), key=lambda request: request.at):
        if request.op in called:
            raise ValueError(f"Op {request.op} was called twice.")
        called.add(request.op)
        if request.key is None:  # a look at the shelf
            continue
        name = request.item, request.key
        purchase = purchases.setdefault(name, Purchase(*name))
        purchase.ops.append(Op(request, responses.get(request.op)))
    if unasked := responses.keys() - called:
        raise ValueError(f"Told, and never called: op {min(unasked)}.")
    for entry in _select(events, BookEntry):
        name = entry.item, entry.key
        purchases.setdefault(name, Purchase(*name)).entries.append(entry)
    return purchases
