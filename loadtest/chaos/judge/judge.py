"""The verdict on a run: was anything lost that was promised?"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from loadtest.chaos.fault_classes import FaultClass
from loadtest.chaos.history import Action, BookEntry, Event, Reply
from loadtest.chaos.judge.anomalies import Anomaly, Detection
from loadtest.chaos.judge.counts import HARMLESS, detect_count_anomalies
from loadtest.chaos.judge.excuses import (
    AFTERMATH,
    Excuse,
    FaultInRound,
    forgets,
    list_excuses,
    list_faults,
)
from loadtest.chaos.judge.linearize import BUDGET, linearize
from loadtest.chaos.judge.reconstruction import PlayedRound, Purchase, RunHistory, reconstruct_run
from loadtest.chaos.judge.stock import build_moves, count_missing_units, units_by_id
from loadtest.chaos.promises import says_what_is_left

EXACT = ("exact", "untouched")  # words of the audit
ENOUGH = 0.8  # of the planned acts: with fewer, the run proves nothing
UNITS = {Anomaly.OVERSOLD, Anomaly.STRANDED, Anomaly.SURPLUS, Anomaly.UNBOOKED}


def check_audit(
    of: PlayedRound, detections: list[Detection], excused: bool, forgets: bool
) -> Iterator[Detection]:
    """Compare a round's audit with the judge's own `detections`.

    `excused`: a fault in the round explains an anomaly. Then the audit may have seen one that the
    judge cannot see, and only its figures are compared. `forgets`: a fault before it can have made
    the store lose writes.
    """
    audit = of.audited
    if audit is None or not audit.settled:
        return
    sold = sum(units_by_id(of, of.purchases).values())
    figures = [("sold", audit.sold, sold, "the books")]
    if audit.found_left is not None:
        figures.append(("left", audit.left, audit.found_left, "the stock"))
    if audit.found_held is not None:
        figures.append(("held", audit.held, audit.found_held, "the holds"))
    for what, its, ours, where in figures:
        if its != ours:
            sentence = f"Units {what}: the audit says {its}, {where} {ours}."
            yield Detection(Anomaly.MISJUDGED, *of.name, abs(its - ours), sentence)
            return
    if _contradicts(of, detections, excused, sold):
        sentence = f"The audit says {audit.verdict}, and the figures contradict that."
        yield Detection(Anomaly.MISJUDGED, *of.name, 1, sentence)
    elif audit.marked and not forgets:
        sentence = "The store is marked as having lost data, and no fault before made it lose any."
        yield Detection(Anomaly.ALARM, *of.name, 1, sentence)
    elif _alarms(audit.verdict) and not detections and not excused and not audit.marked:
        sentence = f"The audit says {audit.verdict}, and no fault in the round explains that."
        yield Detection(Anomaly.ALARM, *of.name, 1, sentence)


def check_running_audits(
    of: PlayedRound, faults: list[FaultInRound], excused: bool
) -> Iterator[Detection]:
    """Check the audits while buyers bought: the units sold and, if nothing is broken, the verdict.

    Call it where the store has lost no writes. (What is left is a move of stock.py.)
    """
    for audit in of.audits:
        called = audit.called or 0
        sure = [
            each for each in of.purchases if any(op.until < called for op in each.told(Reply.SOLD))
        ]
        asked = [each for each in of.purchases if each.ops and each.ops[0].at < audit.at]
        low, high = (sum(units_by_id(of, each).values()) for each in (sure, asked))
        disturbed = any(
            fault.of not in HARMLESS
            and fault.event.since <= audit.at
            and fault.event.until + AFTERMATH >= called
            for fault in faults
        )
        if not low <= audit.sold <= high:
            sentence = f"An audit found {audit.sold} sold; the buyers' answers say {low} to {high}."
            yield Detection(Anomaly.MISJUDGED, *of.name, 1, sentence)
        elif audit.settled and _alarms(audit.verdict) and not (excused or disturbed):
            sentence = f"While buyers bought, an audit said {audit.verdict}; nothing was broken."
            yield Detection(Anomaly.ALARM, *of.name, 1, sentence)


def _alarms(verdict: str) -> bool:
    return verdict.lower() not in ("", *EXACT)


def _contradicts(of: PlayedRound, detections: list[Detection], excused: bool, sold: int) -> bool:
    """Return whether the audit's verdict contradicts the figures."""
    audit = of.audited
    word = audit.verdict.lower() if audit else ""
    if word in EXACT:
        return any(detection.wrong in UNITS for detection in detections)
    if audit is None or audit.found_left is None or audit.found_held is None:
        return False
    if word == "oversold":
        return sold + of.held <= of.begun.stock
    if word == "undersold":
        return count_missing_units(of) <= 0
    # It may, because of facts that are not counted here: the store's losses, contradicting sales.
    sound = not detections and not count_missing_units(of) and not excused and not audit.marked
    return word == "inconsistent" and sound


def detect_strangers(history: RunHistory) -> Iterator[Detection]:
    """Return orders that are booked for another buyer than the one whose cookie pressed.

    No record says which cookie has which name in the books. It is taken to be the name under which
    most of the cookie's orders are, if only one cookie has it.
    """
    entries = defaultdict[tuple[str, str], list[tuple[Purchase, BookEntry]]](list)
    for purchase in history.purchases.values():
        if cookie := _cookie(purchase):
            for entry in purchase.entries:
                entries[cookie, entry.buyer].append((purchase, entry))
    counts = Counter({pair: len(its) for pair, its in entries.items()})
    owners, names = set[str](), {""}  # "" is no buyer's name
    for (cookie, name), _ in counts.most_common():
        if cookie not in owners and name not in names:
            owners.add(cookie)
            names.add(name)
            continue
        for purchase, entry in entries[cookie, name]:
            yield Detection(
                Anomaly.STRANGER,
                *(entry.item, entry.round, 1),
                f"{purchase.buyer} pressed Buy, and the order belongs to another buyer.",
                *(purchase.key, purchase.numbers),
            )


def _cookie(purchase: Purchase) -> str:
    """Return the cookie with which all of its presses were sent; "" when they differ."""
    sent = {op.called.cookie for op in purchase.did(Action.BUY)}
    return sent.pop() if len(sent) == 1 else ""


class Verdict(StrEnum):
    AS_PROMISED = "as promised"
    BROKEN = "broken promise"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True, slots=True)
class JudgedRound:
    """One round. `linearizable` None: out of budget. `unsure`: why there is no verdict, or "".

    `excuses` are those of the faults in it.
    """

    of: PlayedRound
    linearizable: bool | None
    looked_at: int  # configurations
    faults: tuple[FaultClass, ...]  # that can have reached it
    excuses: tuple[Excuse, ...]
    detections: tuple[Detection, ...]
    unsure: str = ""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The judgement of a run. `broken` are anomalies that contradict a promise.

    The other anomalies were to be expected: `excuses` has the reasons for each.
    """

    history: RunHistory
    rounds: tuple[JudgedRound, ...]
    broken: tuple[Detection, ...]
    expected: tuple[Detection, ...]
    excuses: dict[Detection, list[Excuse]]

    @property
    def verdict(self) -> Verdict:
        if self.broken:
            return Verdict.BROKEN
        if not self.rounds or any(judged.unsure for judged in self.rounds) or self.cut_short:
            return Verdict.INCONCLUSIVE
        return Verdict.AS_PROMISED

    @property
    def cut_short(self) -> bool:
        """Return whether too little of the plan was played for a verdict."""
        return self.history.played < ENOUGH * self.history.run.planned

    @property
    def status(self) -> int:
        """The command's exit status."""
        return 0 if self.verdict is Verdict.AS_PROMISED else 1

    @property
    def linearizable(self) -> bool | None:
        """Combine all rounds: False if any is not; else None if any is unknown."""
        answers = {judged.linearizable for judged in self.rounds}
        return False if False in answers else None if None in answers or not answers else True

    @property
    def sales(self) -> int:
        """Orders that were booked."""
        return sum(len(units_by_id(judged.of, judged.of.purchases)) for judged in self.rounds)

    @property
    def counts(self) -> Counter[Anomaly]:
        detections = Counter[Anomaly]()
        for detection in (*self.broken, *self.expected):
            detections[detection.wrong] += detection.count
        return detections


def judge(events: Iterable[Event], budget: int = BUDGET) -> Judgement:
    """Judge a history; `budget` is each round's. Raises ValueError for no history of one run."""
    history = reconstruct_run(events)
    rounds = tuple(_judge_round(history, of, budget) for of in history.rounds.values())
    excuses = {judged.of.name: judged.excuses for judged in rounds}
    broken: list[Detection] = []
    expected: list[Detection] = []
    reasons: dict[Detection, list[Excuse]] = {}
    for finding in (
        *(detection for each in rounds for detection in each.detections),
        *detect_strangers(history),
    ):
        # A key that is in two rounds by mistake: the fault may have hit either of them.
        purchase = history.purchases.get((finding.item, finding.key))
        numbers = purchase.rounds if purchase else {finding.round}
        buyer = purchase.buyer if purchase else ""
        covering = [
            excuse
            for number in {finding.round, *numbers}
            for excuse in excuses.get((finding.item, number), ())
            if excuse.covers(finding, buyer) and not _repaired_wrongly(history, finding)
        ]
        if covering:
            reasons[finding] = covering
        (expected if covering else broken).append(finding)
    broken += _detect_orphans(history)
    return Judgement(history, rounds, tuple(broken), tuple(expected), reasons)


def _repaired_wrongly(history: RunHistory, finding: Detection) -> bool:
    """Return whether a repair has put units on sale twice, so that no fault excuses it.

    A repair leaves what is neither sold nor held; there is no such unit if too much is sold.
    """
    of = history.rounds.get((finding.item, finding.round))
    if of is None or of.audited is None or finding.wrong is not Anomaly.SURPLUS:
        return False
    sold = sum(units_by_id(of, of.purchases).values())
    return of.audited.mended and sold + of.held <= of.begun.stock


def _judge_round(history: RunHistory, of: PlayedRound, budget: int) -> JudgedRound:
    detections = detect_count_anomalies(of, history.faults)
    faults = list_faults(history, of)
    excuses = list_excuses(history, of, faults)
    may = {loss for excuse in excuses for loss in excuse.may}
    holds = of.begun.hold is not None
    moves = build_moves(of, history, says_what_is_left(of.begun.mode, holds))
    searched = linearize(moves, of.begun.stock, budget)
    if searched.linearizable is False:
        ops = moves[searched.stuck].ops
        sentence = "No order of the answers makes all of them true; every order stops here."
        if not ops:
            sentence = "No order of the answers fits the units that an audit found left."
        detections.append(Detection(Anomaly.IMPOSSIBLE, *of.name, 1, sentence, ops=ops))
    excused = any(excuse.harms for excuse in excuses)
    lossy = forgets(history, of)
    detections += [*check_audit(of, detections, excused, lossy)]
    detections += check_running_audits(of, faults, excused) if not lossy else ()
    unsure = ""
    if searched.linearizable is None and Anomaly.IMPOSSIBLE not in may:
        unsure = f"not decided in {searched.looked_at:,} steps"
    elif not of.settled and of.audited:
        unsure = "its last audit was not settled"
    elif not of.audited and of.purchases and Anomaly.LOST not in may:
        unsure = "it was never audited"  # (one that a failover forgot has sold nothing)
    return JudgedRound(
        of,
        searched.linearizable,
        searched.looked_at,
        tuple(dict.fromkeys(fault.of for fault in faults)),
        tuple(excuses),
        tuple(detections),
        unsure,
    )


def _detect_orphans(history: RunHistory) -> list[Detection]:
    """Return purchases of a round that was never begun: no fault invents one."""
    return [
        Detection(Anomaly.DENIED, item, number, 1, "This round never began.", key, purchase.numbers)
        for (item, key), purchase in history.purchases.items()
        for number in sorted(purchase.rounds)
        if (item, number) not in history.rounds
    ]
