"""A sale stays sold, also when its key is sent again in a round that holds."""

from __future__ import annotations

import pytest

from app import create_shop
from app.bootstrap import Services
from app.config import Settings
from tests.support.http_client import buy

RUNS_ON = ["valkey"]


@pytest.mark.parametrize("mode", ["atomic", "watch", "sql"])
@pytest.mark.parametrize("hold", [0, 60_000])
def test_a_key_is_answered_as_its_own_round_has_it(
    services: Services, settings: Settings, mode: str, hold: int
) -> None:
    services.rounds.start("apple", mode, 10, {"hold": hold})
    shop = create_shop(settings).test_client()
    key = {"Idempotency-Key": "once"}
    first = buy(shop, **key).get_json()
    services.rounds.start("apple", mode, 10, {"hold": 60_000 - hold})
    # At a worker that knows the new round only: the other would still find it in the old one.
    second = buy(create_shop(settings).test_client(), **key).get_json()
    assert (second["outcome"], second["order"]) == (first["outcome"], first["order"])
    assert first["outcome"] == ("HELD" if hold else "SOLD")
