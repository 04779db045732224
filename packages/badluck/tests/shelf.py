"""A module of a project, for test_own_process.py: each actor has its own copy of the variables."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any, ClassVar

LEASE = 5
NAMES = ("a", "b")
JOBS = ["a", "b"]
sold: deque[str] = deque()
count = 0


class Log:
    seen: ClassVar[list[str]] = []
    many: ClassVar[int] = 0


@dataclass
class Kept:
    words: list[str] = field(default_factory=list)


kept = Kept()


def sells(redis: Any) -> None:
    redis.set(NAMES[0], 1, px=LEASE)
    sold.append("one")


def counts(redis: Any) -> None:
    global count
    count += redis.incr("n")


def logs(redis: Any) -> None:
    Log.seen.append(redis.get("n"))
    Log.many += 1


def keeps(redis: Any) -> None:
    kept.words.append(redis.get("n"))


def how_many() -> int:
    return len(sold)
