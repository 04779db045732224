"""The fused form: the section's commands travel with the lock. Its write asks whose lock it is."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from app.bootstrap import Parts
from app.domain import Clock, Outcome
from app.locks.queue import Fused
from app.locks.queue.line import HANDOVER
from app.modes.lock import Lock
from tests.integration.locks.queue.standing import LINE, NAME, line
from tests.selling import fulfil_all, in_stream, mode, order
from tests.servers import until

RUNS_ON = ["valkey", "cluster"]
pytestmark = pytest.mark.timed  # between its two steps 100 ms may pass


def fused(parts: Parts) -> Fused:
    return Fused(parts.servers, Clock(), NAME, 10.0)


def test_brings_the_values_and_takes_the_commands(parts: Parts) -> None:
    parts.store.mset({"{apple}:a": 1, "{apple}:b": "ü"})
    lock = fused(parts)
    assert lock.acquire(["{apple}:a", "{apple}:none", "{apple}:b"], 1.0) == [
        b"1",
        None,
        "ü".encode(),
    ]
    assert lock.release(["SET", "{apple}:a", 2], ["RPUSH", "{apple}:c", "x", "y"])
    assert parts.store.get("{apple}:a") == b"2"
    assert parts.store.lrange("{apple}:c", 0, -1) == [b"x", b"y"]
    assert not parts.store.exists(NAME)


def test_values_are_the_same_bytes_for_who_waited(parts: Parts, pool: ThreadPoolExecutor) -> None:
    anything = bytes(range(256))
    parts.store.mset({"{apple}:a": anything, "{apple}:b": ""})
    holder = line(parts)
    assert holder.acquire("holder", True, None)
    waiting = pool.submit(fused(parts).acquire, ["{apple}:a", "{apple}:b", "{apple}:none"], 5.0)
    until(lambda: parts.store.llen(LINE) == 1)
    assert holder.release("holder")
    assert waiting.result(5) == [anything, b"", None]


def test_too_late_nothing_is_done(parts: Parts) -> None:
    late, other = fused(parts), fused(parts)
    assert late.acquire([], 1.0) == []
    until(
        lambda: not parts.store.exists(NAME), HANDOVER * 5, "no lease of 10 s for a fused section"
    )
    assert other.acquire([], 1.0) == []
    assert not late.release(["SET", "{apple}:a", 2])
    assert not parts.store.exists("{apple}:a")
    assert other.release()


def test_a_seller_frozen_between_its_steps_sells_nothing_twice(
    parts: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It read the stock, froze, another sold the unit: its write is refused, and it looks again."""
    round = parts.rounds.start("apple", "lock:queue", 1, {})
    frozen, other = mode(parts, round), mode(parts, round)
    assert isinstance(frozen, Lock)
    real = Fused.acquire
    sold: list[Outcome] = []

    def freeze(self: Fused, reads: list[str], timeout: float) -> object:
        values = real(self, reads, timeout)
        if not sold:
            monkeypatch.setattr(Fused, "acquire", real)
            until(lambda: not parts.store.exists(f"{{apple}}:{round.number}:lock"))
            sold.append(other.sell(order(round)).outcome)
        return values

    monkeypatch.setattr(Fused, "acquire", freeze)
    sale = frozen.sell(order(round))
    assert (sold, sale.outcome, sale.attempts) == ([Outcome.SOLD], Outcome.SOLD_OUT, 2)
    assert len(in_stream(parts, round)) == 1
    fulfil_all(parts.fulfil)
    assert parts.auditor.audit(round).verdict == "exact"


@pytest.mark.parametrize("think", [0, 1])
def test_both_forms_sell_alike(parts: Parts, think: int) -> None:
    """Without think time the fused form sells, with it the plain one."""
    round = parts.rounds.start("apple", "lock:queue", 2, {"think": think})
    seller = mode(parts, round)
    first = seller.sell(order(round, key="k"))
    assert (first.outcome, first.left) == (Outcome.SOLD, 1)
    assert seller.sell(order(round, key="k")).order == first.order
    assert seller.sell(order(round, quantity=2)).outcome is Outcome.SOLD_OUT
    assert seller.sell(order(round)).left == 0
    parts.rounds.end("apple")
    assert seller.sell(order(round)).outcome is Outcome.ROUND_OVER
    assert not parts.store.exists(f"{{apple}}:{round.number}:lock")
