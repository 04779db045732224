"""The lock's four scripts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from hashlib import sha1

from app.store import lua


@dataclass(frozen=True)
class Script:
    """One script; `hands_over` when it needs what gives the lock to the next in line."""

    name: str
    hands_over: bool = True

    @cached_property
    def text(self) -> str:
        shared = lua.source("queue/hand_over") if self.hands_over else ""
        return shared + lua.source(f"queue/{self.name}")

    @cached_property
    def sha(self) -> str:
        """What EVALSHA calls it."""
        return sha1(self.text.encode(), usedforsecurity=False).hexdigest()


ACQUIRE = Script("acquire")
TAKE = Script("take", hands_over=False)
RELEASE = Script("release")
LEAVE = Script("leave")
