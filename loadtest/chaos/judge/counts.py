"""Counts per key and unit: the buyers' answers compared with store and database."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from loadtest.chaos.fault_classes import CLOCK, FRONT, REPLICA, SWITCH, classify
from loadtest.chaos.history import Action, Book, InjectedFault, Reply
from loadtest.chaos.judge.anomalies import Anomaly, Detection
from loadtest.chaos.judge.moves import NEVER
from loadtest.chaos.judge.reconstruction import TAKEN, Op, PlayedRound, Purchase
from loadtest.chaos.judge.stock import EARLY, MS, count_missing_units, units_by_id

SWEPT = 30_000 * MS  # within which units are back after all repairs; a sweep takes half a second
BACK = 1_000 * MS  # within which an ended hold no longer counts for its buyer, if nothing is broken
HARMLESS = (FRONT, REPLICA, CLOCK, SWITCH)  # they delay no hold's end
GONE = (Reply.EXPIRED, Reply.GIVEN_BACK)


def detect_count_anomalies(of: PlayedRound, faults: Sequence[InjectedFault]) -> list[Detection]:
    """Return all anomalies of a round, except those of the order of answers.

    `faults` are the whole run's.
    """
    detections = [*_units(of), *_limited(of, faults)]
    for purchase in of.purchases:
        for wrong, count, sentence, ops in _purchase(of, purchase):
            numbers = tuple(op.number for op in ops)
            detections.append(Detection(wrong, *of.name, count, sentence, purchase.key, numbers))
    return detections


def _units(of: PlayedRound) -> Iterator[Detection]:
    sold = sum(units_by_id(of, of.purchases).values())
    stock = of.begun.stock
    if sold > stock:
        sentence = f"Booked units: {sold}, stocked units: {stock}."
        yield Detection(Anomaly.OVERSOLD, *of.name, sold - stock, sentence)
    if of.audited and of.settled and (missing := count_missing_units(of)):
        sums = f"{of.left} left, {of.held} held and {sold} sold of {stock}"
        kind = Anomaly.STRANDED if missing > 0 else Anomaly.SURPLUS
        words = "Missing units" if missing > 0 else "Units that exist twice"
        sentence = f"{words}: {abs(missing)} ({sums})."
        yield Detection(kind, *of.name, abs(missing), sentence)
    for served in of.served:
        if served.seconds is None:
            sentence = f"All was repaired, and a buyer was not served: {served.evidence}."
            yield Detection(Anomaly.STUCK, *of.name, 1, sentence)
    last = of.over + (of.begun.hold or 0) * MS  # deadline
    if of.audited and of.settled and of.held and of.audited.at > last + SWEPT:
        sentence = f"Units held long after the last deadline: {of.held}."
        yield Detection(Anomaly.HELD_ON, *of.name, of.held, sentence)
    if of.begun.limit is None:
        return
    bought: dict[str, list[Purchase]] = defaultdict(list)
    for purchase in of.purchases:
        if purchase.sold:
            bought[purchase.buyer].append(purchase)
    for buyer, purchases in bought.items():
        units = sum(purchase.units for purchase in purchases)
        if units > of.begun.limit:
            sentence = f"Units of {buyer}: {units}; the limit is {of.begun.limit}."
            ops = tuple(number for purchase in purchases for number in purchase.numbers)
            over = units - of.begun.limit
            yield Detection(Anomaly.OVER_LIMIT, *of.name, over, sentence, "", ops)


def _limited(of: PlayedRound, faults: Sequence[InjectedFault]) -> Iterator[Detection]:
    """Check that each buyer with an answer LIMIT may have been over the limit with these units.

    A hold that has ended does not count any more. It may take BACK until its units are back, and
    longer while something is broken that can delay this.
    """
    if of.begun.limit is None:
        return
    number = of.begun.round
    bought: dict[str, list[Purchase]] = defaultdict(list)
    for purchase in of.near:
        if number in purchase.rounds if purchase.taken else purchase.told(Reply.UNKNOWN):
            bought[purchase.buyer].append(purchase)
    for purchase in of.near:
        for op in purchase.told(Reply.LIMIT):
            others = [
                other
                for other in bought[purchase.buyer]
                if other.ops[0].at <= op.until and not _is_back(of, other, op.at, faults)
            ]
            units = sum(other.units for other in others if other is not purchase)
            if op.round == number and units + purchase.units <= of.begun.limit:
                sentence = f"The buyer got LIMIT with at most {units} of {of.begun.limit} units."
                yield Detection(Anomaly.LIMITED, *of.name, 1, sentence, purchase.key, (op.number,))


def _is_back(of: PlayedRound, purchase: Purchase, at: int, faults: Sequence[InjectedFault]) -> bool:
    """Return whether a hold had ended, and its units were surely back, at that moment."""
    if of.begun.hold is None or purchase.sold:
        return False
    presses = [op for op in purchase.did(Action.BUY) if op.answer in (*TAKEN, Reply.UNKNOWN)]
    last = max((op.until for op in presses), default=NEVER)
    ended = min([last + of.begun.hold * MS, *(op.until for op in purchase.told(*GONE))])
    disturbed = any(
        fault.since <= at
        and fault.until >= ended - BACK
        and classify(fault.kind, fault.where) not in HARMLESS
        for fault in faults
    )
    return ended + BACK < at and not disturbed


Details = tuple[Anomaly, int, str, list[Op]]


def _purchase(of: PlayedRound, purchase: Purchase) -> Iterator[Details]:
    sold, gone = purchase.told(Reply.SOLD), purchase.told(*GONE)
    if sold and not purchase.entries:
        yield Anomaly.LOST, 1, "The buyer got SOLD, and no book has the order.", sold
    elif sold and not purchase.booked:
        yield Anomaly.UNBOOKED, 1, "The store has the sale, and the database has no order.", sold
    if len(purchase.orders) > 1:
        ids = ", ".join(sorted(purchase.orders))
        yield (
            Anomaly.TWICE,
            len(purchase.orders) - 1,
            f"One key, several orders: {ids}.",
            purchase.ops,
        )
    rows = [entry.id for entry in purchase.entries if entry.where is Book.DATABASE]
    if len(rows) > len(set(rows)):
        yield Anomaly.TWICE, len(rows) - len(set(rows)), "An id is booked twice.", purchase.ops
    if purchase.sold and gone:
        sentence = f"The hold is paid, and its buyer got {gone[0].answer}."
        yield Anomaly.RETURNED, 1, sentence, [*sold, *gone]
    yield from _denied(of, purchase)
    if of.begun.hold is not None:
        yield from _held(of.begun.hold * MS, purchase)
    yield from _forgotten(purchase)
    presses = [op for op in purchase.did(Action.BUY) if op.answer in (*TAKEN, Reply.UNKNOWN)]
    if presses and purchase.taken and all(op.at > of.over for op in presses):
        yield Anomaly.AFTER_END, 1, "The first request came after the round's end.", presses


def _denied(of: PlayedRound, purchase: Purchase) -> Iterator[Details]:
    if not purchase.entries:
        return
    yes = (Reply.SOLD, Reply.UNKNOWN)
    if not any(op.answer in (*yes, *TAKEN) for op in purchase.did(Action.BUY)):
        yield Anomaly.DENIED, 1, "It is booked, and each press was refused.", purchase.ops
    elif of.begun.hold is not None and not any(op.answer in yes for op in purchase.did(Action.PAY)):
        yield Anomaly.DENIED, 1, "It is booked, and no buyer paid for it.", purchase.ops


def _held(hold: int, purchase: Purchase) -> Iterator[Details]:
    """Check deadlines; a hold's begin is only known to be between a call and its answer."""
    presses = [op for op in purchase.did(Action.BUY) if op.answer in (*TAKEN, Reply.UNKNOWN)]
    if not presses:
        return
    earliest = presses[0].at + hold - EARLY
    early = [op for op in purchase.told(Reply.EXPIRED) if op.until < earliest]
    if early:
        yield (Anomaly.EARLY, 1, "The hold expired before its deadline.", [presses[0], *early])
    taken = min([op.until for op in purchase.told(*TAKEN)], default=NEVER)
    paid = [op for op in purchase.did(Action.PAY) if op.answer in (Reply.SOLD, Reply.UNKNOWN)]
    accepted = [op for op in paid if op.answer is Reply.SOLD]
    if accepted and paid[0].at > taken + hold + EARLY:
        yield Anomaly.LATE, 1, "A payment after the hold's deadline was accepted.", accepted


def _forgotten(purchase: Purchase) -> Iterator[Details]:
    """Check that no hold exists after its end, and that a key that has bought always says so."""
    bought = min([op.until for op in purchase.told(Reply.SOLD)], default=NEVER)
    refused = [
        op for op in purchase.did(Action.BUY) if op.answer is Reply.REFUSED and op.at > bought
    ]
    if refused:
        yield (
            Anomaly.FORGOTTEN,
            1,
            "The buyer got SOLD, and then its key was refused.",
            refused,
        )
    ends = purchase.told(Reply.SOLD, *GONE)
    first = min([op.until for op in ends], default=NEVER)
    after = [op for op in purchase.told(Reply.HELD) if op.at > first]
    if after:
        yield Anomaly.FORGOTTEN, 1, "The answer was HELD after the hold had ended.", after
