"""A process stops between the two halves of a change: at the command that begins the second."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry
from sqlalchemy import text

from app.bootstrap import Services
from app.config import Settings
from app.domain import Stands
from app.service.booking import Mover
from app.store import holds
from app.store.keys import Keys
from loadtest.chaos.fault_targeting import HALVES
from loadtest.chaos.history import Part
from loadtest.chaos.proxy import Proxies, Proxy
from tests.support.holds import LONG
from tests.support.purchases import mode, order
from tests.support.servers import until

RUNS_ON = ["valkey"]
pytestmark = pytest.mark.usefixtures("database_url")


@pytest.fixture
def proxies() -> Iterator[Proxies]:
    proxies = Proxies()
    yield proxies
    proxies.close()


@pytest.fixture
def proxy(proxies: Proxies, settings: Settings) -> Proxy:
    port = urlsplit(settings.redis_url).port
    assert port
    return proxies.open("store", port)


def point(part: Part, words: str) -> bytes:
    return next(command for name, command in HALVES[part] if words in name)


def stop_in(proxies: Proxies, proxy: Proxy, deed: Callable[[redis.Redis], object]) -> None:
    """Call `deed` with the store behind the proxy, and kill its connection where it stops."""
    client = redis.Redis(port=proxy.port, retry=Retry(NoBackoff(), 0))

    def act() -> None:
        with suppress(redis.ConnectionError):
            deed(client)

    thread = threading.Thread(target=act, daemon=True)
    thread.start()
    until(lambda: proxy.stopped)
    assert proxy.stopped
    proxies.cut([proxy.stopped])
    proxy.resume()
    thread.join()


def test_fulfil_stops_after_the_commit_and_before_the_acknowledgement(
    services: Services, proxies: Proxies, proxy: Proxy
) -> None:
    round = services.rounds.start("apple", "atomic", 10, {})
    mode(services, round).sell(order(round))
    names = Keys("apple", round.number)
    read: Any = services.store.xreadgroup("fulfil", "c", {names.sales: ">"})
    mover = services.fulfil.consumers[0].mover
    parts = mover.sessions, mover.backoff, mover.copied, mover.pairing
    proxy.stop_at(point(Part.FULFIL, "commit"))
    stop_in(proxies, proxy, lambda store: Mover(store, *parts).move(names, read[0][1]))
    with services.engine.connect() as sql:
        assert sql.execute(text("SELECT COUNT(*) FROM orders")).scalar_one() == 1
    assert services.store.xlen(names.sales) == 1


@pytest.mark.parametrize("part", [Part.WORKER, Part.FULFIL])
def test_a_give_back_stops_when_the_hold_has_ended_and_its_units_are_not_back(
    services: Services, proxies: Proxies, proxy: Proxy, part: Part
) -> None:
    round = services.rounds.start("apple", "atomic", 10, {"hold": LONG})
    mode(services, round).sell(held := order(round, quantity=2))

    def give_up(store: redis.Redis) -> None:
        holds.settle(store, round, held, Stands.CANCELLED)
        holds.put_back(store, round, [held], running=True)

    proxy.stop_at(point(part, "put"))
    stop_in(proxies, proxy, give_up)
    hold = holds.settle(services.store, round, held, Stands.HELD)
    assert (hold.stands, hold.owed) == (Stands.CANCELLED, True)
    assert services.store.get(Keys("apple", round.number).stock) == b"8"
