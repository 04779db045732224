"""A user's file as a target: a function, the setup commands of the store, and rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from badluck.actor.actor import Actor
from badluck.actor.command_text import decoded
from badluck.actor.connection import RESENDS, SENDS_ONCE, client
from badluck.findings.endless_wait import STARVED, STUCK
from badluck.findings.exception_rule import MISTAKE
from badluck.findings.inferred_lock_rules import DELETED_BY_ANOTHER, LEAKED, TWO_HOLDERS
from badluck.model.server import begun
from badluck.model.values import Command, Entry, Value
from badluck.rule import Rule
from badluck.sandbox.user_code import LOAD_LOCK_SCRIPTS, value_text
from badluck.sandbox.user_file import UserFile
from badluck.target import EPOCH, Shown, StoredLock


class Contents(NamedTuple):
    """Contents of the store for rules, as `view.book`."""

    keys: dict[str, Value]  # strings are bytes, lists tuples of bytes, sets frozensets
    lock: StoredLock | None


@dataclass(frozen=True)
class Program(UserFile):
    """Each actor calls `run(redis, name)` of the file `path`; what that returns is its outcome.

    `redis` is a client as redis.Redis() gives, `name` is A, B, C or D. Each actor runs the file
    again.
    """

    parameters = ("redis", "name")

    path: Path
    prepare: Sequence[Sequence[str | int]] = ()  # commands, as words: ("SET", "tickets", 1)
    wrong: Sequence[Rule] = ()  # what can be wrong, the gravest first
    function: str = "run"
    show: Sequence[str] = ()  # keys whose values a chart shows at each step
    lock_key: bytes | None = None  # of a lock, that is shown as well
    gave_up: str | None = None  # the answer of a run() that has given up
    client_retries: bool = False  # as redis-py does by default

    @property
    def rules(self) -> Sequence[Rule]:
        two = (TWO_HOLDERS,) if self.lock_key else ()  # the author knows the meaning of others
        return (*self.wrong, MISTAKE, STUCK, *two, DELETED_BY_ANOTHER, LEAKED, STARVED)

    @property
    def setting(self) -> str:
        return f"each {self.signature} of {self.name}"

    def terms(self) -> dict[str, Any]:
        return {"retries": "default" if self.client_retries else 0}

    def setup(self) -> list[list[Command]]:
        commands = [tuple(str(word).encode() for word in words) for words in self.prepare]
        return [[*LOAD_LOCK_SCRIPTS, *commands]]

    def filled_up(self, entries: dict[bytes, Entry]) -> dict[bytes, Entry]:
        lock = {key: entry for key, entry in entries.items() if key == self.lock_key}
        return begun(EPOCH, self.setup())[0].keys.entries | lock

    def arguments(self, actor: Actor) -> tuple[Any, ...]:
        return client(retry=RESENDS if self.client_retries else SENDS_ONCE), actor.name

    def outcome(self, said: object) -> str:
        return str(said)

    def book(self, entries: dict[bytes, Entry], *_: dict[bytes, Entry]) -> Contents:
        held = entries.get(self.lock_key or b"")
        lock = None
        if held and isinstance(held.value, bytes):
            lock = StoredLock(held.value, held.expires is not None, held.expires)
        return Contents({decoded(key): entry.value for key, entry in entries.items()}, lock)

    def shown(self, book: Contents) -> Shown:
        names = (*self.show, *([decoded(self.lock_key)] if self.lock_key else []))
        return {name: value_text(book.keys.get(name)) for name in names}
