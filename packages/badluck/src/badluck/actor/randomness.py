"""Random numbers from the search: different for each actor, and the same in each run.

A draw depends on the actor, on the place in its code, and on how many draws there were since its
last answer. So a loop that draws a new token at every try is still a loop that polls, and no two
actors get the same token.
"""

from __future__ import annotations

import hashlib
import random
import secrets
import sys
import uuid
from random import Random
from typing import Any

from greenlet import getcurrent

from badluck.actor import patching
from badluck.actor.actor import Fiber, here
from badluck.actor.patching import in_fiber

ON_THE_WAY = {random.__file__, secrets.__file__, uuid.__file__, patching.__file__, __file__}
# The functions of the module `random`, all based on random() and getrandbits().
DRAWS = (
    *("random", "getrandbits", "randbytes", "randrange", "randint", "choice", "choices"),
    *("shuffle", "sample", "uniform", "triangular", "betavariate", "expovariate"),
    *("gammavariate", "normalvariate", "lognormvariate", "vonmisesvariate", "paretovariate"),
    *("weibullvariate", "seed"),
)


class ActorRandom(Random):
    """The random numbers of an actor's code."""

    def random(self) -> float:
        return _draw(53) / 2**53

    def getrandbits(self, k: int, /) -> int:
        return _draw(k)

    def seed(self, *_: Any, **__: Any) -> None:
        """Ignore the seed: the search draws the random numbers."""


class SeededRandom(Random):
    """`random.Random`: without a seed, an actor's is seeded by the actor's own numbers."""

    def seed(self, a: Any = None, version: int = 2) -> None:
        unsown = a is None and isinstance(getcurrent(), Fiber)
        super().seed(_draw(64) if unsown else a, version)


def drawing(name: str) -> Any:
    """Return a function of that name in `random`; an actor's code draws our numbers."""
    return in_fiber(getattr(random, name), getattr(ActorRandom(), name))


def urandom(real: Any) -> Any:
    return in_fiber(real, lambda size: _draw(8 * size).to_bytes(size, "big"))


def a_uuid(real: Any) -> Any:
    """Return a UUID that shows in a chart which actor has drawn it: A, B, C or D."""
    return in_fiber(
        real,
        lambda *_, **__: uuid.UUID(f"{here().actor.name.lower() * 8}{0:08x}{_draw(64):016x}"),
    )


def _draw(bits: int) -> int:
    fiber = here()
    actor = fiber.actor
    actor.draws += 1
    frame = sys._getframe(1)
    while frame.f_code.co_filename in ON_THE_WAY and frame.f_back:
        frame = frame.f_back
    # Of the module, not of the file: a saved schedule is the same on another machine.
    place = f"{frame.f_globals.get('__name__')}:{frame.f_lineno}"
    text = f"{actor.name} {actor.fibers.index(fiber)} {place} {actor.draws}"
    size = (bits + 7) // 8
    drawn = hashlib.shake_256(text.encode()).digest(size)
    return int.from_bytes(drawn, "big") >> (8 * size - bits)
