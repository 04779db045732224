"""The run: at each number of connections every row in turn, repeated as often as wanted."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from importlib.util import find_spec

from loadtest import RunFailed
from loadtest.generator import run_program
from loadtest.lab import request
from loadtest.rows import label
from loadtest.run import ENDLESS
from loadtest.throughput.load import Answers, send
from loadtest.throughput.rows import NOOP, PEER_OF, PEERS, PLAIN, RAW, SOLD_OUT, USUAL, Measurement
from loadtest.throughput.servers import ITEM, LoadedServer, ServerSet

WARM_UP = 1  # s before each window, of the same load: connections, scripts, the round
Step = Callable[[str], AbstractContextManager[None]]


@dataclass(frozen=True)
class ThroughputPlan:
    modes: list[str]
    connections: list[int]
    seconds: float  # of each window
    repeats: int

    @property
    def names(self) -> list[str]:
        first = [f"{self.modes[0]}{SOLD_OUT}"] if self.modes else []
        return [RAW, PLAIN, USUAL, *self.peers.values(), NOOP, *self.modes, *first]

    @property
    def peers(self) -> dict[str, str]:
        """The peers' rows, by PEER: the yardsticks of some modes."""
        wanted = {PEER_OF.get(mode.partition(":")[0]) for mode in self.modes}
        available = {"watch", *(["lock"] if find_spec("redis_lock") else [])}
        return {peer: row for peer, row in PEERS.items() if row in wanted and peer in available}

    def cells(self) -> Iterator[tuple[int, int, str]]:
        """Yield (repeat, connections, name): every second repeat runs backwards."""
        for repeat in range(1, self.repeats + 1):
            for connections in self.connections:
                for name in self.names if repeat % 2 else reversed(self.names):
                    yield repeat, connections, name


def run(plan: ThroughputPlan, place: ServerSet, step: Step) -> list[Measurement]:
    """Measure every cell inside a `step` of its name. Raises RunFailed."""
    about, made = place.lab.about(), []
    for repeat, connections, name in plan.cells():
        mode = name.removesuffix(SOLD_OUT)
        broken = mode in plan.modes and about.exhibit(mode)
        with step(f"repeat {repeat}: {label(name, broken)}, {connections} connections"):
            cell = measure(place, name, connections, plan.seconds, repeat)
        made.append(replace(cell, name=label(name, broken)))
    return made


def measure(
    place: ServerSet, name: str, connections: int, seconds: float, repeat: int
) -> Measurement:
    if name == RAW:
        counts = _raw(place, connections, seconds)
        per_s = counts["good"] / counts["seconds"]
        return Measurement(name, connections, repeat, per_s, 0, None, None, None, connections)
    server = place.of(name)
    item, wanted = (None, "NOOP") if name in (PLAIN, NOOP) else (ITEM, "SOLD")
    settled: Callable[[], object] = int  # nothing to wait for
    if server is not place.ours and item:
        place.store.set(f"usual:{ITEM}:stock", ENDLESS)
        place.store.delete(f"usual:{ITEM}:sales")
    elif item:
        settled = _start(place, name)
        if name.endswith(SOLD_OUT):
            wanted = "SOLD_OUT"
    warm, answers, cpu = _load(server, item, wanted, connections, seconds, settled)
    if not answers.good:
        raise RunFailed(f"{name}: {server.url} gave no answer {wanted}.")
    return Measurement(
        name,
        connections,
        repeat,
        answers.per_s,
        answers.others,
        answers.p50_ms,
        answers.p99_ms,
        cpu / (warm.good + answers.good) * 1e6,
        min(connections, server.threads),
    )


def _start(place: ServerSet, name: str) -> Callable[[], object]:
    """Start the row's round; return a function that waits until its sales are booked."""
    mode = name.removesuffix(SOLD_OUT)
    stock = 1 if name.endswith(SOLD_OUT) else ENDLESS
    round = place.lab.start_round(ITEM, stock, mode)
    if stock == 1:
        buy_the_last(place)
    return lambda: place.lab.audit(ITEM, round)


def buy_the_last(place: ServerSet) -> None:
    status, document = request(place.ours.url, "POST", f"/buy/{ITEM}", {"quantity": 1})
    if status != 201:
        raise RunFailed(f"The only unit could not be bought: {document.get('detail', status)}")


def _load(
    server: LoadedServer,
    item: str | None,
    wanted: str,
    connections: int,
    seconds: float,
    settled: Callable[[], object],
) -> tuple[Answers, Answers, float]:
    """Run warm-up and window; return their answers, and the CPU seconds until all is booked."""
    before = server.cpu()
    warm = send(server.url, item, wanted, connections, WARM_UP)
    answers = send(server.url, item, wanted, connections, seconds)
    settled()
    return warm, answers, server.cpu() - before


def _raw(place: ServerSet, connections: int, seconds: float) -> dict[str, float]:
    command = [sys.executable, "-m", "loadtest.throughput.raw", str(connections), str(seconds)]
    env = os.environ | {"USUAL_STORE": place.shop.store_url}
    output = run_program("The load on the raw store", command, seconds + 60, env)
    place.store.delete("usual:raw:sales")
    counts: dict[str, float] = json.loads(output)
    return counts
