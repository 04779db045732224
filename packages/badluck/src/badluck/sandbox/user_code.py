"""Base class of all targets made of a user's code."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any

from badluck.actor import process_patches
from badluck.actor.actor import Actor, Code, Files
from badluck.actor.command_text import LOCK_SCRIPTS, CommandText, decoded
from badluck.model.values import Command, Entry, Hash, SortedSet, Stream, Value
from badluck.target import PLAIN

# redis-py's lock finds its scripts in the store, as it does from the second time on.
LOAD_LOCK_SCRIPTS: list[Command] = [
    (b"SCRIPT", b"LOAD", text.encode()) for text in LOCK_SCRIPTS.values()
]


class UserCode(ABC):
    """Half of a Target, for code of which nothing is known beforehand."""

    expected: tuple[bytes, ...] = ()  # keys that are right, besides those that it finds
    vocabulary = PLAIN
    harness: tuple[str, ...] = ()  # see Code
    # ms: longer than a lease in any tutorial, than one of an hour, and than one of a month.
    pauses = (600_000, 2 * 3_600_000, 31 * 86_400_000)
    locks = False
    alike = False  # how it uses a name is unknown
    names_follow: Sequence[bytes] = ()
    reuse_tokens = False
    gave_up: str | None = None
    lock_key: bytes | None = None

    @property
    def words(self) -> CommandText:
        return CommandText(bytes_as_such=True)

    @property
    @abstractmethod
    def files(self) -> Files: ...

    @abstractmethod
    def work(self, actor: Actor) -> str:
        """Do an actor's work; return its answer. Raises UserCodeError for a mistake in the code."""

    @property
    def code(self) -> Code:
        return Code(
            self.work,
            harness=self.harness,
            words=self.words,
            keys=self.expected,
            files=self.files,
            errors=(SystemExit,),
        )

    def moments(self, _: dict[bytes, Entry]) -> Iterable[int]:
        return ()  # only its author knows what its values mean

    def surroundings(self) -> AbstractContextManager[object]:
        return process_patches.of_its_own()

    def terms(self) -> dict[str, Any]:
        return {}


def value_text(value: Value | None) -> str:
    """Return `[a, b]` for a list, `{a, b}` for a set, `{a: 1}` …; for a stream its length."""
    match value:
        case None:
            return ""
        case bytes():
            return decoded(value)
        case Stream():
            return str(len(value.entries))
        case Hash():
            pairs = (f"{decoded(field)}: {decoded(content)}" for field, content in value.pairs)
            return f"{{{', '.join(pairs)}}}"
        case SortedSet():
            ranked = sorted((score, member) for member, score in value.scores)
            scored = (f"{decoded(member)}: {score:g}" for score, member in ranked)
            return f"{{{', '.join(scored)}}}"
        case frozenset():
            return f"{{{', '.join(map(decoded, sorted(value)))}}}"
    return f"[{', '.join(map(decoded, value))}]"
