"""An invariant that reads what actors change in modules of their own would hold forever."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import shelf
from badluck import BadCode, explore


def _sold(_: Any) -> bool:
    from shelf import sold

    return not sold


@pytest.mark.parametrize(
    ("actor", "invariant", "said"),
    [
        (shelf.sells, lambda _: not shelf.sold, "<lambda> reads shelf.sold, a deque that actors"),
        (shelf.sells, lambda _: shelf.how_many() == 0, "<lambda> reads sold, a deque"),
        (shelf.sells, _sold, "_sold reads shelf.sold, a deque"),
        (shelf.logs, lambda _: not shelf.Log.seen, "reads Log.seen, a list"),
        (shelf.logs, lambda _: not shelf.Log.many, "reads Log.many, a int"),
        (shelf.counts, lambda _: not shelf.count, "reads shelf.count, a int"),
        (shelf.keeps, lambda _: not shelf.kept.words, "reads shelf.kept, a Kept"),
    ],
)
def test_what_only_actors_change_is_refused(
    actor: Callable[..., Any], invariant: Callable[..., Any], said: str
) -> None:
    with pytest.raises(BadCode, match=said):
        explore(actor=actor, invariant=invariant)
    with pytest.raises(BadCode, match=said):
        explore(actor=actor, at_end=invariant)


def test_what_nobody_changes_may_be_read() -> None:
    explore(
        setup=lambda redis: redis.rpush("jobs", *shelf.JOBS),
        actor=shelf.sells,
        invariant=lambda redis: redis.llen("jobs") == len(shelf.JOBS) and shelf.LEASE == 5,
        at_end=lambda redis: not redis.exists(*shelf.NAMES[1:]),
    ).assert_holds()
