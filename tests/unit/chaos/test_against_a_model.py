"""Small histories, often with wrong answers, against a shop that is tried in every order.

The model sells, holds, takes payments and cancellations one after the other; it knows nothing of
moves. A hold never expires here: the model knows when it was made, and the judge does not.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from secrets import randbelow

import pytest

from loadtest.chaos.history import Action, Event, Reply, RoundAudit
from loadtest.chaos.judge.judge import judge
from loadtest.chaos.judge.moves import NEVER
from loadtest.chaos.judge.reconstruction import Op, reconstruct_run
from tests.unit.chaos.written_history import Tale

SOLD, HELD, OUT, BACK = (Reply.SOLD, Reply.HELD, Reply.SOLD_OUT, Reply.GIVEN_BACK)


@dataclass(frozen=True)
class Model:
    free: int
    holds: bool
    stands: dict[str, Reply] = field(default_factory=dict)
    owed: tuple[str, ...] = ()  # cancelled, and not back in stock yet

    def after(self, op: Op, units: dict[str, int]) -> Iterator[tuple[Reply, int | None, Model]]:
        """Yield (answer, left, next model)."""
        key = op.called.key or ""
        stands = self.stands.get(key)
        if op.deed is Action.BUY and stands is None:
            if self.free < units[key]:
                yield OUT, self.free, self
            else:
                answer = HELD if self.holds else SOLD
                left = self.free - units[key]
                yield answer, left, replace(self, free=left, stands=self.stands | {key: answer})
        elif op.deed is not Action.BUY and stands is HELD:
            how = SOLD if op.deed is Action.PAY else BACK
            owed = (*self.owed, key) if how is BACK else self.owed
            yield how, None, replace(self, stands=self.stands | {key: how}, owed=owed)
        elif stands:
            yield stands, None, self
        if op.deed is Action.BUY:
            yield Reply.BUSY, None, self


def can_be(ops: list[Op], model: Model, units: dict[str, int], sold: set[str], left: int) -> bool:
    """Is there an order with these answers, and this ledger in the end?"""
    now = {key for key, stands in model.stands.items() if stands is SOLD}
    # An operation of unknown outcome may as well never happen; units that it took are counted
    # apart.
    if all(op.until == NEVER for op in ops) and model.free == left and now >= sold:
        return True
    for key in model.owed:
        rest = tuple(one for one in model.owed if one != key)
        back = replace(model, free=model.free + units[key], owed=rest)
        if can_be(ops, back, units, sold, left):
            return True
    for op in ops:
        if any(other.until < op.at for other in ops):
            continue  # that one came before
        others = [one for one in ops if one is not op]
        for answer, seen, following in model.after(op, units):
            unknown = op.answer is Reply.UNKNOWN
            told = op.answer is answer and op.left in (None, seen)
            if (unknown or told) and can_be(others, following, units, sold, left):
                return True
    return False


def some_history(seed: int, holds: bool) -> tuple[list[Event], set[str]]:
    """Every purchase is answered or lost at random; the ledger has the answered ones, and some
    more.
    """
    rng = random.Random(seed)
    stock, many = rng.randint(1, 4), rng.randint(2, 3)
    tale = Tale(stock, hold=1_000_000 if holds else None)
    keys = "abc"[:many]
    units = {key: rng.choice([1, 1, 2]) for key in keys}
    sold = set[str]()
    for key in keys:
        at, saw = rng.randint(1, 10), False
        for _ in range(rng.randint(1, 2)):
            answer = rng.choice([HELD if holds else SOLD] * 3 + [OUT, OUT, Reply.BUSY, None])
            left = rng.randint(0, stock) if not saw and rng.random() < 0.4 else None
            if answer not in (OUT, HELD, SOLD):
                left = None
            saw = saw or (left is not None and answer is not OUT)
            until = at + rng.randint(0, 12)
            tale.told(key, at, until if answer else None, answer or Reply.UNKNOWN, left,
                      units=units[key])  # fmt: skip
            if answer is SOLD or (answer is None and not holds and rng.random() < 0.5):
                sold.add(key)
            at += rng.randint(0, 8)
        if holds and rng.random() < 0.7:
            deed = rng.choice([Action.PAY, Action.CANCEL])
            known = rng.random() < 0.8
            fits = SOLD if deed is Action.PAY else BACK
            tale.told(key, until + 1, until + 5 if known else None,
                      fits if known else Reply.UNKNOWN, deed=deed)  # fmt: skip
            if deed is Action.PAY and (known or rng.random() < 0.5):
                sold.add(key)
    tale.units = units
    tale.booked(*sorted(sold))
    left = stock - sum(units[key] for key in sold)
    return tale.audited(left if left >= 0 and rng.random() < 0.8 else rng.randint(0, stock)), sold


def agrees(seed: int, holds: bool) -> bool:
    """Does the judge agree with the model on whether the history is possible?"""
    events, sold = some_history(seed, holds)
    whole = reconstruct_run(events)
    of = whole.rounds["apple", 1]
    ops = [op for purchase in whole.purchases.values() for op in purchase.ops]
    units = {key: purchase.units for (_, key), purchase in whole.purchases.items()}
    last = events[-1]
    assert isinstance(last, RoundAudit)
    expected = can_be(ops, Model(of.begun.stock, holds), units, sold, last.left)
    assert judge(events).rounds[0].linearizable is expected, f"seed {seed}: {events}"
    return expected


@pytest.mark.parametrize("holds", [False, True])
def test_the_judge_says_what_a_model_says(holds: bool) -> None:
    answers = [agrees(seed, holds) for seed in range(400)]
    assert 25 < sum(answers) < 375


@pytest.mark.soak
@pytest.mark.parametrize("holds", [False, True])
def test_and_so_it_does_of_histories_that_nobody_has_seen(holds: bool, runs: int) -> None:
    begin = randbelow(1_000_000_000)
    assert sum(agrees(seed, holds) for seed in range(begin, begin + 100 * runs))
