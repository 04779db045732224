"""Real servers with a simulated clock, for comparisons with them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from badluck.real_server.backend import RealBackend
from badluck.real_server.server import virtual_time

from app.explorer.matrix import Matrix, reports
from app.explorer.saved_schedules import servers
from app.explorer.servers import MASTERS
from tests.support.command_line import run
from tests.support.servers import redis_server


@pytest.fixture(scope="session")
def matrix() -> Matrix:
    """The whole matrix, explored again: half a minute of both cores."""
    return dict(reports())


@pytest.fixture(scope="session")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Run `lastapple explore WORDS --save` as a user types it, each only once; return the file."""
    known: dict[tuple[str, ...], Path] = {}

    def save(*words: str) -> Path:
        if words not in known:
            known[words] = tmp_path_factory.mktemp("saved") / "trace.json"
            done = run("explore", *words, "--save", known[words])
            assert done.returncode == 1, done.stderr
        return known[words]

    return save


@pytest.fixture(scope="session")
def virtual_clock() -> None:
    """Require servers with a simulated clock; on CI a missing compiler fails the test."""
    if not virtual_time() and not os.environ.get("CI"):
        pytest.skip("virtual time needs a C compiler: apt install gcc libc6-dev")


@pytest.fixture(scope="module", params=["valkey", "redis"])
def real(
    request: pytest.FixtureRequest,
    virtual_clock: None,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[RealBackend]:
    """A store and redlock's masters, of each kind in turn."""
    program = redis_server() if request.param == "redis" else None
    with servers(tmp_path_factory.mktemp("stage"), 1 + MASTERS, program) as made:
        yield made
