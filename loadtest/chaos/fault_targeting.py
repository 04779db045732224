"""Targets of faults: requests in flight, by worker, and sales that are no orders yet."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TypeVar

import psutil
import redis

from app.store import lua
from app.store.keys import Keys
from loadtest.chaos.history import Part, Request
from loadtest.chaos.proxy import Link, Proxy
from loadtest.chaos.shop import TestedShop
from loadtest.chaos.shop_client import Market

T = TypeVar("T")
AIM = 0.4  # s to wait until there is a target
STEP = 0.0005  # s between two looks


def _script(name: str) -> bytes:
    """Return the bytes of each request that runs a script of the shop: its digest."""
    return hashlib.sha1(lua.source(name).encode()).hexdigest().encode()  # noqa: S324  as EVALSHA


# The command that begins the second half of a change. Its sender has done the first half.
PUT_BACK = ("before it puts a hold's units back", _script("put_back"))
HALVES: dict[Part, tuple[tuple[str, bytes], ...]] = {
    Part.WORKER: (PUT_BACK, ("before it records a sale", b"XADD")),
    Part.FULFIL: (PUT_BACK, ("after the commit, before the acknowledgement", _script("let_go"))),
}


@dataclass(frozen=True)
class Halfway:
    """A request that waits in a proxy, and its sender, which has done half of a change."""

    proxy: Proxy
    link: Link
    name: str
    sender: psutil.Process


class Targeting:
    """Chooses targets; `rounds` returns the rounds being played: (item, number)."""

    def __init__(
        self, shop: TestedShop, market: Market, rounds: Callable[[], Iterable[tuple[str, int]]]
    ) -> None:
        self.shop, self.market, self.rounds = shop, market, rounds
        self.serves: dict[Link, int] = {}  # a buyer's connection -> the worker's process

    def workers(self) -> list[psutil.Process]:
        return self.shop.shop.workers()

    def ops(self, worker: int | None = None) -> set[int]:
        """Return the requests in flight, or only those at `worker`."""
        links = self.shop.front.under_way()
        if worker is not None:
            self._learn(links)
            links = [link for link in links if self.serves.get(link) == worker]
        return {called.op for link in links if (called := self._called(link))}

    def ops_of(self, item: str) -> set[int]:
        calls = [self._called(link) for link in self.shop.front.under_way()]
        return {called.op for called in calls if called and called.item == item}

    def aim(self) -> set[int]:
        """Wait for requests under way, and return them."""
        return self._wait(self.ops)

    def aim_at_a_worker(self, fate: float) -> tuple[psutil.Process | None, set[int]]:
        """Return a worker with a request under way, else any worker. None: there is none."""
        workers = self.workers()
        if not workers:
            return None, set()
        busy_workers: list[psutil.Process] = []

        def busy() -> set[int]:
            busy_workers[:] = [each for each in workers if self.ops(each.pid)]
            return (
                self.ops(busy_workers[int(fate * len(busy_workers))].pid) if busy_workers else set()
            )

        ops = self._wait(busy)
        chosen = busy_workers or workers
        return chosen[int(fate * len(chosen))], ops

    def aim_between(self, part: Part, fate: float) -> Halfway | None:
        """Stop a process between two halves of a change. None: aim at another moment this time.

        `fate` chooses the change. The request waits in the proxy until `resume`.
        """
        halves = [*HALVES[part], None]
        if (half := halves[int(fate * 1000) % len(halves)]) is None:
            return None
        name, point = half
        proxy, main = self.shop.selling, self.shop.shop
        if part is Part.FULFIL:
            proxy, main = self.shop.moving, self.shop.fulfil
        proxy.stop_at(point)
        link = self._wait(lambda: proxy.stopped)
        port = link.client.get_extra_info("peername")[1] if link else 0
        for process in main.family() if link else ():
            with suppress(psutil.Error):
                if link and any(each.laddr.port == port for each in process.net_connections("tcp")):
                    return Halfway(proxy, link, name, process)
        proxy.resume()
        return None

    def aim_at_a_sale(self) -> int:
        """Wait until a sale is no order yet; return how many are not."""
        return self._wait(self.unbooked)

    def aim_at_a_batch(self) -> int:
        """Wait until fulfil has just received sales; return how many are no orders yet."""
        proxy, before = self.shop.moving, self.shop.moving.loads
        self._wait(lambda: proxy.loads > before)
        return self.unbooked()

    def unbooked(self) -> int:
        """Return the number of sales in the streams; 0 when the store does not answer."""
        with suppress(redis.RedisError), self.shop.stores.primary.client() as client:
            return sum(client.xlen(Keys(*round).sales) for round in self.rounds())
        return 0

    @staticmethod
    def _wait(look: Callable[[], T]) -> T:
        deadline = time.monotonic() + AIM
        while not (target := look()) and time.monotonic() < deadline:
            time.sleep(STEP)
        return target

    def _called(self, link: Link) -> Request | None:
        name = link.client.get_extra_info("peername")
        return self.market.under_way.get(name[1]) if name else None

    def _learn(self, links: list[Link]) -> None:
        """Ask the system which worker serves each connection, once for each connection."""
        if all(link in self.serves for link in links):
            return
        ports = {link.port: link for link in tuple(self.shop.front.links)}
        self.serves = dict.fromkeys(ports.values(), 0)  # 0: accepted by no worker yet
        for worker in self.workers():
            with suppress(psutil.Error):
                for each in worker.net_connections("tcp"):
                    if each.raddr and each.raddr.port in ports:
                        self.serves[ports[each.raddr.port]] = worker.pid


def nothing() -> None:
    """Do nothing: the fault is over as soon as it is done."""


@dataclass
class Effect:
    """A fault's effect. `ops` are the requests under way, `unbooked` the sales that it hit.

    These sales are no orders yet. `end` undoes the fault, after the step's seconds. `late` is
    called at the end: it returns ops that the fault hit since.
    """

    detail: str
    ops: set[int] = field(default_factory=set)
    unbooked: int = 0
    end: Callable[[], None] = nothing
    late: Callable[[], set[int]] = set
    happened: bool = True


NO_TARGET = Effect("there was nothing to strike")
