"""The lock's four scripts; each file's header lists KEYS, ARGV and the result."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import sha1
from importlib.resources import files


@cache
def source(name: str) -> str:
    """Return the text of lua/`name`.lua."""
    return (files("fairlock") / "lua" / f"{name}.lua").read_text(encoding="utf-8")


@dataclass(frozen=True)
class Script:
    """One script; `hands_over` if it needs the code that gives the lock to the next in line."""

    name: str
    hands_over: bool = True

    @cached_property
    def text(self) -> str:
        shared = source("hand_over") if self.hands_over else ""
        return shared + source(self.name)

    @cached_property
    def sha(self) -> str:
        """Return the SHA that EVALSHA takes."""
        return sha1(self.text.encode(), usedforsecurity=False).hexdigest()


ACQUIRE = Script("acquire")
TAKE = Script("take", hands_over=False)
RELEASE = Script("release")
LEAVE = Script("leave")
