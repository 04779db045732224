"""Whose order was sold with others' is told no more than is known, and nobody is left waiting."""

from __future__ import annotations

import linecache
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import replace
from types import FrameType
from typing import Any

import pytest

from app.bootstrap import Services
from app.config import Settings
from app.domain import Order, Outcome, RoundLeft, Sale, StoreAway
from app.service.purchase import Purchase
from app.store import combining
from app.store.combining import Combining, Entry
from tests.integration.combining.line import behind, line_of
from tests.lossy import LosesReplies
from tests.selling import in_stream
from tests.servers import StoreServer, until

RUNS_ON = ["valkey"]
MakeWorker = Callable[[], Purchase]


@pytest.fixture
def lossy(store_server: StoreServer) -> Iterator[LosesReplies]:
    proxy = LosesReplies(store_server)
    yield proxy
    proxy.close()


def test_a_lost_reply_leaves_each_in_doubt_for_itself(
    services: Services, settings: Settings, lossy: LosesReplies
) -> None:
    round = services.rounds.start("apple", "fused", 9, {})
    lossy.what, lossy.lose_next = (b'"key":"k1"',), True  # where that sale is written
    theirs = Services(replace(settings, redis_url=lossy.url))
    shop = theirs.purchase()
    try:
        with behind(shop) as crowd:
            coming = [crowd.comes(key=f"k{number}") for number in range(3)]
        errors = [each.exception(10) for each in coming]
        assert all(isinstance(each, StoreAway) for each in errors)
        assert [each.key for each in errors if isinstance(each, StoreAway)] == ["k0", "k1", "k2"]
        assert len({id(each) for each in errors}) == 3, "each has an error of its own"
        sold = in_stream(services, round)
        again = [shop.buy("apple", 1, f"k{number}").sale for number in range(3)]
    finally:
        shop.tally.stop()
        theirs.store.close()
    assert [each.order for each in again] == sold[1:]
    assert lossy.lost == 1
    assert services.rounds.left(round) == 5


def test_watch_looks_again_and_finds_what_it_has_sold(
    services: Services, settings: Settings, lossy: LosesReplies
) -> None:
    """redis-py tells a lost reply to EXEC as a lost race, and each key knows its sale."""
    round = services.rounds.start("apple", "watch", 9, {})
    lossy.what, lossy.lose_next = (b'"key":"k1"',), True
    theirs = Services(replace(settings, redis_url=lossy.url))
    shop = theirs.purchase()
    try:
        with behind(shop) as crowd:
            coming = [crowd.comes(key=f"k{number}") for number in range(3)]
        sales = [each.result(10).sale for each in coming]
    finally:
        shop.tally.stop()
        theirs.store.close()
    assert [(each.order, each.conflicts) for each in sales] == [
        (order, 1) for order in in_stream(services, round)[1:]
    ]
    assert (lossy.lost, services.rounds.left(round)) == (1, 5)


def test_an_error_of_the_one_who_sells_is_doubt_to_the_others(
    services: Services, worker: MakeWorker
) -> None:
    services.rounds.start("apple", "watch", 9, {})
    shop = worker()
    line = line_of(shop)
    real = line.sell_all

    def fail(orders: Sequence[Order]) -> Any:
        line.sell_all = real
        raise ZeroDivisionError("a bug")

    line.sell_all = fail
    with behind(shop) as crowd:
        coming = [crowd.comes() for _ in range(3)]
    kinds = [type(each.exception(10)) for each in coming]
    assert kinds == [ZeroDivisionError, StoreAway, StoreAway]
    assert shop.buy("apple", 1).sale.outcome is Outcome.SOLD, "the line goes on"


def test_when_the_one_who_sells_leaves_the_round_all_look_for_the_one_that_runs(
    services: Services, worker: MakeWorker
) -> None:
    services.rounds.start("apple", "watch", 9, {})
    shop = worker()

    def leave(_: Sequence[Order]) -> Any:
        raise RoundLeft

    line_of(shop).sell_all = leave
    with behind(shop) as crowd:
        coming = [crowd.comes() for _ in range(3)]
        second = services.rounds.start("apple", "watch", 9, {})
    answers = [each.result(10) for each in coming]
    assert {(each.sale.outcome, each.round) for each in answers} == {(Outcome.SOLD, second)}


class Shelf:
    """What is sold, and a door that the first seller waits at."""

    def __init__(self) -> None:
        self.sold: list[str] = []
        self.door = threading.Event()
        self.waits = threading.Event()

    def sell(self, order: Order) -> Sale:
        self.waits.set()
        assert self.door.wait(10)
        return self.sell_all([order])[0]

    def sell_all(self, orders: Sequence[Order]) -> list[Sale]:
        self.sold += [order.id for order in orders]
        return [Sale(Outcome.SOLD, order=order) for order in orders]


class Interrupt:
    """A KeyboardInterrupt at the n-th line of the line's code, in the thread that calls `sell`."""

    def __init__(self, step: int) -> None:
        self.left = step

    def sell(self, line: Combining, order: Order) -> bool:
        """Was it?"""
        sys.settrace(self._trace)
        try:
            line.sell(order)
        except KeyboardInterrupt:
            return True
        finally:
            sys.settrace(None)
        return False

    def _trace(self, frame: FrameType, event: str, _: Any) -> Any:
        if frame.f_code.co_filename != combining.__file__:
            return None
        # No interrupt comes between a `with` and the C code of its lock, or at a bare `try:`, which
        # does nothing; only a tracer stops there.
        text = linecache.getline(combining.__file__, frame.f_lineno).strip()
        if event == "line" and not text.startswith(("with ", "try:")):
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt
        return self._trace


def order_of(name: str) -> Order:
    return Order(name, "apple", 1, 1, 60, "", name, 0)


def standing(line: Combining) -> list[str]:
    return [each.order.id for each in list(line.line)]


def interrupted_at(step: int) -> bool:
    """The second in line is, and leads from when the first has sold. False: it was over before."""
    shelf = Shelf()
    line = Combining(shelf.sell, shelf.sell_all)  # type: ignore[arg-type]
    with ThreadPoolExecutor(5) as pool:
        first = pool.submit(line.sell, order_of("first"))
        assert shelf.waits.wait(10)
        struck = pool.submit(Interrupt(step).sell, line, order_of("struck"))
        until(lambda: struck.done() or standing(line) == ["struck"])
        others: list[Future[Sale]] = [pool.submit(line.sell, order_of(name)) for name in "BC"]
        until(lambda: {*"BC"} <= {*standing(line)})
        shelf.door.set()
        assert not wait([first, *others], timeout=10).not_done, "somebody is left waiting"
        later = pool.submit(line.sell, order_of("later"))
        assert later.result(10).outcome is Outcome.SOLD, "the line goes on"
    assert len(set(shelf.sold)) == len(shelf.sold), "nobody is sold to twice"
    for name, each in zip("BC", others, strict=True):
        error = each.exception()
        assert isinstance(error, StoreAway) if error else name in shelf.sold
    return struck.result()


def test_nothing_is_sold_to_who_has_gone() -> None:
    shelf = Shelf()
    shelf.door.set()
    line = Combining(shelf.sell, shelf.sell_all)  # type: ignore[arg-type]
    line.line.append(Entry(order_of("gone")))
    line.sell(order_of("here"))
    assert shelf.sold == ["here"]


def test_wherever_the_one_who_sells_is_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(combining, "CHECK_S", 0.05)
    step = 1
    while interrupted_at(step):
        step += 1
    assert step > 30, "it went through the code of who leads"
