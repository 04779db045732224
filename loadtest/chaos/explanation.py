"""Explanations of findings: those alike as one cause, and a timeline of one of them.

Findings with the same anomaly, mode and fault have one cause: an engineer reads one of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from loadtest.chaos.fault_classes import NONE, FaultClass
from loadtest.chaos.history import Action, Book, Reply
from loadtest.chaos.judge.anomalies import Anomaly, Detection
from loadtest.chaos.judge.excuses import AFTERMATH, FaultInRound
from loadtest.chaos.judge.judge import JudgedRound, Judgement
from loadtest.chaos.judge.moves import NEVER
from loadtest.chaos.judge.reconstruction import Op, PlayedRound, Purchase, RunHistory
from loadtest.chaos.promises import Durability, Promise, holding, in_sql, promise_for
from loadtest.chaos.promises_page import SENTENCES

MOST, END = 40, 10  # moments of a timeline; of these, from its end: what the books have
SUSPECTS = 3  # purchases that are shown for a finding of a whole round
NEIGHBOURS = 6  # answers that are shown around one that no order explains
ABOUT_STOCK = (Reply.SOLD, Reply.HELD, Reply.SOLD_OUT)


class Moment(NamedTuple):
    """`at`: s of the run; None: chaos read this after the run."""

    at: float | None
    actor: str
    text: str


class LocatedFinding(NamedTuple):
    """A finding at its moment (s of the run); `judged` None: its round never began."""

    at: float
    finding: Detection
    judged: JudgedRound | None
    purchases: list[Purchase]
    fault: FaultInRound | None  # the nearest

    @property
    def mode(self) -> str:
        return self.judged.of.begun.mode if self.judged else "a round that never began"

    @property
    def place(self) -> str:
        key = f", key {self.finding.key}" if self.finding.key else ""
        return f"{self.at:.3f} s: {self.finding.item}, round {self.finding.round}{key}"


@dataclass(frozen=True, slots=True)
class Cause:
    """Findings alike. `cell` is the page's for mode and fault; `moments` are the first finding's.

    `reason`: why the cell excuses them, or does not.
    """

    wrong: Anomaly
    mode: str
    fault: FaultClass
    cell: Promise
    excused: bool
    reason: str
    findings: list[LocatedFinding]
    moments: list[Moment]

    @property
    def count(self) -> int:
        """Return the orders or units."""
        return sum(each.finding.count for each in self.findings)

    @property
    def headline(self) -> str:
        rule = "allows this" if self.excused else "promises 0"
        return f"{self.wrong}: {self.count:,}; the page {rule}"

    @property
    def promise(self) -> str:
        return SENTENCES[self.wrong]


def list_causes(judged: Judgement, findings: Iterable[Detection]) -> list[Cause]:
    """Group findings, which are all `broken` or all `expected`; the earliest come first."""
    rounds = {each.of.name: each for each in judged.rounds}
    located = [_locate(judged, rounds.get((each.item, each.round)), each) for each in findings]
    groups: dict[tuple[Anomaly, str, FaultClass], list[LocatedFinding]] = {}
    for each in sorted(located, key=lambda each: each.at):
        fault = each.fault.of if each.fault else NONE
        groups.setdefault((each.finding.wrong, each.mode, fault), []).append(each)
    return [_cause(judged, *name, group) for name, group in groups.items()]


def _cause(
    judged: Judgement, wrong: Anomaly, mode: str, fault: FaultClass, group: list[LocatedFinding]
) -> Cause:
    first, durability = group[0], Durability(judged.history.run.durability)
    holds = first.judged is not None and first.judged.of.begun.hold is not None
    cell = (holding if holds else promise_for)(mode, fault, durability)
    excused = first.finding in judged.excuses
    where = f'{mode}, "{fault.name}" and durability {durability}'
    reason = f'For {where} the page says "{cell.name}"'
    if excused:
        reason += f": {cell.why}.".replace("*", "").replace("`", "")
    elif fault is NONE:
        reason = "No fault can have met it, so nothing excuses it."
    else:
        limited = ", but only for purchases that the fault can have met; these wanted less"
        reason += f"{limited if wrong in cell.may else ', which does not excuse this'}."
    moments = _moments(judged.history, first)
    if len(moments) > MOST:
        gap = Moment(moments[MOST - END].at, "", f"({len(moments) - MOST} more moments)")
        moments = [*moments[: MOST - END], gap, *moments[-END:]]
    return Cause(wrong, mode, fault, cell, excused, reason, group, moments)


def _locate(judged: Judgement, of: JudgedRound | None, finding: Detection) -> LocatedFinding:
    history, ops = judged.history, set(finding.ops)
    purchases = [each for each in (of.of.near if of else ()) if ops & {*each.numbers}]
    if keyed := history.purchases.get((finding.item, finding.key)):
        purchases, ops = [keyed], {*keyed.numbers}
    shown = [op for each in purchases for op in each.ops if op.number in ops]
    at = first = min([op.at for op in shown], default=of.of.begun.called if of else history.begin)
    last = max([op.response.at if op.response else op.at for op in shown], default=first)
    if of and not shown:  # it was found when the round was over
        at = last = of.of.audited.at if of.of.audited else first
        purchases = purchases or _suspects(of.of, finding.wrong)

    def distance(fault: FaultInRound) -> int:
        return max(0, fault.event.since - last, first - fault.event.until)

    excuses = judged.excuses.get(finding) or (of.excuses if of else ())
    faults = [excuse.fault for excuse in excuses if excuse.fault]
    if finding not in judged.excuses:
        faults = [fault for fault in faults if distance(fault) <= AFTERMATH]
    elif len(faults) < len(excuses):
        faults = []  # an exhibit needs none
    faults.sort(key=lambda each: (finding.wrong not in each.may, distance(each)))
    hit = [fault for fault in faults if not ops.isdisjoint(fault.event.hit)]
    fault = next(iter(hit or faults), None)
    return LocatedFinding(history.seconds(at), finding, of, purchases, fault)


def _suspects(of: PlayedRound, wrong: Anomaly) -> list[Purchase]:
    """Return purchases that may have caused a finding of a whole round."""
    if wrong is Anomaly.OVERSOLD:
        sold = [each for each in of.purchases if each.sold]
        return sorted(sold, key=lambda each: [op.until for op in each.ops])[-SUSPECTS:]
    if wrong not in (Anomaly.STRANDED, Anomaly.SURPLUS, Anomaly.HELD_ON):
        return []
    unbooked = [
        each
        for each in of.near
        if not each.entries and any(op.round == of.begun.round for op in each.makers)
    ]
    return sorted(unbooked, key=lambda each: not each.sold)[:SUSPECTS]


def _moments(history: RunHistory, located: LocatedFinding) -> list[Moment]:
    finding, judged = located.finding, located.judged
    ops = [op for purchase in located.purchases for op in purchase.ops]
    numbers = {op.number for op in ops}
    moments: list[Moment] = []
    if judged:
        if finding.wrong is Anomaly.IMPOSSIBLE:
            ops += _neighbours(judged.of, ops)
        moments += _of_round(history, judged.of)
        faults = [excuse.fault for excuse in judged.excuses if excuse.fault]
        moments += [_of_fault(history, fault, numbers) for fault in faults]
    for op in ops:
        moments += _of_op(history, op, keyed=op.number in numbers and not finding.key)
    moments.sort(key=lambda moment: moment.at or 0.0)
    for purchase in located.purchases:
        moments += _of_books(located, purchase)
    return moments


def _neighbours(of: PlayedRound, stuck: list[Op]) -> list[Op]:
    """Return the answers about the stock that are nearest to those that no order explains."""
    middle = min((op.until for op in stuck), default=of.over)
    buys = [op for purchase in of.near for op in purchase.did(Action.BUY) if op not in stuck]
    answers = [op for op in buys if op.answer in ABOUT_STOCK and op.round == of.begun.round]
    return sorted(answers, key=lambda op: abs(op.until - middle))[:NEIGHBOURS]


def _of_round(history: RunHistory, of: PlayedRound) -> Iterator[Moment]:
    begun, audit, number, at = of.begun, of.audited, of.begun.round, history.seconds
    terms = [begun.mode, _count(begun.stock)]
    terms += [f"holds of {begun.hold / 1_000:g} s"] if begun.hold else []
    terms += [f"at most {begun.limit} for a buyer"] if begun.limit else []
    yield Moment(at(begun.answered), "operator", f"starts round {number}: {', '.join(terms)}")
    if of.over < NEVER:
        yield Moment(at(of.over), "operator", f"has ended round {number}")
    for served in of.served:
        if served.seconds is None:
            text = f"serves no new buyer after all repairs: {served.evidence}"
            yield Moment(at(served.at), "shop", text)
    if audit is None:
        return
    verdict = f"{audit.verdict}: " if audit.verdict else ""
    figures = f"{_count(audit.left)} left, {audit.held} held and {audit.sold} sold of {audit.stock}"
    yield Moment(at(audit.at), "audit", f"reports {verdict}{figures}")
    keeper = "database" if in_sql(begun.mode) else "store"
    if audit.found_left is not None:
        text = f"has {_count(audit.found_left)} left and {audit.found_held} held"
        yield Moment(at(audit.at), keeper, text)
    if audit.marked:
        yield Moment(at(audit.at), "store", "has the mark of a loss")


def _of_fault(history: RunHistory, fault: FaultInRound, numbers: set[int]) -> Moment:
    event = fault.event
    detail = f" ({event.detail})" if event.detail else ""
    hit = "" if numbers.isdisjoint(event.hit) else "; it hit this purchase"
    text = f"{fault.of.name}: {event.kind} {event.where}{detail}"
    until = f", until {history.seconds(event.until):.3f} s"
    return Moment(history.seconds(event.since), "chaos", f"{text}{until}{hit}")


def _of_op(history: RunHistory, op: Op, keyed: bool) -> Iterator[Moment]:
    called, response = op.called, op.response
    text = f"asks to {op.deed}{f' {_count(called.units)}' if called.units else ''}"
    text += f", key {called.key}" if keyed else ""
    silent = "" if response else ", and gets no answer"
    yield Moment(history.seconds(op.at), called.buyer, text + silent)
    if response is None:
        return
    status = f" ({response.evidence})" if response.evidence else ""
    words = [f"answers {called.buyer}: {response.answer}{status}"]
    words += [f"order {response.order}"] if response.order else []
    words += [f"{_count(response.left)} left"] if response.left is not None else []
    words.append(f"after {(response.at - op.at) / 1_000_000:.0f} ms")
    yield Moment(history.seconds(response.at), "shop", ", ".join(words))


def _of_books(located: LocatedFinding, purchase: Purchase) -> Iterator[Moment]:
    key = "this key" if located.finding.key else f"key {purchase.key}"
    for book, name in ((Book.DATABASE, "order"), (Book.STORE, "sale")):
        entries = [entry for entry in purchase.entries if entry.where is book]
        for entry in entries:
            text = f"has {name} {entry.id} for {key}: {_count(entry.units)}, round {entry.round}"
            yield Moment(None, book, f"{text}, buyer {entry.buyer or 'unknown'}")
        # fulfil removes a sale from the store, once it is an order.
        if not entries and not (book is Book.STORE and (in_sql(located.mode) or purchase.booked)):
            yield Moment(None, book, f"has no {name} for {key}")


def _count(units: int) -> str:
    return f"{units} unit" if units == 1 else f"{units} units"
