"""The store freezes in mid-sale: the buyer gets an error after two timeouts and buys once."""

from __future__ import annotations

from pathlib import Path

import pytest
import redis

from app.bootstrap import Services
from app.config import Settings
from app.domain import Outcome
from app.store.keys import Keys
from tests.support.purchases import HandClock, Once, fulfil_all, mode, order
from tests.support.servers import StoreServer, until


@pytest.mark.parametrize("name", ["watch", "watched", "fenced", "decr"])
def test_a_store_that_freezes_while_a_buyer_thinks(
    own_store: StoreServer, tmp_path: Path, time_outs: list[int], name: str
) -> None:
    services = Services(Settings(redis_url=own_store.url, var_dir=str(tmp_path)))
    services.migrate()
    round = services.rounds.start("apple", name, 10, {"lease": 1_500})
    keys = Keys("apple", round.number)
    seller = mode(services, round, HandClock(Once(own_store.freeze)))
    with pytest.raises(redis.RedisError):
        seller.sell(order(round, key=f"k{round.number}"))
    own_store.thaw()
    assert 1 <= len(time_outs) <= 2
    until(lambda: not services.store.exists(keys.lock, keys.claim(f"k{round.number}")))
    assert seller.sell(order(round, key=f"k{round.number}")).outcome is Outcome.SOLD
    fulfil_all(services.fulfil)
    audit = services.auditor.audit(round)
    # The DECRBY arrived, and no sale was recorded: its row in Breaks says so.
    lost = name == "decr"
    assert (audit.verdict, audit.sold) == ("undersold" if lost else "exact", 1), audit
    services.store.close()
    services.engine.dispose()
