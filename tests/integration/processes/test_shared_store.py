"""Two hosts with one store, one database and one secret sell as one shop.

`make test` sells a little in some modes, `make soak` 2,000 units in every mode except exhibits.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import NamedTuple

import pytest
import requests
from sqlalchemy import select

from app.store.sql import db
from app.store.sql.orders import OrderRow
from tests.support.purchases import SOUND
from tests.support.servers import PostgresServer, StoreServer, until
from tests.support.shop import Shop
from tests.support.zookeeper import ZooKeeperServer, zookeeper_jar

CLIENTS = 16  # half of them begin at each host
STOCK, SHARE = 2_000, 120
SOME = ["watch", "lock:lease", "lock:redlock", "sql_units", "atomic"]
SECRET = "one secret of both hosts"
PAUSE = 0.02  # s before a buyer who has no definite answer asks the other host

Hosts = tuple[Shop, Shop]


@pytest.fixture(scope="module")
def hosts(
    request: pytest.FixtureRequest,
    store: StoreServer,
    postgres: PostgresServer,
    masters: list[StoreServer],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Hosts]:
    """Without ZooKeeper where it is missing."""
    shared = {
        "REDIS_URL": store.url,
        "DATABASE_URL": postgres.database(),
        "REDLOCK_URLS": ",".join(master.url for master in masters),
        "SECRET_KEY": SECRET,
        "SHOP_WORKERS": "1",
    }
    try:
        zookeeper_jar()
    except pytest.skip.Exception:
        pass
    else:
        zookeeper: ZooKeeperServer = request.getfixturevalue("zookeeper")
        shared["ZOOKEEPER_HOSTS"] = zookeeper.hosts
    with started(tmp_path_factory, shared) as hosts:
        yield hosts


@contextmanager
def started(folders: pytest.TempPathFactory, shared: dict[str, str]) -> Iterator[Hosts]:
    """Start two hosts with these settings in common."""
    hosts = Shop(folders.mktemp("host"), **shared), Shop(folders.mktemp("host"), **shared)
    with ExitStack() as stack:
        for host in hosts:
            stack.enter_context(host)
        yield hosts


class Bought(NamedTuple):
    """A purchase that was answered with SOLD."""

    host: int  # its number in Hosts
    round: int
    order: str


class Buyers:
    """Clients that buy at both hosts until nothing is left of the last round.

    Each purchase has a key of its own. While it has no definite answer, its buyer asks the other
    host with the same key.
    """

    def __init__(self, hosts: Hosts) -> None:
        self.hosts = hosts
        self.bought: dict[str, Bought] = {}
        self.last_round = 0  # 0: it has not begun
        self.enough = threading.Event()

    def buy(self, host: int, enough: int) -> None:
        """Set `enough` when so many units are sold to all buyers together."""
        with requests.Session() as session:
            key = str(uuid.uuid4())
            while True:
                answer = self.hosts[host].buy(session, key)
                said = answer.json()
                if answer.status_code == 201:
                    self.bought[key] = Bought(host, said["round"], said["order"])
                    key = str(uuid.uuid4())
                    if len(self.bought) >= enough:
                        self.enough.set()
                    continue
                assert answer.status_code in (409, 503), answer.text
                if said.get("outcome") == "SOLD_OUT" and said["round"] == self.last_round:
                    return
                host = 1 - host
                time.sleep(PAUSE)

    def repeat(self, key: str) -> str:
        """Return a key's order from the other host, which may be busy for a while."""
        other = self.hosts[1 - self.bought[key].host]
        with requests.Session() as session:
            while (answer := other.buy(session, key)).status_code == 503:
                time.sleep(PAUSE)
        return str(answer.json()["order"]) if answer.status_code == 201 else answer.text


def sell(hosts: Hosts, mode: str, stock: int, think_ms: int = 0) -> None:
    """Begin a round at one host and, amid its purchases, the next at the other; sell that out.

    Both audits must be exact at both hosts, and answers, orders and repeated keys must agree.
    """
    buyers = Buyers(hosts)
    rounds = [hosts[0].round(mode, stock, think_ms=think_ms)["round"]]
    with ThreadPoolExecutor(CLIENTS) as pool:
        buying = [pool.submit(buyers.buy, number % 2, stock // 4) for number in range(CLIENTS)]
        try:
            while not buyers.enough.wait(1):
                assert not any(each.done() for each in buying), "a buyer has failed"
        finally:
            rounds.append(hosts[1].round(mode, stock, think_ms=think_ms)["round"])
            buyers.last_round = rounds[-1]
        for each in buying:
            each.result()
    bought = buyers.bought
    for number in rounds:
        for host in hosts:
            audit = host.audit(number)
            assert (audit["verdict"], audit["oversold"]) == ("exact", 0), audit
            told = sum(each.round == number for each in bought.values())
            assert audit["sold"] == audit["orders"] == told
    assert (audit["sold"], audit["left"]) == (stock, 0), "the last round sold out"
    assert booked(hosts, rounds) == {key: each.order for key, each in bought.items()}
    with ThreadPoolExecutor(CLIENTS) as pool:
        repeated = dict(zip(bought, pool.map(buyers.repeat, bought), strict=True))
    assert repeated == {key: each.order for key, each in bought.items()}


def booked(hosts: Hosts, rounds: list[int]) -> dict[str, str]:
    """Return the ids of the orders in the database, by their keys."""
    engine = db.engine(hosts[0].environ["DATABASE_URL"], 10_000)
    found = select(OrderRow.key, OrderRow.id).where(
        OrderRow.item == "apple", OrderRow.round.in_(rounds)
    )
    try:
        with engine.connect() as connection:
            return {key: str(id) for key, id in connection.execute(found)}
    finally:
        engine.dispose()


@pytest.mark.parametrize("name", SOME)
def test_two_hosts_sell_as_one(hosts: Hosts, name: str) -> None:
    sell(hosts, name, SHARE, think_ms=1)


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", SOUND)
def test_two_hosts_sell_two_thousand_in_each_mode(hosts: Hosts, name: str) -> None:
    if name == "lock:zookeeper":
        zookeeper_jar()
    sell(hosts, name, STOCK)


def test_a_buyers_limit_counts_on_both_hosts(hosts: Hosts) -> None:
    hosts[0].round("atomic", 10, per_buyer=2)
    with requests.Session() as session:  # its cookie goes to every port of an address
        assert session.get(hosts[0].url, headers={"Accept": "text/html"}, timeout=5).ok
        answers = [hosts[number % 2].buy(session) for number in range(4)]
    assert [answer.status_code for answer in answers] == [201, 201, 409, 409]
    assert {answer.json()["outcome"] for answer in answers[2:]} == {"LIMIT"}


def test_a_host_with_other_masters_of_redlock_sells_nothing(
    own_store: StoreServer, postgres: PostgresServer, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """REDLOCK_URLS is empty: each host starts masters of its own, and one lock would be two."""
    shared = {
        "REDIS_URL": own_store.url,
        "DATABASE_URL": postgres.database(),
        "SECRET_KEY": SECRET,
        "SHOP_WORKERS": "1",
    }
    with started(tmp_path_factory, shared) as (ours, other):
        number = ours.round("lock:redlock", 60, think_ms=5)["round"]
        until(lambda: says_why_it_cannot_sell(other), said="the other host is ready")
        assert ready(ours).ok
        sold_out = threading.Event()

        def buy(host: Shop) -> Counter[int]:
            statuses: Counter[int] = Counter()
            with requests.Session() as session:
                while not sold_out.is_set():
                    answer = host.buy(session)
                    statuses[answer.status_code] += 1
                    if host is ours and answer.json().get("outcome") == "SOLD_OUT":
                        sold_out.set()
            return statuses

        with ThreadPoolExecutor(8) as pool:
            told = list(pool.map(buy, 4 * (ours, other)))
        assert sum(statuses[201] for statuses in told[1::2]) == 0, "sold by the other host"
        audit = ours.audit(number)
        assert (audit["verdict"], audit["sold"]) == ("exact", 60), audit["sentence"]
        other.round("lock:redlock", 1)
        with requests.Session() as session:
            assert other.buy(session).status_code == 201, "who starts the round sells in it"


def ready(host: Shop) -> requests.Response:
    return requests.get(f"{host.url}/readyz", timeout=10)


def says_why_it_cannot_sell(host: Shop) -> bool:
    answer = ready(host)
    return answer.status_code == 503 and "REDLOCK_URLS" in answer.text
