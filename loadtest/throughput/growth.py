"""Sales under growth: more contenders, more items, more orders in the books."""

from __future__ import annotations

import http.client
import json
import time
from dataclasses import dataclass

from figures import Spread, spread

from loadtest import RunFailed
from loadtest.lab import TIMEOUT
from loadtest.run import ENDLESS
from loadtest.throughput.load import Answers, send
from loadtest.throughput.run import WARM_UP, Step
from loadtest.throughput.servers import ITEM, ServerSet

MIB = 1 << 20
CROWD = 64  # connections while items or books grow
FILL_S = 5.0  # s of selling between two counts of the orders
FILL_LIMIT = 3_600.0  # s to sell all orders that the books need


@dataclass(frozen=True)
class GrowthPlan:
    mode: str
    contenders: list[int]
    items: list[int]
    books: list[int]  # orders
    seconds: float
    repeats: int


@dataclass(frozen=True)
class Point:
    """The figures with `of` contenders, items or orders. Times in ms.

    Memory in MiB at the end: resident in all processes except the store's, and the store's own
    figure.
    """

    grows: str
    of: int
    per_s: Spread | None
    p99_ms: Spread | None
    processes_mib: float
    store_mib: float

    def document(self) -> dict[str, str | float | None]:
        return {
            "name": f"{self.grows}: {self.of:,}",
            "grows": self.grows,
            "of": self.of,
            "connections": self.of if self.grows == "contenders" else CROWD,
            "per_s": self.per_s and round(self.per_s.median, 1),
            "min": self.per_s and round(self.per_s.low, 1),
            "max": self.per_s and round(self.per_s.high, 1),
            "p99_ms": self.p99_ms and round(self.p99_ms.median, 3),
            "processes_mib": round(self.processes_mib, 1),
            "store_mib": round(self.store_mib, 1),
            "p50_ms": None,
            "ratio_noop": None,
            "ratio_usual": None,
        }


class Growth:
    def __init__(self, plan: GrowthPlan, place: ServerSet, step: Step) -> None:
        self.plan = plan
        self.place = place
        self.step = step
        self.booked = 0  # orders, by what wrk counted

    def run(self) -> list[Point]:
        """Measure the growth of the books first: every other sale makes them grow, too.

        Raises RunFailed.
        """
        books = self.books()
        return [*self.contenders(), *self.items(), *books]

    def contenders(self) -> list[Point]:
        return [self.point("contenders", of, [ITEM], of) for of in self.plan.contenders]

    def items(self) -> list[Point]:
        shelf = [entry["slug"] for entry in listed(self.place.ours.url)]
        return [
            self.point("items", of, shelf[:of], CROWD) for of in self.plan.items if of <= len(shelf)
        ]

    def books(self) -> list[Point]:
        points = []
        for of in self.plan.books:
            self.fill(of)
            points.append(self.point("orders in the books", self.booked, [ITEM], CROWD))
        return points

    def point(self, grows: str, of: int, items: list[str], connections: int) -> Point:
        """Measure all repeats, one after the other, each in rounds of its own."""
        came = []
        for repeat in range(1, self.plan.repeats + 1):
            with self.step(f"{grows} {of:,}, repeat {repeat}"):
                came.append(self.sell(items, connections, self.plan.seconds))
        times = spread(answers.p99_ms for answers in came)
        speed = spread(answers.per_s for answers in came)
        used = self.place.store.info("memory")["used_memory"] / MIB
        return Point(grows, of, speed, times, self.place.ours.memory() / MIB, used)

    def sell(
        self, items: list[str], connections: int, seconds: float, stock: int = ENDLESS
    ) -> Answers:
        """Sell from `stock` units of each item, and wait until all sales are booked."""
        url, lab = self.place.ours.url, self.place.lab
        rounds = {item: lab.start_round(item, stock, self.plan.mode) for item in items}
        warm = send(url, items[0], "SOLD", connections, WARM_UP, *items[1:])
        answers = send(url, items[0], "SOLD", connections, seconds, *items[1:])
        if not warm.good:
            raise RunFailed(f"Nothing was sold by {self.plan.mode}.")
        for item, number in rounds.items():
            lab.audit(item, number)
        self.booked += warm.good + answers.good
        return answers

    def fill(self, orders: int) -> None:
        """Sell until the books have `orders` orders, as fast as the shop can."""
        limit = time.monotonic() + FILL_LIMIT
        while self.booked < orders:
            if time.monotonic() > limit:
                raise RunFailed(f"{self.booked:,} of {orders:,} orders after {FILL_LIMIT:g} s.")
            with self.step(f"{self.booked:,} of {orders:,} orders in the books"):
                self.sell([ITEM], CROWD, FILL_S, orders - self.booked)


def listed(url: str) -> list[dict[str, str]]:
    """Return the items on the shelf."""
    connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=TIMEOUT)
    try:
        connection.request("GET", "/items", headers={"Accept": "application/json"})
        shelf: list[dict[str, str]] = json.loads(connection.getresponse().read())
    except (OSError, ValueError) as away:
        raise RunFailed(f"{url}/items does not answer: {away}") from away
    finally:
        connection.close()
    return shelf
