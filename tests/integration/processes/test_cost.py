"""What an empty request and a sale cost beside what is usual, in CPU of all processes, by wrk."""

from __future__ import annotations

import os
import statistics

import pytest

from loadtest import wrk
from loadtest.throughput.rows import NOOP, PLAIN, USUAL
from loadtest.throughput.run import measure
from loadtest.throughput.servers import ITEM, servers

pytestmark = [pytest.mark.alone, pytest.mark.soak]

ROWS = [PLAIN, USUAL, NOOP, "atomic"]
SALE = 1.2  # of the usual shop's CPU, at the most: that one books nothing and knows no keys
EMPTY = 1.1  # of plain Flask's, for a request that does nothing
CONNECTIONS = 64
FEW, MANY = 3, 20  # rounds: in `make test`, in the soak
SECONDS = 1


def test_a_booked_sale_costs_no_more_than_the_usual_shops(runs: int) -> None:
    """CPU, not answers a second: other processes take the cores, and no CPU that is counted here.

    Not held to our own no-op: that was made cheaper by more than a sale was, and whoever makes it
    dearer would have passed. docs/decisions/cost-beside-a-no-op.md
    """
    if wrk.path() is None:
        assert not os.environ.get("CI"), "CI needs wrk: .ci/run installs it"
        pytest.skip("no wrk here; on Debian: apt install wrk")
    sales, empty = [], []
    with servers() as place:
        for repeat in range(MANY if runs > 1 else FEW):
            rows = ROWS if repeat % 2 else ROWS[::-1]  # a drift favours neither
            cpu = {
                name: measure(place, name, CONNECTIONS, SECONDS, repeat).cpu_us or 0.0
                for name in rows
            }
            sales.append(cpu["atomic"] / cpu[USUAL])
            empty.append(cpu[NOOP] / cpu[PLAIN])
        running = place.lab.running_round(ITEM)
        assert running
        assert place.lab.audit(ITEM, running.number)["verdict"] == "exact"
    for what, ratios in (("a sale", sales), ("an empty request", empty)):
        print(f"{what}: {min(ratios):.2f} – {statistics.fmean(ratios):.2f} – {max(ratios):.2f}")
    assert statistics.fmean(sales) <= SALE, sales
    assert statistics.fmean(empty) <= EMPTY, empty
