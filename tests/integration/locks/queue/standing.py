"""How tests stand in line: in a thread that waits, or frozen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from app.bootstrap import Parts
from app.domain import Clock
from app.locks.queue.connections import Connections
from app.locks.queue.line import Line
from app.locks.queue.turn import Grant, Turn
from tests.servers import until

NAME = "{apple}:1:lock"
LINE, FENCE = "{apple}:1:lock:line", "{apple}:1:lock:fence"


class ByHand(Clock):
    """Renews when the test says so; `seconds` is how often it was asked to."""

    seconds: float
    renew: Callable[[], bool]

    def every(self, seconds: float, deed: Callable[[], bool]) -> Callable[[], None]:
        self.seconds, self.renew = seconds, deed
        return lambda: None


class Strange(Line):
    """As if in a process of its own: who releases cannot take the lock for it."""

    def process(self) -> str:
        return f"{super().process()}-{id(self)}"


class Frozen(Strange):
    """With connections of its own, apart from this thread's."""

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts.store, Clock(), NAME, 10.0)
        self.pair = apart(parts)


def apart(parts: Parts) -> Connections:
    return Connections(parts.store, "{apple}")


def line(parts: Parts, lease: float | None = 10.0) -> Line:
    return Line(parts.store, Clock(), NAME, lease)


def strange(parts: Parts, lease: float | None = 10.0) -> Line:
    return Strange(parts.store, Clock(), NAME, lease)


def stand(
    parts: Parts,
    pool: ThreadPoolExecutor,
    token: str,
    timeout: float | None = 10,
    reads: Sequence[str] = (),
) -> Future[Grant | None]:
    """Stand in line in a thread of its own; returns when it stands there."""
    before = parts.store.llen(LINE)
    future = pool.submit(lambda: strange(parts).acquire(token, True, timeout, reads))
    until(lambda: parts.store.llen(LINE) > before)
    return future


def stand_frozen(parts: Parts, token: str, asks: bool = False) -> Frozen:
    """Stand in line like a process that was stopped then, or, if it `asks`, after asking once
    where it stands: it is deaf. Its connection is open for as long as what this returns lives."""
    frozen = Frozen(parts)
    turn = Turn(frozen, token, ())
    turn.mine = frozen.pair
    turn.mine.listen()
    assert turn.stand() is None
    assert not asks or turn.ask(again=True) is None
    return frozen
