"""One cell, in a process of its own: Locust as a library, buyers in a closed loop.

    python -m loadtest.cell '{"url": "http://127.0.0.1:8000", "buyers": 32, "item": "apple"}'

The argument is a `generator.Load`, the output a `window.Figures`, both as JSON.
"""

from __future__ import annotations

import json
import sys
import time
from argparse import Namespace
from dataclasses import asdict

import gevent
import uuid_utils
from locust.env import Environment
from locust.runners import LocalRunner

from loadtest.answers import ERROR, ShopAnswer
from loadtest.buyers import HEADERS, Buyer
from loadtest.generator import LAST_ANSWERS_S, QUIET, SELL_OUT_LIMIT, WARM_UP, Load
from loadtest.window import LoadFigures, Sample, measure


class Noop(Buyer):
    """Sends the same request and gets the same answer without a sale: the yardstick."""

    def path(self) -> str:
        return "/noop"


class Keyed(Buyer):
    """Sends a fresh key with each request, to any shop: only the outcome in its answer is read."""

    def path(self) -> str:
        item = self.environment.parsed_options.item
        return f"/buy/{item}" if item else "/noop"

    def headers(self) -> dict[str, str]:
        return HEADERS | {"Idempotency-Key": str(uuid_utils.uuid7())}

    def read(self, status: int, body: bytes) -> ShopAnswer:
        try:
            return ShopAnswer(json.loads(body)["outcome"])
        except (ValueError, KeyError, TypeError):
            return ShopAnswer(ERROR, why=f"{status} with a body without an outcome")


class LoadCell:
    """Runs one load. It collects the samples itself: Locust's own statistics round them."""

    def __init__(self, load: Load) -> None:
        self.load = load
        self.good = load.wanted or ("SOLD" if load.item else "NOOP")
        self.samples: list[Sample] = []
        self.last_good = 0.0
        self.environment = Environment(
            user_classes=[Keyed if load.wanted else Buyer if load.item else Noop],
            host=load.url,
            stop_timeout=LAST_ANSWERS_S,
            parsed_options=Namespace(item=load.item),
        )
        self.environment.events.request.add_listener(self.collect)

    def collect(self, response_time: float, context: dict[str, ShopAnswer], **_: object) -> None:
        now = time.perf_counter()
        answer = context["answer"]
        if answer.outcome == self.good:
            self.last_good = now
        self.samples.append(Sample(now, response_time, answer))

    def run(self) -> LoadFigures:
        runner = self.environment.create_local_runner()
        runner.start(self.load.buyers, spawn_rate=self.load.buyers)
        if self.load.seconds is None:
            return self.until_sold_out(runner)
        return self.for_a_time(runner, self.load.seconds)

    def for_a_time(self, runner: LocalRunner, seconds: float) -> LoadFigures:
        """Measure for `seconds`, in the middle of a longer load: other answers do not count."""
        gevent.sleep(WARM_UP)
        start, used = time.perf_counter(), time.process_time()
        gevent.sleep(seconds)
        end, used = time.perf_counter(), time.process_time() - used
        runner.stop()
        return measure(self.samples, start, end, used, self.good)

    def until_sold_out(self, runner: LocalRunner) -> LoadFigures:
        """Measure until sold out; every answer counts, also the last ones while the buyers stop."""
        start, used = time.perf_counter(), time.process_time()
        self.last_good = start
        while (now := time.perf_counter()) < start + SELL_OUT_LIMIT:
            if now > self.last_good + QUIET:
                break
            gevent.sleep(0.05)
        runner.stop()
        end, used = time.perf_counter(), time.process_time() - used
        return measure(self.samples, start, end, used, self.good)


def main() -> None:
    cell = LoadCell(Load(**json.loads(sys.argv[1])))
    figures = cell.run()
    json.dump(asdict(figures), sys.stdout)


if __name__ == "__main__":
    main()
