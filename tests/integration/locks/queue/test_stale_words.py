"""A word that was not heard in time is for nobody: not for the waiter's next place in line."""

from __future__ import annotations

import math

import pytest

from app.bootstrap import Parts
from app.domain import Clock
from app.locks.queue.line import Line
from app.locks.queue.turn import Turn
from tests.integration.locks.queue.standing import NAME, apart, strange
from tests.servers import until

RUNS_ON = ["valkey", "cluster"]
pytestmark = pytest.mark.again

STOCK = "{apple}:1:stock"


def overtaken(parts: Parts, mine: Line, reads: tuple[str, ...] = ()) -> Turn:
    """Frozen between "no word yet" and asking: meanwhile called, passed over, another is inside.

    Then it goes on, asks, and stands in line again. What it was told lies unheard.
    """
    holder = Line(parts.store, Clock(), NAME, 10.0)
    assert holder.acquire("holder", True, None)
    turn = Turn(mine, "late", reads)
    turn.mine = apart(parts)
    turn.mine.listen()
    assert turn.stand() is None
    assert holder.release("holder")
    assert parts.store.get(NAME) == b"late"
    until(lambda: not parts.store.exists(NAME))
    assert strange(parts).acquire("other", False, None, reads)
    assert turn.ask(again=True) is None
    return turn


def test_a_mate_called_in_vain_does_not_enter_beside_the_next_holder(parts: Parts) -> None:
    """It would ask nobody, as its mate has taken the lock for it: for a lease that is over."""
    turn = overtaken(parts, Line(parts.store, Clock(), NAME, 0.3))
    assert turn.wait(Clock().now() + 0.2) is None
    assert parts.store.get(NAME) == b"other"


def test_old_values_are_never_written(parts: Parts) -> None:
    """Called again before its write, it would pass for the holder, with the stock of last time."""
    parts.store.set(STOCK, 1)
    mine = strange(parts, 0.1)
    turn = overtaken(parts, mine, (STOCK,))
    assert strange(parts).release("other", [["SET", STOCK, 0]])
    grant = turn.wait(math.inf)
    assert grant
    assert grant.values in ([b"0"], ["0"])
    assert mine.release("late")


def test_a_token_used_again_is_not_called_by_an_old_word(parts: Parts) -> None:
    """One's own token for redis-py's Lock may be the same each time."""
    turn = overtaken(parts, Line(parts.store, Clock(), NAME, 0.3))
    turn._leave()
    again = Turn(turn.line, "late", ())
    again.mine = turn.mine
    assert again.stand() is None
    assert again.wait(Clock().now() + 0.2) is None
    assert parts.store.get(NAME) == b"other"
