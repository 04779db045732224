"""The model is judged by real servers: random walks, reply by reply, in virtual time.

A share of what `make conformance` walks; its seeds are new each time, and printed.
"""

from __future__ import annotations

from collections.abc import Callable
from secrets import randbelow

import pytest
from badluck.real.backend import RealBackend
from badluck.real.server import LiveServer
from badluck.simulated import collections, sorted_sets
from badluck.simulated.commands import TABLE
from badluck.simulated.keyspace import Keyspace

from tests.integration.explorer.walk import Divergence, Judge, walk

WALKS = 200


@pytest.fixture
def server(real: RealBackend) -> LiveServer:
    return real.servers[0]


def test_model_and_server_say_the_same(server: LiveServer) -> None:
    first = randbelow(1_000_000_000)
    print(f"walks {first} to {first + WALKS - 1}")
    judge = Judge(server)
    for seed in range(first, first + WALKS):
        judge.judge(seed)
    assert judge.steps > WALKS * 30


def test_the_walks_know_every_command_of_the_model() -> None:
    steps = (step.does for seed in range(1_000) for step in walk(seed))
    assert set(TABLE) <= {does[0] for does in steps if not isinstance(does, str)}


def test_a_model_that_is_wrong_is_caught(
    server: LiveServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A key that ends at its last millisecond, not after it: as easily said as overlooked."""
    right = Keyspace.pass_time

    def too_early(keys: Keyspace, now: int) -> None:
        right(keys, now + 1)
        keys.now = now

    monkeypatch.setattr(Keyspace, "pass_time", too_early)
    judge = Judge(server)

    with pytest.raises(Divergence, match="seed"):
        _walk_on(judge)


def _drawn_and_kept(patch: pytest.MonkeyPatch) -> None:
    patch.setitem(TABLE, b"SPOP", TABLE[b"SPOP"]._replace(do=collections.srandmember))


def _a_tenth_more(patch: pytest.MonkeyPatch) -> None:
    right = sorted_sets.shown
    patch.setattr(sorted_sets, "shown", lambda score: right(score + 0.1))


@pytest.mark.parametrize("go_wrong", [_drawn_and_kept, _a_tenth_more])
def test_what_may_be_drawn_or_written_otherwise_is_judged_too(
    server: LiveServer,
    monkeypatch: pytest.MonkeyPatch,
    go_wrong: Callable[[pytest.MonkeyPatch], None],
) -> None:
    go_wrong(monkeypatch)
    with pytest.raises(Divergence, match="seed"):
        _walk_on(Judge(server))


def _walk_on(judge: Judge) -> None:
    for seed in range(WALKS):
        judge.judge(seed)
