"""Real servers as the schedule of a trace needs them: one step after the other, no way back.

It does for real what `Rehearsal` does in the model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from app.domain import ShopError
from app.explorer.live.server import LiveServer, running
from app.explorer.live.wire import Wire
from app.explorer.model.values import Command, Entry, Reply, Stream, StreamEntry
from app.explorer.request import Lost

# What leaves something of a connection with the server, and what takes it away again.
BINDS = {b"WATCH", b"MULTI", b"SUBSCRIBE", b"SSUBSCRIBE", b"BLPOP", b"BRPOP"}
FREES = {b"EXEC", b"DISCARD", b"UNWATCH"}

Keys = dict[bytes, tuple[bytes, int]]  # what DUMP and PEXPIRETIME say of each


class Stage:
    def __init__(self, servers: Sequence[LiveServer]) -> None:
        self.servers = servers
        self.wires: dict[str, Wire] = {}
        self.bound: set[str] = set()
        self.broken: set[str] = set()
        self.written: tuple[int, Keys] | None = None  # which server last, and its keys before that

    def begin(self, now: int, setup: Sequence[Sequence[Command]]) -> None:
        """Empty servers, and the commands that each of them is told first."""
        for name in list(self.wires):
            self.close(name)
        self.broken.clear()
        self.written = None
        for server, commands in zip(self.servers, setup, strict=True):
            server.control.ask((b"FLUSHALL",))
            server.set(now)
            for command in commands:
                server.control.ask(command)

    def send(self, name: str, commands: Sequence[Command]) -> tuple[Reply, ...] | Lost:
        if name in self.broken:
            return Lost()
        which = int(name[0])
        server = self.servers[which]
        if name not in self.wires:
            self.wires[name] = server.connect()
        before = self._keys(server)
        for command in commands:
            self.wires[name].send(command)
            if command[0] in BINDS:
                self.bound.add(name)
            elif command[0] in FREES:
                self.bound.discard(name)
        server.settle()
        if self._keys(server) != before:
            self.written = which, before
        return tuple(self.wires[name].waiting())

    def hear(self, name: str) -> tuple[Reply, ...] | Lost:
        """One of what it has been sent, if there is anything; Lost when its connection broke."""
        if name in self.broken:
            return Lost()
        self.servers[int(name[0])].settle()
        return tuple(self.wires[name].next())

    def close(self, name: str) -> None:
        self.broken.discard(name)
        self.bound.discard(name)
        if wire := self.wires.pop(name, None):
            wire.close()
            self.servers[int(name[0])].settle()

    def pass_time(self, now: int) -> None:
        for server in self.servers:
            server.set(now)

    def fail_over(self) -> None:
        """The server that was written last forgets that write; all its connections break."""
        if self.written is None:
            raise ShopError("The trace loses a write, and nothing has been written.")
        which, before = self.written
        server = self.servers[which]
        for name in [name for name in self.wires if int(name[0]) == which]:
            broken = name in self.bound
            self.close(name)
            if broken:
                self.broken.add(name)
        server.control.ask((b"FLUSHALL",))
        for key, (dumped, until) in before.items():
            server.control.ask((b"RESTORE", key, b"%d" % max(0, until), dumped, b"ABSTTL"))
        self.written = None

    def entries(self) -> dict[bytes, Entry]:
        """The keys of the store that a Target's book is made of."""
        ask = self.servers[0].control.ask
        found: dict[bytes, Entry] = {}
        for key, (_, until) in self._keys(self.servers[0]).items():
            match ask((b"TYPE", key)):
                case b"string":
                    value: Any = ask((b"GET", key))
                case b"list":
                    value = ask((b"LRANGE", key, b"0", b"-1"))
                case b"stream":
                    entries: Any = ask((b"XRANGE", key, b"-", b"+"))
                    value = Stream(
                        (0, 0), tuple(StreamEntry((0, 0), words) for _, words in entries)
                    )
                case _:
                    continue
            found[key] = Entry(value, until if until >= 0 else None)
        return found

    @staticmethod
    def _keys(server: LiveServer) -> Keys:
        ask: Callable[[Command], Any] = server.control.ask
        names = sorted(ask((b"KEYS", b"*")))
        return {key: (ask((b"DUMP", key)), ask((b"PEXPIRETIME", key))) for key in names}


@contextmanager
def stage(folder: Path, servers: int, program: str | None = None) -> Iterator[Stage]:
    """So many real servers, in folders of their own in `folder`. Raises ShopError."""
    with ExitStack() as stack:
        started = []
        for number in range(servers):
            own = folder / str(number)
            own.mkdir()
            started.append(stack.enter_context(running(own, program)))
        made = Stage(started)
        yield made
        for name in list(made.wires):
            made.close(name)
