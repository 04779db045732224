"""The model as a backend: a schedule one step after the other, as on real servers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from badluck.actor.request import Lost
from badluck.errors import BadluckError
from badluck.model.server import begun
from badluck.model.values import Command, Entry, Reply
from badluck.search.server_states import ServerStates


class ModelBackend:
    """Does in the model what `RealBackend` does for real."""

    def begin(self, now: int, setup: Sequence[Sequence[Command]]) -> None:
        self.servers = ServerStates(begun(now, setup))
        self.at = self.servers.start
        self.before: int | None = None  # the last write

    def send(self, name: str, commands: Sequence[Command]) -> tuple[Reply, ...] | Lost:
        step = self.servers.send(self.at, name, tuple(commands))
        if step.wrote:
            self.before = self.at
        self.at = step.to
        return step.replies

    def hear(self, name: str) -> tuple[Reply, ...] | Lost:
        step = self.servers.hear(self.at, name)
        if step is None:
            return ()
        self.at = step.to
        return step.replies

    def close(self, name: str) -> None:
        self.at = self.servers.drop(self.at, (name,))

    def pass_time(self, now: int) -> None:
        self.at = self.servers.pass_time(self.at, now)
        if self.before is not None:
            self.before = self.servers.pass_time(self.before, now)

    def fail_over(self) -> None:
        which = None
        if self.before is not None:
            which = self.servers.written_last(self.at, self.before)
        if self.before is None or which is None:
            raise BadluckError("The trace loses a write, and nothing has been written.")
        self.at, self.before = self.servers.fail_over(self.at, self.before, which), None

    def stores(self) -> list[dict[bytes, Entry]]:
        return self.servers.stores(self.at)

    def fill_up(self, fill: Callable[[dict[bytes, Entry]], dict[bytes, Entry]]) -> None:
        self.at = self.servers.fill_up(self.at, fill)
