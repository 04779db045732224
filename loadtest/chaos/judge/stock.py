"""One round's answers as moves of its free units: the stock as a register.

A purchase takes its units at one moment, and gives them back at one, or never:

- the *take* after the first press that may have made it, before the first answer that knows of it
  (SOLD, HELD, EXPIRED, GIVEN_BACK, to any request) and before the round's end. An EXPIRED hold was
  made at least a hold's time before. A press answered with `left` made it, and saw the stock.
- the *give* of a hold that was declined, cancelled or has run out: at any time after that press, or
  after the deadline, counted from the earliest moment of the take. The end of a hold is one step,
  and putting its units back another, which another process may have to do. No moment is promised
  for it, only that it is done in the end.
- SOLD_OUT looks at the stock, before its own key's take, if there is any.
- A request with an unknown outcome that no answer and no book knows of may have held units, and
  given them back. Without holds it may have taken them and lost them, if units are missing.
- BUSY, LIMIT, REFUSED and the shelf say nothing about the stock.
- An audit while buyers buy looks at the stock.
- In the end `left` units are free, if the round's last audit is settled.

Payments move no free units. Where the books contradict the buyers, counts.py counts it. Here any
possible cause of it may have happened, so that one fault is reported once.
"""

from __future__ import annotations

from loadtest.chaos.history import Action, Reply
from loadtest.chaos.judge.moves import NEVER, Move
from loadtest.chaos.judge.reconstruction import (
    TAKEN,
    Op,
    PlayedRound,
    Purchase,
    RunHistory,
    last_effect,
)

MS = 1_000_000  # ns
# The store's clock counts whole ms, and may be corrected as it runs (NTP slews 0.5 ms a second).
EARLY = 100 * MS


def build_moves(of: PlayedRound, history: RunHistory, exact: bool) -> list[Move]:
    """Return a round's moves; `exact`: SOLD_OUT and `left` are about the stock at that moment."""
    moves: list[Move] = []
    looks = _looks(of) if exact else {}
    for purchase in of.purchases:
        _purchase(moves, of, history, purchase, looks.pop(purchase.key, []), exact)
    for purchase in of.near:
        _unknown(moves, of, history, purchase, looks.get(purchase.key, []))
    for audit in of.audits if exact else ():
        moves.append(Move(0, audit.called or 0, audit.at, audit.left, audit.left))
    if of.audited and of.settled:
        at = of.audited.at
        moves.append(Move(0, at, at, of.left, of.left))
    return moves


def _looks(of: PlayedRound) -> dict[str, list[Op]]:
    """Return the SOLD_OUT answers of this round, by key."""
    looks = {}
    for purchase in of.near:
        ops = [op for op in purchase.told(Reply.SOLD_OUT) if op.round == of.begun.round]
        if ops:
            looks[purchase.key] = ops
    return looks


def _look(of: PlayedRound, op: Op) -> Move:
    limit = op.called.units - 1
    low, high = (0, limit) if op.left is None else (op.left, min(op.left, limit))
    return Move(0, max(op.at, of.begun.called), op.until, low, high, ops=(op.number,))


def _looked(moves: list[Move], of: PlayedRound, looks: list[Op], since: int) -> tuple[int, int]:
    """Add a key's looks; its take begins no earlier than they, and comes after the last one.

    Return the earliest moment of the take, and the index of that last look; -1: none.
    """
    after = -1
    for op in looks:
        since = max(since, op.at)
        moves.append(_look(of, op))
        if op.until >= since:
            after = len(moves) - 1
    return since, after


def _purchase(
    moves: list[Move],
    of: PlayedRound,
    history: RunHistory,
    purchase: Purchase,
    looks: list[Op],
    exact: bool,
) -> None:
    since, until = _window(of, history, purchase)
    low, high = 0, NEVER
    saw = [op for op in _of_round(of, purchase, purchase.makers) if op.left is not None]
    if exact and len(saw) == 1 and saw[0].left is not None:
        since, until = max(since, saw[0].at), min(until, saw[0].until)
        low = high = saw[0].left
    since, after = _looked(moves, of, looks, since)
    place = len(moves)
    units, numbers = purchase.units, purchase.numbers
    moves.append(Move(-units, since, until, low, high, after, ops=numbers))
    for booked in sorted(units_by_id(of, [purchase]).items())[1:]:  # counts.py reports these
        moves.append(Move(-booked[1], since, _end(of), ops=numbers))
    if of.begun.hold is None:
        return
    if not purchase.sold or purchase.told(Reply.GIVEN_BACK, Reply.EXPIRED):
        moves.append(_give(of, purchase, units, since, place))


def _give(of: PlayedRound, purchase: Purchase, units: int, since: int, after: int) -> Move:
    """Return the give of units that were taken at `since` at the earliest."""
    runs_out = since + (of.begun.hold or 0) * MS - EARLY
    starts = max(since, min(cancelled(purchase), runs_out))
    return Move(units, starts, after=after, due=False, ops=purchase.numbers)


def _window(of: PlayedRound, history: RunHistory, purchase: Purchase) -> tuple[int, int]:
    """Return the moments between which the units can have been taken."""
    makers = purchase.makers
    since = max(min([op.at for op in makers], default=NEVER), of.begun.called)
    until = of.over
    told = _of_round(of, purchase, purchase.told(*TAKEN))
    for op in told:
        early = of.begun.hold * MS - EARLY if of.begun.hold and op.answer is Reply.EXPIRED else 0
        until = min(until, op.until - max(0, early))
    if not told:
        until = min(
            until,
            _end(of),
            max([last_effect(op, history.run.late) for op in makers], default=NEVER),
        )
    return since, until


def _of_round(of: PlayedRound, purchase: Purchase, ops: list[Op]) -> list[Op]:
    """Return the answers about this round: after a loss, a key may buy in another one again."""
    return [op for op in ops if len(purchase.rounds) < 2 or op.round == of.begun.round]


def _end(of: PlayedRound) -> int:
    """Return the moment by which all that the books have has happened."""
    return of.audited.at if of.audited else NEVER


def cancelled(purchase: Purchase) -> int:
    """Return the moment of the first press that may have given the units back."""
    backs = (Reply.GIVEN_BACK, Reply.UNKNOWN)
    attempts = [op.at for op in purchase.did(Action.DECLINE, Action.CANCEL) if op.answer in backs]
    return min(attempts, default=NEVER)


def _unknown(
    moves: list[Move], of: PlayedRound, history: RunHistory, purchase: Purchase, looks: list[Op]
) -> None:
    """Add moves for units that this round may have lost to requests without an answer."""
    presses = [op for op in purchase.did(Action.BUY) if op.answer is Reply.UNKNOWN]
    since = max(of.begun.called, min([op.at for op in presses], default=NEVER))
    since, after = _looked(moves, of, looks, since)
    if purchase.taken or not presses:
        return
    if since > min(of.over, max(last_effect(op, history.run.late) for op in presses)):
        return
    units, numbers = purchase.units, purchase.numbers
    if of.begun.hold is not None:
        moves.append(Move(-units, since, after=after, due=False, ops=numbers))
        moves.append(_give(of, purchase, units, since, len(moves) - 1))
    elif count_missing_units(of) > 0:
        moves.append(Move(-units, since, after=after, due=False, ops=numbers))


def count_missing_units(of: PlayedRound) -> int:
    """Return the units missing in the end; less than 0: there are more than were stocked."""
    if of.audited is None:
        return 0
    sold = sum(units_by_id(of, of.purchases).values())
    return of.begun.stock - of.left - of.held - sold


def units_by_id(of: PlayedRound, purchases: list[Purchase]) -> dict[str, int]:
    """Return this round's orders with their units, each once, from all books."""
    return {
        entry.id: entry.units
        for purchase in purchases
        for entry in purchase.entries
        if entry.round == of.begun.round
    }
