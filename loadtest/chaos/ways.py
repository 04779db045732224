"""The ways to sell that chaos is about: all that are not broken on purpose, and can run here."""

from __future__ import annotations

from app.locks import LOCKS
from app.modes import MODES, Way
from loadtest.chaos import ChaosFailed

# Its servers are no process of ours: a ZooKeeper is nothing that a wheel brings.
ELSEWHERE = ("lock:zookeeper",)


def every(postgresql: bool) -> list[str]:
    """All ways that such a database lets sell, exhibits too: `mode`, or `lock:recipe`."""
    ways = [name for name in MODES if name != "lock"] + [f"lock:{recipe}" for recipe in LOCKS]
    lacking = () if postgresql else [way for way in ways if Way.of(way).in_rows]
    return [way for way in ways if way not in (*ELSEWHERE, *lacking)]


def sound(postgresql: bool) -> list[str]:
    """Those that keep their promise."""
    return [way for way in every(postgresql) if not Way.of(way).exhibit]


def chosen(text: str, postgresql: bool) -> list[str]:
    """Of `a,b,lock:c`; all sound ones of an empty text. Raises ChaosFailed for one we lack."""
    ways, known = [way.strip() for way in text.split(",") if way.strip()], every(postgresql)
    if unknown := [way for way in ways if way not in known]:
        raise ChaosFailed(f"There is no {unknown[0]!r} here. There are: {', '.join(known)}.")
    return ways or sound(postgresql)
