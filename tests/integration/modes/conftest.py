"""What the races share: sellers whose clock or wire has a hand on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol

import pytest

from app import Parts
from app.domain import Clock, Round
from app.modes import MODES, Mode
from app.store.keys import Keys
from tests.servers import until
from tests.wire import Hands, HandServers


class Sellers(Protocol):
    def __call__(
        self, round: Round, clock: Clock | None = None, hands: Hands | None = None
    ) -> Mode: ...


@pytest.fixture
def seller(parts: Parts) -> Iterator[Sellers]:
    """Makes sellers, each over connections of its own, and closes them in the end."""
    made: list[HandServers] = []

    def make(round: Round, clock: Clock | None = None, hands: Hands | None = None) -> Mode:
        made.append(HandServers(parts.settings, hands or {}))
        return MODES[round.mode.partition(":")[0]](made[-1], clock or Clock(), round)

    yield make
    for servers in made:
        servers.store.close()


@pytest.fixture
def lease_runs_out(parts: Parts) -> Callable[[Round], None]:
    """Waits until a round's lock is nobody's."""

    def wait(round: Round) -> None:
        lock = Keys(round.item, round.number).lock
        until(lambda: not parts.store.exists(lock))

    return wait
