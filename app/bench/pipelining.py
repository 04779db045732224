"""Threads that share one client: autopipe beside redis-py's pool, in turns, in this process."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from itertools import count
from typing import Any, NamedTuple

import autopipe
import redis

THREADS = (1, 2, 8, 32)
CLIENTS: dict[str, type[redis.Redis]] = {"pool": redis.Redis, "together": autopipe.Redis}
WRITES = "return redis.call('INCR', KEYS[1])"
Deed = Callable[[redis.Redis], Any]


class Speed(NamedTuple):
    per_s: float
    cpu_us: float  # of this process, a command: user and system


class Cell(NamedTuple):
    """One command by so many threads: a speed for each round, by the client's name."""

    command: str
    threads: int
    speeds: dict[str, list[Speed]]

    def ratios(self) -> list[Speed]:
        """Of each round: commands/s, and commands per CPU second, together ÷ pool."""
        rounds = zip(self.speeds["together"], self.speeds["pool"], strict=True)
        return [
            Speed(ours.per_s / theirs.per_s, theirs.cpu_us / ours.cpu_us) for ours, theirs in rounds
        ]


def measure(
    url: str, seconds: float, rounds: int, threads: Sequence[int] = THREADS
) -> Iterator[Cell]:
    """Of the server at `url`, whose keys `{pipelining}…` it uses. Raises redis.RedisError."""
    with closing(redis.Redis.from_url(url)) as client:
        client.set("{pipelining}:read", "x" * 20)
        sha = client.script_load(WRITES)
    deeds: dict[str, Deed] = {
        "GET": lambda client: client.get("{pipelining}:read"),
        "EVALSHA": lambda client: client.evalsha(sha, 1, "{pipelining}:written"),
    }
    for command, deed in deeds.items():
        for number in threads:
            speeds: dict[str, list[Speed]] = {name: [] for name in CLIENTS}
            for _ in range(rounds):
                for name, kind in CLIENTS.items():
                    with closing(kind.from_url(url)) as client:
                        speeds[name].append(_speed(client, deed, number, seconds))
            yield Cell(command, number, speeds)


def _speed(client: redis.Redis, deed: Deed, threads: int, seconds: float) -> Speed:
    ready, over = threading.Barrier(threads + 1), threading.Event()
    done: list[int] = []

    def work() -> None:
        deed(client)  # connected
        ready.wait()
        number = count()
        while not over.is_set():
            deed(client)
            next(number)
        done.append(next(number))

    crowd = [threading.Thread(target=work) for _ in range(threads)]
    for thread in crowd:
        thread.start()
    ready.wait()
    begun, cpu = time.perf_counter(), time.process_time()
    time.sleep(seconds)
    over.set()
    for thread in crowd:
        thread.join()
    commands = max(1, sum(done))
    took = time.perf_counter() - begun
    return Speed(commands / took, (time.process_time() - cpu) / commands * 1e6)
