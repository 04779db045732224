"""Real servers check the model: random walks, reply by reply, in virtual time.

These are a share of the walks of `make conformance`; the seeds are new each time, and printed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from secrets import randbelow

import pytest
from badluck.model import collections, sorted_sets
from badluck.model.commands import TABLE
from badluck.model.keyspace import Keyspace
from badluck.model.parsing import Undefined
from badluck.model.server import ModelServer
from badluck.model.values import Err
from badluck.real_server.backend import RealBackend
from badluck.real_server.server import LiveServer
from badluck.target import EPOCH

from tests.integration.explorer.walk import NOT_QUEUED, Divergence, Judge, walk

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


def _did_something(reply: object) -> bool:
    """Is the reply no error, and neither nothing nor 0?"""
    if isinstance(reply, tuple):
        return any(map(_did_something, reply))
    return bool(reply) and not isinstance(reply, Err) and reply not in (b"0", b"0-0", b"QUEUED")


def _did(seed: int) -> Iterator[bytes]:
    """Yield the commands that had an effect in that walk, in the model."""
    model = ModelServer(EPOCH)
    for step in walk(seed):
        if isinstance(step.does, str) or step.who in {one.connection for one in model.blocked}:
            continue
        if step.who in model.queued and step.does[0] in NOT_QUEUED:
            continue
        try:
            reply = model.execute(step.who, step.does)
        except Undefined:
            return
        if _did_something(reply):
            yield step.does[0]


def test_the_walks_know_what_every_command_of_the_model_does() -> None:
    """Sending a command is not enough: XCLAIM once never claimed an entry that had been read."""
    assert set(TABLE) <= {name for seed in range(2_000) for name in _did(seed)}


def test_a_model_that_is_wrong_is_caught(
    server: LiveServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A key that ends at its last millisecond, not after it: an easy mistake."""
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
