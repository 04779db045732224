"""Running totals of a stampede's answers. No I/O."""

from __future__ import annotations

import math
import time
from collections import Counter, deque
from typing import TypedDict

from figures import rank

from loadtest.answers import ShopAnswer

WINDOW = 2  # lines whose sales make up the goodput: one second
FINE = 100  # latencies are kept to 1/FINE of their natural logarithm: within 0.5 %


class Line(TypedDict):
    """The answers so far, as JSON. None: nothing was sold yet.

    `took_s` is the time since the first buyer came, `buyers` how many have come. `goodput` is sales
    a second in the last second, `overall` up to the last sale, which came after `lasted_s`.
    `generator_cpu` is the share of one core that this process took until then. `answers` counts by
    outcome, `retries` the attempts beyond each purchase's first. The percentiles are of all sales.
    """

    took_s: float
    buyers: int
    goodput: float
    overall: float | None
    lasted_s: float
    generator_cpu: float | None
    answers: dict[str, int]
    retries: int
    p50_ms: float | None
    p95_ms: float | None
    p99_ms: float | None


class Feed:
    """Running totals of the answers. Their memory does not grow."""

    def __init__(self) -> None:
        self.begin()
        self.answers: Counter[str] = Counter()
        self.retries = 0
        self.latencies: Counter[int] = Counter()  # of sales, by the logarithm of their ms
        self.sales: deque[tuple[float, int]] = deque([(self.start, 0)], maxlen=WINDOW + 1)

    def begin(self) -> None:
        """Note that the first buyer comes now."""
        self.start = self.last_sale = time.perf_counter()
        self.cpu = self.cpu_at_last_sale = time.process_time()

    def collect(self, response_time: float, context: dict[str, ShopAnswer], **_: object) -> None:
        answer = context["answer"]
        self.answers[answer.outcome] += 1
        self.retries += max(0, answer.attempts - 1)
        if answer.outcome == "SOLD":
            self.last_sale = time.perf_counter()
            self.cpu_at_last_sale = time.process_time()
            self.latencies[round(math.log(max(response_time, 0.01)) * FINE)] += 1

    def line(self, buyers: int) -> Line:
        now, sold = time.perf_counter(), self.answers["SOLD"]
        self.sales.append((now, sold))
        (before, sold_before), _ = self.sales[0], self.sales[-1]
        took = self.last_sale - self.start
        return {
            "took_s": round(now - self.start, 2),
            "buyers": buyers,
            "goodput": round((sold - sold_before) / (now - before), 1),
            "overall": round(sold / took, 1) if sold and took else None,
            "lasted_s": round(took, 3),
            "generator_cpu": round((self.cpu_at_last_sale - self.cpu) / took, 2) if took else None,
            "answers": dict(self.answers),
            "retries": self.retries,
            "p50_ms": self.percentile(50),
            "p95_ms": self.percentile(95),
            "p99_ms": self.percentile(99),
        }

    def percentile(self, part: int) -> float | None:
        """Return the ms that `part` % of the sales took at most."""
        wanted, counted = rank(self.latencies.total(), part), 0
        for bucket, count in sorted(self.latencies.items()):
            counted += count
            if counted >= wanted:
                return round(math.exp(bucket / FINE), 2)
        return None
