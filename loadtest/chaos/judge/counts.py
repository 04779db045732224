"""Counts per key and unit: the buyers' answers compared with store and database."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from loadtest.chaos.fault_classes import CLOCK, FRONT, REPLICA, SWITCH, classify
from loadtest.chaos.history import Action, Book, InjectedFault, Reply
from loadtest.chaos.judge.anomalies import Anomaly, Detection
from loadtest.chaos.judge.moves import NEVER
from loadtest.chaos.judge.reconstruction import TAKEN, Op, PlayedRound, Purchase
from loadtest.chaos.judge.stock import EARLY, MS, cancelled, count_missing_units, units_by_id

SWEPT = 30_000 * MS  # within which units are back after all repairs; a sweep takes half a second
BACK = 1_000 * MS  # within which an ended hold no longer counts for its buyer, if nothing is broken
RECOVERED = 3_000 * MS  # after a fault, until ends of holds take no longer than that again
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
    bought: dict[str, list[tuple[int, int, Purchase]]] = defaultdict(list)
    for purchase in of.purchases:
        bought[purchase.buyer].append((*_surely_has(of, purchase), purchase))
    for buyer, spans in bought.items():
        at_once = [
            [purchase for since, until, purchase in spans if since <= moment < until]
            for moment, _, _ in spans
        ]
        purchases = max(at_once, key=_units_of)
        if (units := _units_of(purchases)) > of.begun.limit:
            sentence = f"{buyer} has {units} units at once, and may have {of.begun.limit}."
            ops = tuple(number for purchase in purchases for number in purchase.numbers)
            over = units - of.begun.limit
            yield Detection(Anomaly.OVER_LIMIT, *of.name, over, sentence, "", ops)


def _units_of(purchases: Iterable[Purchase]) -> int:
    return sum(purchase.units for purchase in purchases)


def _surely_has(of: PlayedRound, purchase: Purchase) -> tuple[int, int]:
    """Return from when until when the buyer has the units for certain; from NEVER: at no moment."""
    since = min([op.until for op in purchase.told(Reply.SOLD, Reply.HELD)], default=NEVER)
    if purchase.sold:
        return min(since, NEVER - 1), NEVER
    runs_out = min([op.at for op in purchase.makers], default=0) + (of.begun.hold or 0) * MS - EARLY
    return since, min(cancelled(purchase), runs_out)


def _limited(of: PlayedRound, faults: Sequence[InjectedFault]) -> Iterator[Detection]:
    """Check that each buyer with an answer LIMIT may have been over the limit with these units.

    A hold that has ended does not count any more: after BACK, or as soon as an audit found no hold.
    A fault that begins before then can delay this, until RECOVERED after its end.
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
    # The answer that first knows of the hold came after its begin.
    taken = min([op.until for op in purchase.told(*TAKEN)], default=NEVER)
    if any(
        taken < (audit.called or 0) and audit.at < at and audit.found_held == 0
        for audit in of.audits
    ):
        return True
    ended = min([taken + of.begun.hold * MS, *(op.until for op in purchase.told(*GONE))])
    back = ended + BACK
    for fault in faults:  # the earliest first
        delays = classify(fault.kind, fault.where) not in HARMLESS
        if delays and fault.since <= back and fault.until >= ended - BACK:
            back = max(back, fault.until + RECOVERED)
    return back < at


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
    yield from _mistold(of, purchase)
    yield from _before_opening(of, purchase)
    presses = purchase.makers
    if presses and purchase.taken and all(op.at > of.over for op in presses):
        yield Anomaly.AFTER_END, 1, "The first request came after the round's end.", presses


def _before_opening(of: PlayedRound, purchase: Purchase) -> Iterator[Details]:
    opens = of.begun.called + of.begun.delay * MS - EARLY
    early = [op for op in purchase.told(*TAKEN) if op.round == of.begun.round and op.until < opens]
    if of.begun.delay and early:
        yield Anomaly.UNOPENED, 1, "It was bought before the round opened.", early


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
    presses = purchase.makers
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


def _mistold(of: PlayedRound, purchase: Purchase) -> Iterator[Details]:
    """Check each price and deadline that the buyer was told."""
    price = of.begun.price
    its = [op for op in purchase.ops if op.round == of.begun.round]
    answers = [(op, op.response) for op in its if op.response]
    if price is not None:
        total = price * purchase.units
        wrong = [op for op, told in answers if told.cents not in (None, total)]
        if wrong or any(entry.price not in (None, price) for entry in purchase.entries):
            yield Anomaly.MISTOLD, 1, f"Its price is {total} cents, and another was told.", wrong
    hold = (of.begun.hold or 0) * MS
    earliest = min([op.at for op in purchase.makers], default=-NEVER) + hold - EARLY
    for order in sorted(purchase.orders):
        held = [(op, told) for op, told in answers if told.order == order and told.pay_in]
        if len({told.pay_until for _, told in held}) > 1:
            yield Anomaly.MISTOLD, 1, "Its deadline has changed.", [op for op, _ in held]
        latest = min([op.until for op, _ in held], default=NEVER) + hold + EARLY
        for op, told in held:
            left = (told.pay_in or 0) * MS
            if op.until + left < earliest or op.at + left > latest:
                yield Anomaly.MISTOLD, 1, "Its deadline is not that of its round.", [op]


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
