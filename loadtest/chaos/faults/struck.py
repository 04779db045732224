"""What a fault met, and how it ends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field


def nothing() -> None:
    """It is over as soon as it is done."""


@dataclass
class Struck:
    """`ops` are the requests under way that it met, `unbooked` the sales that were no orders yet.

    `end` undoes it, after the step's seconds. `late` is asked at the end: ops that it met since.
    """

    detail: str
    ops: set[int] = field(default_factory=set)
    unbooked: int = 0
    end: Callable[[], None] = nothing
    late: Callable[[], set[int]] = set
    happened: bool = True


MISSED = Struck("there was nothing to strike")
