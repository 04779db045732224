"""The plan: rounds to play, and faults during them. Same seed, same plan.

A run is acts of some seconds. In an act several items are sold at once, each in a few rounds, while
the plan's faults are injected. Then everything is repaired, the rounds end, and the books are read.
A buyer's actions are drawn from a seed of the buyer's own.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from loadtest.chaos.history import Kind, Part

ITEMS = ("apple", "pear", "plum", "cherry")  # sold at once
LONGEST = 7.0  # s that a fault lasts at most
LEASE = 1_000  # ms; a busy machine stalls for less
FIRST = 0.6  # s of an act until the first fault: buyers are buying by then

FaultSpec = tuple[Kind, Part]


@dataclass(frozen=True, slots=True)
class PlannedRound:
    """One round, for `seconds`, with `buyers` at a time; times in ms as a round has them.

    `limit` is the most units that one buyer may have; 0: no limit. `hold` is how long a purchase is
    held until it is paid for; 0: it is sold at once. `switched`: the round before is not ended
    first, but replaced while buyers buy.
    """

    mode: str
    stock: int
    seconds: float
    buyers: int
    think: int
    lease: int
    wait: int
    limit: int
    hold: int
    switched: bool
    delay: int = 0  # until it opens


@dataclass(frozen=True, slots=True)
class FaultStep:
    """`at` s after the act's begin, fault `kind` hits `where`, for `seconds`.

    `delay` is the s of a DELAY. `fate` in [0, 1) chooses among the things that only the running
    shop has, a worker or a connection.
    """

    at: float
    kind: Kind
    where: Part
    seconds: float
    delay: float
    fate: float


@dataclass(frozen=True, slots=True)
class Act:
    number: int
    seed: int  # of its buyers
    lanes: tuple[
        tuple[str, tuple[PlannedRound, ...]], ...
    ]  # item -> its rounds, one after the other
    steps: tuple[FaultStep, ...]

    @property
    def seconds(self) -> float:
        return max(sum(each.seconds for each in rounds) for _, rounds in self.lanes)


def act(
    seed: int, number: int, modes: Sequence[str], targets: Sequence[FaultSpec], holds: bool = False
) -> Act:
    """Return the run's act of that number. `targets` are the faults that are possible here.

    With `holds` most rounds have holds.
    """
    chance = random.Random(f"{seed}/{number}")  # noqa: S311  a plan, no secret
    # Each mode has its turn: the n-th lane of all acts plays the n-th of a shuffled pack.
    turn = (number * len(ITEMS) * 2) % len(modes)
    pack = [modes[(turn + n) % len(modes)] for n in range(len(ITEMS) * 2)]
    chance.shuffle(pack)
    opening = random.Random(f"{seed}/{number}/opening")  # noqa: S311  a plan, no secret
    lanes = tuple(
        (
            item,
            tuple(
                replace(
                    _round(chance, pack.pop(), holds, second), delay=opening.choice((0, 0, 0, 600))
                )
                for second in (False, True)
            ),
        )
        for item in ITEMS
    )
    long = min(sum(each.seconds for each in rounds) for _, rounds in lanes)
    count = chance.randint(3, 5)
    steps = [_step(chance, chance.choice(targets), long) for _ in range(count)]
    return Act(
        number, chance.randrange(2**32), lanes, tuple(sorted(steps, key=lambda step: step.at))
    )


def _round(chance: random.Random, mode: str, holds: bool, second: bool) -> PlannedRound:
    thinks = mode.startswith(("lock", "watch", "fenced", "decr", "fused"))
    return PlannedRound(
        mode=mode,
        stock=chance.randint(5, 40),
        seconds=round(chance.uniform(2.5, 4.0), 2),
        buyers=chance.randint(4, 8),
        think=chance.choice((0, 20, 60)) if thinks else 0,
        lease=LEASE,
        wait=chance.choice((300, 1_000)),
        limit=chance.choice((0, 0, 4, 7)),
        hold=chance.choice((0, 600, 1_000, 2_000)) if holds else 0,
        switched=second and chance.random() < 0.7,
    )


def _step(chance: random.Random, target: FaultSpec, long: float) -> FaultStep:
    kind, where = target
    at = chance.uniform(FIRST, long - 0.5)
    seconds = {
        Kind.KILL: chance.uniform(0.1, 0.6),  # until it is restarted
        # A lease lasts 1, a dead worker 5. A process that sleeps longer finds its round over.
        Kind.FREEZE: chance.choice((1.5, 1.5, 2.5, 4.0, 6.0)),
        Kind.FAILOVER: chance.uniform(0.05, 0.5),  # that the replica is cut off
        Kind.CLOCK: chance.uniform(1.0, 3.0),
        Kind.DISK_FULL: chance.uniform(0.4, 1.5),
    }.get(kind, chance.uniform(0.2, 1.2))
    delay = chance.choice((0.02, 0.1, 0.35, 0.7, 1.5))
    return FaultStep(round(at, 2), kind, where, round(seconds, 2), delay, chance.random())


def plan_run(
    seed: int, minutes: float, modes: Sequence[str], targets: Sequence[FaultSpec], holds: bool
) -> Iterator[Act]:
    """Yield the acts of a run: as many as fit if nothing takes longer than planned."""
    played = 0.0
    for number in itertools.count():
        if played >= minutes * 60:
            return
        yield (made := act(seed, number, modes, targets, holds))
        played += made.seconds
