"""Real servers for the schedule of a trace: one step after the other, without going back.

It does for real what `ModelBackend` does in the model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from badluck.actor.request import Lost
from badluck.errors import BadluckError
from badluck.model.blocking import may_wait, note_binding
from badluck.model.channels import LISTENS
from badluck.model.values import (
    Command,
    Entry,
    Hash,
    Reply,
    SortedSet,
    Stream,
    StreamEntry,
    Value,
)
from badluck.real_server import fixed_choices
from badluck.real_server.server import LiveServer, running
from badluck.real_server.wire import Wire

LOOK = b"""
local seen = {}
for _, key in ipairs(redis.call('KEYS', '*')) do
  seen[#seen + 1] = {key, redis.call('DUMP', key), redis.call('PEXPIRETIME', key)}
end
return seen
"""
READ = b"""
local seen = {}
for _, key in ipairs(redis.call('KEYS', '*')) do
  local type, value = redis.call('TYPE', key).ok, nil
  if type == 'string' then value = redis.call('GET', key) end
  if type == 'list' then value = redis.call('LRANGE', key, 0, -1) end
  if type == 'set' then value = redis.call('SMEMBERS', key) end
  if type == 'hash' then value = redis.call('HGETALL', key) end
  if type == 'zset' then value = redis.call('ZRANGE', key, 0, -1, 'WITHSCORES') end
  if type == 'stream' then value = redis.call('XRANGE', key, '-', '+') end
  if value then seen[#seen + 1] = {key, type, value, redis.call('PEXPIRETIME', key)} end
end
return seen
"""
VALUES: dict[bytes, Callable[[Any], Value]] = {  # of what READ answers, by the type
    b"string": bytes,
    b"list": tuple,
    b"set": frozenset,
    b"hash": lambda words: Hash(tuple(zip(words[::2], words[1::2], strict=True))),
    b"zset": lambda words: SortedSet(
        frozenset(zip(words[::2], map(float, words[1::2]), strict=True))
    ),
    b"stream": lambda rows: Stream((0, 0), tuple(StreamEntry((0, 0), row) for _, row in rows)),
}

Keys = dict[bytes, tuple[bytes, int]]  # replies of DUMP and PEXPIRETIME for each


class ServersSnapshot(NamedTuple):
    """All state that a change could show in."""

    keys: tuple[Keys, ...]  # of each server
    bound: frozenset[str]  # connections that have left state with their servers
    unread: tuple[tuple[str, int], ...]  # how many unread messages each connection has


class RealBackend:
    def __init__(self, servers: Sequence[LiveServer], remembers: bool = True) -> None:
        """Without `remembers`, writes are faster and a failover is impossible."""
        self.servers = servers
        self.remembers = remembers
        self.wires: dict[str, Wire] = {}
        self.spare: list[list[Wire]] = [[] for _ in servers]  # open and unused
        self.loaded: list[set[Command]] = [set() for _ in servers]  # scripts
        self.bound: set[str] = set()
        self.listening: set[str] = set()  # may get more, or fewer, messages than commands
        self.broken: set[str] = set()
        self.kept: dict[int, Keys] = {}  # of each server, as the last write left them
        self.written: tuple[int, Keys] | None = None  # last server, its keys before

    def connect_ahead(self, steps: int) -> None:
        """Open connections for so many steps, before a sandbox forbids to open more."""
        for server, spare in zip(self.servers, self.spare, strict=True):
            spare += [server.connect() for _ in range(steps)]

    def begin(self, now: int, setup: Sequence[Sequence[Command]]) -> None:
        """Start with empty servers, and send each its setup commands."""
        for name in list(self.wires):
            self.close(name)
        self.broken.clear()
        self.written = None
        for number, commands in enumerate(setup):
            self.servers[number].set(now)
            # Scripts outlive a flush.
            new = [command for command in commands if command not in self.loaded[number]]
            self.loaded[number] |= {command for command in new if command[0] == b"SCRIPT"}
            self.servers[number].control.ask_all([(b"FLUSHALL",), *new])
            if self.remembers:
                self.kept[number] = self.keys(number)

    def send(self, name: str, commands: Sequence[Command]) -> tuple[Reply, ...] | Lost:
        if name in self.broken:
            return Lost()
        which = int(name[0])
        if name not in self.wires:
            spare = self.spare[which]
            self.wires[name] = spare.pop() if spare else self.servers[which].connect()
        wire = self.wires[name]
        wire.send(*map(fixed_choices.fix_command, commands))
        note_binding(self.bound, name, commands)
        if any(command[0] in LISTENS or may_wait(command) for command in commands):
            self.listening.add(name)
        if name in self.listening:
            self.servers[which].settle()
            replies = wire.waiting()
        else:
            replies = [wire.read() for _ in commands]
        if self.remembers and (keys := self.keys(which)) != self.kept[which]:
            self.written, self.kept[which] = (which, self.kept[which]), keys
        return fixed_choices.sort_replies(commands, replies)

    def hear(self, name: str) -> tuple[Reply, ...] | Lost:
        """Return one unread message, if there is any; Lost when the connection broke."""
        if name in self.broken:
            return Lost()
        self.servers[int(name[0])].settle()
        return tuple(self.wires[name].next())

    def close(self, name: str) -> None:
        self.broken.discard(name)
        wire = self.wires.pop(name, None)
        if wire is None:
            return
        which = int(name[0])
        if name in self.bound | self.listening:
            self.bound.discard(name)
            self.listening.discard(name)
            wire.close()
            self.servers[which].settle()
        else:  # it has left no state there: for the server it is like a new one
            self.spare[which].append(wire)

    def pass_time(self, now: int) -> None:
        for number, server in enumerate(self.servers):
            server.set(now)
            if self.remembers:
                self.kept[number] = self.keys(number)

    def forgets(self) -> bool:
        """Is there a write that a failover would lose, and is any of its effect left?"""
        if self.written is None:
            return False
        which, before = self.written
        now = self.servers[which].now()
        alive = {key: state for key, state in before.items() if not 0 <= state[1] < now}
        return alive != self.keys(which)

    def fail_over(self) -> None:
        """The server that was written last forgets that write; all its connections break."""
        if self.written is None:
            raise BadluckError("The trace loses a write, and nothing has been written.")
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
        self.written, self.kept[which] = None, self.keys(which)

    def stores(self) -> list[dict[bytes, Entry]]:
        """Return the keys for a Target's store view."""
        return [self.entries(which) for which in range(len(self.servers))]

    def entries(self, which: int = 0) -> dict[bytes, Entry]:
        """Return the keys of one server; the first is the store."""
        entries: dict[bytes, Entry] = {}
        rows: Any = self.servers[which].control.ask((b"EVAL", READ, b"0"))
        for key, type_, value, until in rows:
            entries[key] = Entry(VALUES[type_](value), until if until >= 0 else None)
        return entries

    def fill_up(self, fill: Callable[[dict[bytes, Entry]], dict[bytes, Entry]]) -> None:
        """Replace the store's strings and streams by what `fill` makes of them."""
        ask = self.servers[0].control.ask
        before = self.entries()
        wanted = fill(before)
        for key in before.keys() - wanted.keys():
            ask((b"DEL", key))
        for key, entry in wanted.items():
            if before.get(key) != entry and isinstance(entry.value, bytes):
                ask((b"SET", key, entry.value))

    def keys(self, which: int) -> Keys:
        rows: Any = self.servers[which].control.ask((b"EVAL", LOOK, b"0"))
        return {key: (dumped, until) for key, dumped, until in rows}

    def view(self) -> ServersSnapshot:
        keys = tuple(self.keys(which) for which in range(len(self.servers)))
        # After that answer all earlier messages have come.
        unread = [(name, len(self.wires[name].peek())) for name in self.bound & set(self.wires)]
        return ServersSnapshot(keys, frozenset(self.bound), tuple(sorted(unread)))

    def close_all(self) -> None:
        for name in list(self.wires):
            self.close(name)
        for wires in self.spare:
            while wires:
                wires.pop().close()

    def hang_up(self) -> None:
        """Close the connections, even if the servers have gone."""
        for wire in (*self.wires.values(), *(wire for wires in self.spare for wire in wires)):
            wire.close()


@contextmanager
def real_backend(folder: Path, servers: int, program: str) -> Iterator[RealBackend]:
    """So many real servers, in folders of their own in `folder`.

    Raises BadluckError when one cannot be started, does not answer any more, or is gone.
    """
    with ExitStack() as stack:
        started = []
        for number in range(servers):
            own = folder / str(number)
            own.mkdir()
            started.append(stack.enter_context(running(own, program)))
        made = RealBackend(started)
        try:
            yield made
            made.close_all()
        except OSError as error:  # also a TimeoutError
            made.hang_up()
            raise BadluckError(
                f"A real server failed in the middle of a schedule: {error}"
            ) from error
