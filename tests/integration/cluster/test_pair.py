"""On a cluster each item's store has an identity, and a database is paired with all of them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from app.bootstrap import Services
from app.config import Settings
from app.domain import ITEMS, WrongPair
from app.store import keys, loss_marks
from tests.support.purchases import fulfil_all
from tests.support.servers import until

RUNS_ON = ["valkey"]


def test_another_database_is_refused_for_every_item(
    services: Services, tables: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "other"
    folder.mkdir()
    shutil.copy(tables, folder / "orders.db")
    settings = services.settings
    other = Services(Settings(settings.redis_url, var_dir=str(folder), store_timeout=3_000))
    services.rounds.start("pear", "atomic", 10, {})
    for item in ITEMS:
        with pytest.raises(WrongPair):
            other.rounds.start(item, "atomic", 10, {})
    for item in ITEMS:
        services.consistency.look(item)
    assert len({services.store.get(keys.identity(item)) for item in ITEMS}) == len(ITEMS)
    assert len({services.store.get(keys.database(item)) for item in ITEMS}) == 1
    shop = services.purchase()
    assert shop.buy("pear", 1).sale.order
    fulfil_all(services.fulfil)
    until(lambda: loss_marks.booked(services.store, "pear") == {1: 1})
    services.store.delete(keys.database("pear"))
    services.store.set(keys.database("plum"), "another")
    for item in ("pear", "plum"):  # it is paired with another for all items, or for none
        with pytest.raises(WrongPair):
            services.consistency.look(item)


def test_what_the_database_lost_comes_back(services: Services) -> None:
    round = services.rounds.start("plum", "atomic", 10, {})
    shop = services.purchase()
    orders = [shop.buy("plum", 1).sale.order for _ in range(3)]
    fulfil_all(services.fulfil)
    with services.engine.begin() as sql:
        sql.exec_driver_sql("DELETE FROM orders")
    plan = services.mend.do("plum")
    assert plan
    assert {order.id for order in plan.orders.back} == {order.id for order in orders if order}
    assert services.auditor.audit(round).orders == 3
