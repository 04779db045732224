"""A small Redis: one database, connections, transactions, channels, clients that block."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from badluck.model import blocking, commands, scripts
from badluck.model.channels import LISTENS
from badluck.model.parsing import CommandRefused, Undefined
from badluck.model.values import OK, QUEUED, Command, Err, Ok, Reply
from badluck.model.waiters import WAITS, Waiters, Waits

ABORTED = "EXECABORT Transaction discarded because of previous errors."


NOT_IN_SCRIPTS = {b"MULTI", b"EXEC", b"DISCARD", b"WATCH", b"UNWATCH"}
NOT_IN_SCRIPTS |= {b"EVAL", b"EVALSHA", b"SCRIPT", *LISTENS}


class ModelServer(Waiters):
    """Executes one command after the other, as a real server does."""

    def __init__(self, now: int) -> None:
        """`now` is the clock, ms since 1970."""
        super().__init__(now)
        self.lua = scripts.Lua()

    def execute(self, connection: str, command: Command) -> Reply | Waits:
        """Execute a command. WAITS: the client blocks; its reply will be among the `unread`."""
        name = command[0].upper()
        command = (name, *command[1:])
        try:
            reply = self._execute(connection, command)
        except CommandRefused as refused:
            if connection in self.queued:
                self.spoilt.add(connection)
            reply = Err(str(refused))
        self.serve()
        return reply

    def _execute(self, connection: str, command: Command) -> Reply | Waits:
        commands.check(command)
        name = command[0]
        if refused := self.channels.refuses(connection, command):
            return refused
        if connection in self.queued and name not in {b"EXEC", b"DISCARD", b"MULTI", b"WATCH"}:
            self.queued[connection].append(command)
            return QUEUED
        reply: Reply | Waits = self._do(connection, command)
        return reply

    def _do(self, connection: str, command: Command) -> Any:
        """Execute commands on connections here, all others by the table."""
        if own := getattr(self, f"_{command[0].decode().lower()}", None):
            return own(connection, command)
        if waiting := blocking.TABLE.get(command[0]):
            return self.take_or_wait(connection, command, waiting)
        return commands.TABLE[command[0]].do(self.keys, command)

    def _multi(self, connection: str, _: Command) -> Reply:
        if connection in self.queued:  # Redis 7 carries on, newer servers abort at EXEC
            raise Undefined("MULTI inside MULTI")
        self.queued[connection] = []
        return OK

    def _discard(self, connection: str, _: Command) -> Reply:
        if connection not in self.queued:
            return Err("ERR DISCARD without MULTI")
        self._leave(connection)
        return OK

    def _exec(self, connection: str, _: Command) -> Reply:
        if connection not in self.queued:
            return Err("ERR EXEC without MULTI")
        spoilt = connection in self.spoilt
        unsure = self.keys.may_be_touched(connection)
        queue, touched = self._leave(connection)
        if spoilt:
            return Err(ABORTED)
        if touched:
            return None
        if unsure:
            raise Undefined("EXEC when a field of a watched hash has expired")
        return self._within(lambda: tuple(self._inner(connection, command) for command in queue))

    def _leave(self, connection: str) -> tuple[list[Command], bool]:
        """Leave MULTI: what was queued, and whether a watched key was touched."""
        self.spoilt.discard(connection)
        return self.queued.pop(connection), self.keys.unwatch(connection)

    def _within(self, do: Callable[[], Reply]) -> Reply:
        before, self.inside = self.inside, True
        try:
            return do()
        finally:
            self.inside = before

    def _inner(self, connection: str, command: Command) -> Reply:
        """Execute a command inside of EXEC or of a script."""
        try:
            commands.check(command)
            reply: Reply = self._do(connection, command)
        except CommandRefused as refused:
            return Err(str(refused))
        return reply

    def _watch(self, connection: str, command: Command) -> Reply:
        if connection in self.queued:
            raise Undefined("WATCH inside MULTI")
        self.keys.watch(connection, command[1:])
        return OK

    def _unwatch(self, connection: str, _: Command) -> Reply:
        self.keys.unwatch(connection)
        return OK

    def _eval(self, connection: str, command: Command) -> Reply:
        keys, args = scripts.parts(command)
        self.learn(command[1])
        return self._run(connection, command[1], keys, args)

    def _evalsha(self, connection: str, command: Command) -> Reply:
        keys, args = scripts.parts(command)
        name = command[1].lower()
        if name not in self.known:
            return Err("NOSCRIPT No matching script. Please use EVAL.")
        return self._run(connection, self.scripts[name], keys, args)

    def _run(
        self, connection: str, text: bytes, keys: tuple[bytes, ...], args: tuple[bytes, ...]
    ) -> Reply:
        return self._within(
            lambda: self.lua.run(
                text, keys, args, lambda command: self._in_a_script(connection, command)
            )
        )

    def _in_a_script(self, connection: str, command: Command) -> Reply:
        name = command[0]
        if name in NOT_IN_SCRIPTS:
            return Err("ERR This Redis command is not allowed from script")
        if name in commands.TABLE and blocking.may_wait(command):
            raise Undefined(f"{name.decode()} in a script")  # Redis 7 refuses it, others do not
        return self._inner(connection, command)

    def _script(self, _: str, command: Command) -> Reply:
        what = command[1].upper()
        if what == b"LOAD" and len(command) == 3:
            return self.learn(command[2])
        if what == b"EXISTS":
            return tuple(int(sha in self.known) for sha in command[2:])
        raise NotImplementedError(f"SCRIPT {what.decode()}")

    def _subscribe(self, connection: str, command: Command) -> Waits:
        """(P|S)SUBSCRIBE, (P|S)UNSUBSCRIBE: the answers come as messages, one for each channel."""
        if self.inside:
            raise NotImplementedError(f"{command[0].decode()} inside MULTI")
        if command[0].endswith(b"UNSUBSCRIBE"):
            self.channels.unsubscribe(connection, command)
        else:
            self.channels.subscribe(connection, command)
        return WAITS

    _psubscribe = _ssubscribe = _subscribe
    _unsubscribe = _punsubscribe = _sunsubscribe = _subscribe

    def _publish(self, _: str, command: Command) -> Reply:
        """PUBLISH, SPUBLISH."""
        return self.channels.publish(command)

    _spublish = _publish

    def _pubsub(self, _: str, command: Command) -> Reply:
        return self.channels.counted(command)

    def _ping(self, connection: str, command: Command) -> Reply:
        if connection in self.channels.on:
            return (b"pong", command[1] if len(command) > 1 else b"")
        return command[1] if len(command) > 1 else Ok("PONG")


def begun(
    now: int, setup: Sequence[Sequence[Command]], counts_given: bool = True
) -> list[ModelServer]:
    """Return servers after their setup commands; `now` in ms since 1970.

    `counts_given`: count how often entries are given from then on, too. The setup always counts.
    """
    servers = [ModelServer(now) for _ in setup]
    for server, received in zip(servers, setup, strict=True):
        for command in received:
            server.execute("", command)
        server.keys.counts_given = counts_given
    return servers
