"""Where a schedule is played step by step: on real servers, or in the model of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from badluck.actor.request import Lost
from badluck.model.values import Command, Entry, Reply


class Backend(Protocol):
    """`RealBackend` for real, `ModelBackend` in the model.

    A connection's name begins with the number of its server.
    """

    def begin(self, now: int, setup: Sequence[Sequence[Command]]) -> None:
        """Start with empty servers, and send each its setup commands."""

    def send(self, name: str, commands: Sequence[Command]) -> tuple[Reply, ...] | Lost:
        """Return the immediate replies; Lost when the connection had broken before."""

    def hear(self, name: str) -> tuple[Reply, ...] | Lost:
        """Return one of its unread messages, if there is any."""

    def close(self, name: str) -> None: ...

    def pass_time(self, now: int) -> None: ...

    def fail_over(self) -> None:
        """Let the last written server forget that write. Raises BadluckError without a write."""

    def stores(self) -> list[dict[bytes, Entry]]:
        """Return the keys of each server."""

    def fill_up(self, fill: Callable[[dict[bytes, Entry]], dict[bytes, Entry]]) -> None:
        """Replace the store's keys by what `fill` makes of them."""
