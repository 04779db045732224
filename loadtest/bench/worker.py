"""One process of contenders, with redis-py's client that counts what it sends.

Started by `crew`: `python -m loadtest.bench.worker DESCRIPTOR`.
"""

from __future__ import annotations

import logging
import sys
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from functools import cached_property
from multiprocessing.connection import Connection
from typing import Any

import redis

from app.config import Settings
from app.store.clients.redis import NEVER_RESEND, Metered, Wire, metered
from app.store.servers import Servers
from loadtest.bench.cell import Count, Ready, Task, Window
from loadtest.bench.contender import ANSWER, LEASE, Contender, Names


class CountedServers(Servers):
    """Servers whose store and masters are plain clients that count what they send.

    They are plain (redis-py's pool, shared by all threads), because users of the other libraries
    have that. Only resending is off: it would sell a unit twice, and unnoticed.
    """

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self._wires: list[Wire] = []

    @cached_property
    def store(self) -> redis.Redis:
        return self.own_store()

    def own_store(self) -> redis.Redis:
        """Return a second client, counted with the first."""
        return self._client(self.settings.store)

    @cached_property
    def masters(self) -> list[redis.Redis]:
        return [self._client(url) for url in self.settings.masters]

    def _client(self, url: str) -> redis.Redis:
        wires = self._wires

        class Counted(Metered, redis.Connection):
            """A connection that counts for itself: pottery sends from threads of its own."""

            def __init__(self, **kwargs: Any) -> None:
                super().__init__(**kwargs)
                self.wire = Wire()
                wires.append(self.wire)

            def send_command(self, *args: Any, **kwargs: Any) -> None:
                with metered(self.wire):
                    super().send_command(*args, **kwargs)

            def pack_commands(self, commands: Any) -> Any:
                with metered(self.wire):
                    return super().pack_commands(commands)

        pool = redis.ConnectionPool.from_url(
            url, socket_timeout=ANSWER, socket_connect_timeout=ANSWER, retry=NEVER_RESEND
        )
        pool.connection_class = Counted
        return redis.Redis(connection_pool=pool)

    def metered(self) -> AbstractContextManager[None]:
        """Count this thread's requests to ZooKeeper; a store's connections count by themselves."""
        wire = Wire()
        self._wires.append(wire)
        return metered(wire)

    def sent(self) -> Wire:
        """Return all counts so far, of all threads."""
        return Wire(
            sum(wire.round_trips for wire in self._wires),
            sum(wire.commands for wire in self._wires),
        )

    def close(self) -> None:
        self.store.close()
        if "engine" in self.__dict__:
            self.engine.dispose()
        if self._zookeeper:
            self._zookeeper.stop()
            self._zookeeper.close()


class Overheard(logging.Handler):
    """Turns errors that redlock-py and pottery only log into errors of this process."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.said.append(record.getMessage())


@dataclass
class Tally:
    """The sales and waits of one contender."""

    in_window: int = 0
    sold: int = 0
    waits: list[float] = field(default_factory=list)


def prepare(task: Task, servers: Servers) -> Contender:
    """Return a contender whose thread has a connection, and whose scripts the server knows."""
    alone = Names.of(f"{task.names.lock}:{uuid.uuid4().hex}")
    servers.store.set(alone.stock, 1)
    task.row.build(servers, alone, LEASE).sell()
    return task.row.build(servers, task.names, LEASE)


def contend(contender: Contender, window: Window) -> Tally:
    tally = Tally()
    time.sleep(max(0.0, window.start - time.monotonic()))
    while time.monotonic() < window.end:
        waited, sold = contender.sell()
        done = time.monotonic()
        if done >= window.begin:
            tally.waits.append(waited)
        if sold:
            tally.sold += 1
            tally.in_window += window.begin <= done <= window.end
    return tally


def counted(servers: CountedServers, contender: Contender, window: Window) -> Tally:
    with servers.metered():
        return contend(contender, window)


def cell(link: Connection, task: Task) -> Count:
    servers = CountedServers(task.settings)
    with ExitStack() as stack:
        stack.callback(servers.close)
        # A pool of one each: what a contender prepares must be used by the same thread, as
        # redis-py's lock keeps its token in the thread.
        threads = [stack.enter_context(ThreadPoolExecutor(1)) for _ in range(task.threads)]
        prepared = [thread.submit(prepare, task, servers) for thread in threads]
        contenders = [each.result() for each in prepared]
        before = servers.sent()
        link.send(Ready())
        window = link.recv()
        doing = [
            thread.submit(counted, servers, contender, window)
            for thread, contender in zip(threads, contenders, strict=True)
        ]
        tallies = [each.result() for each in doing]
        after = servers.sent()
    return Count(
        [tally.in_window for tally in tallies],
        sum(tally.sold for tally in tallies),
        [wait for tally in tallies for wait in tally.waits],
        after.round_trips - before.round_trips,
        after.commands - before.commands,
    )


def main() -> None:
    """Work until the other side closes the link. An error ends the process; its log has it."""
    [descriptor] = sys.argv[1:]
    overheard = Overheard()
    logging.getLogger().addHandler(overheard)
    with Connection(int(descriptor)) as link:
        while True:
            try:
                task = link.recv()
            except EOFError:
                return
            count = cell(link, task)
            if overheard.said:
                raise RuntimeError(f"{task.row.name} logged: {overheard.said[0]}")
            link.send(count)


if __name__ == "__main__":
    main()
