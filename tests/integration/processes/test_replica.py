"""`DURABILITY=replicated lastapple up`: a replica of the embedded store has each sale."""

from __future__ import annotations

from pathlib import Path

import redis
import requests

from tests.support.servers import until
from tests.support.shop import NewShop


def test_a_replica_that_is_away(new_shop: NewShop, tmp_path: Path) -> None:
    """First, purchases end in doubt; as soon as the store has noticed, it takes no unit at all."""
    shop = new_shop(tmp_path, DURABILITY="replicated", STORE_TIMEOUT="600")
    assert "has every sale before its buyer is told" in shop.said()
    number = shop.round("atomic", 100)["round"]
    with requests.Session() as session:
        until(lambda: shop.buy(session, "told").status_code == 201)
        shop.child("replica").suspend()
        doubt = shop.buy(session, "doubt")
        assert (doubt.status_code, doubt.json()["idempotency_key"]) == (503, "doubt")
        ready = f"{shop.url}/readyz"
        until(lambda: "no replica" in requests.get(ready, timeout=10).text, 20)
        assert {shop.buy(session).status_code for _ in range(5)} == {503}
        shop.child("replica").kill()
        until(lambda: "replica died" in shop.said())
        until(lambda: shop.buy(session, "doubt").status_code == 201)
        order = shop.buy(session, "doubt").json()["order"]
    assert shop.audit(number)["left"] == 98
    about = requests.get(f"{shop.lab}/about", timeout=10).json()
    assert about["store"]["durability"] == "replicated"
    socket = tmp_path / "var" / "store" / "replica.sock"
    password = (tmp_path / "var" / "store-password").read_text()
    with redis.Redis(unix_socket_path=str(socket), password=password) as copy:
        assert order.encode() in copy.get("{apple}:key:doubt")
