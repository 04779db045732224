"""Two workers whose clocks differ know the same buyer by the same cookie."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from app import create_shop
from app.bootstrap import Services
from app.config import Settings
from tests.support.http_client import buy, problem

RUNS_ON = ["valkey"]
HTML = {"Accept": "text/html"}


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Set this process's wall clock off by so many hours."""
    true = time.time

    def step(hours: float) -> None:
        monkeypatch.setattr(time, "time", lambda: true() + hours * 3600)

    return step


@pytest.mark.parametrize("hours", [-26, -1 / 3600, 26])
def test_a_second_press_at_a_worker_with_another_clock(
    services: Services, settings: Settings, clock: Callable[[float], None], hours: float
) -> None:
    services.rounds.start("apple", "atomic", 10, {})
    shop = create_shop(settings).test_client()
    shop.get("/", headers=HTML)  # where a browser gets its cookie
    key = {"Idempotency-Key": "once"}
    first = buy(shop, **key).get_json()
    clock(hours)
    second = buy(shop, **key)
    assert (second.status_code, second.get_json()["order"]) == (201, first["order"])
    clock(0)
    assert [each["id"] for each in shop.get("/orders").get_json()["orders"]] == [first["order"]]


def test_a_forged_cookie_is_nobodys(services: Services, settings: Settings) -> None:
    services.rounds.start("apple", "atomic", 10, {})
    shop = create_shop(settings).test_client()
    shop.get("/", headers=HTML)
    buy(shop, **{"Idempotency-Key": "once"})
    cookie = shop.get_cookie("buyer")
    assert cookie
    shop.set_cookie("buyer", cookie.value[:-2] + "xx")
    problem(buy(shop, **{"Idempotency-Key": "once"}), 422)
