"""64 contenders in four processes, some of which are frozen or killed meanwhile."""

from __future__ import annotations

import random
import time
from functools import partial
from itertools import pairwise
from typing import cast

import pytest
from fairlock.queue import HANDOVER_S

from app.bootstrap import Services
from tests.support.forked_process import Forked
from tests.support.lock_contenders import KEY, LOG, crowd
from tests.support.servers import until

RUNS_ON = ["valkey", "cluster"]

PROCESSES, THREADS, LEASE = 4, 16, 2.0
BUSY = 10.0  # s; no process of a busy machine waits longer for its turn
FROZEN = 0.5  # s; shorter than the lease: a frozen holder keeps its lock
# A holder is killed with all waiters of a frozen process next in line, on two busy cores.
LONGEST_STALL = LEASE + THREADS * HANDOVER_S + BUSY


@pytest.mark.soak
@pytest.mark.parametrize("disturbed", [False, True], ids=["left alone", "frozen and killed"])
@pytest.mark.alone
def test_a_crowd_is_served_one_at_a_time_and_never_stalls(
    services: Services, runs: int, disturbed: bool
) -> None:
    """A minute with `--runs 20`, a share of it with fewer."""
    seed = random.randrange(1_000_000)
    chance = random.Random(seed)
    # In the undisturbed run, a lost call would stall them for a lease, which is longer than BUSY.
    makes = partial(Forked, crowd, services.settings, THREADS, LEASE if disturbed else 60.0)
    members = [makes() for _ in range(PROCESSES)]
    until(lambda: services.store.xlen(LOG) > 0, 30)
    end = time.monotonic() + 3 * runs
    deeds = 0
    while time.monotonic() < end:
        time.sleep(0.7)
        if not disturbed:
            continue
        deeds += 1
        victim = chance.randrange(PROCESSES)
        if chance.random() < 0.7:
            members[victim].freeze()
            time.sleep(FROZEN)
            members[victim].thaw()
        else:
            members[victim].close()
            members[victim] = makes()
    for each in members:
        each.tell("go")
    assert [each.ends() for each in members] == [0] * PROCESSES
    for each in members:
        each.close()
    log = cast(list[tuple[bytes, dict[bytes, bytes]]], services.store.xrange(LOG))
    numbers = [int(fields[b"number"]) for _, fields in log]
    times = [int(id.split(b"-")[0]) for id, _ in log]
    stall = max(after - before for before, after in pairwise(times)) / 1000
    print(
        f"crowd of {PROCESSES} x {THREADS}, seed {seed}: {len(log):,} sections in {3 * runs} s, "
        f"{deeds} times frozen or killed, longest stall {stall:.2f} s"
    )
    assert numbers == list(range(len(numbers))), "two were inside"
    assert stall < (LONGEST_STALL if disturbed else BUSY)
    assert not services.store.exists(KEY)
    assert not services.store.exists(f"{KEY}:line")
