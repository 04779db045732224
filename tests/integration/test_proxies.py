"""The shop behind a proxy: the headers that it believes, its host names, and its cookies."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from flask import Flask, request
from flask.testing import FlaskClient

from app import create_lab, create_shop
from app.bootstrap import Services
from app.config import Settings
from tests.support.http_client import buy, problem

RUNS_ON = ["valkey"]
HTML = {"Accept": "text/html"}
SAID = {
    "X-Forwarded-For": "203.0.113.7",
    "X-Forwarded-Proto": "https",
    "X-Forwarded-Host": "shop.example.com",
}
ORIGIN = {"Origin": "https://shop.example.com"}


def seen(app: Flask, **headers: str) -> tuple[Any, ...]:
    """Return the client address, scheme and host that the shop sees for such a request."""
    found: list[tuple[Any, ...]] = []

    @app.before_request
    def look() -> None:
        found.append((request.remote_addr, request.scheme, request.host))

    app.test_client().get("/", headers=HTML | headers)
    return found[0]


def test_without_the_setting_nobody_is_believed(services: Services, settings: Settings) -> None:
    """Not the client address, nor the scheme, nor the host name."""
    assert seen(create_shop(settings), **SAID) == ("127.0.0.1", "http", "localhost")
    services.rounds.start("apple", "atomic", 10, {})
    shop = create_shop(settings).test_client()
    assert buy(shop, **SAID, **ORIGIN).status_code == 403
    assert "Secure" not in shop.get("/", headers=HTML | SAID).headers["Set-Cookie"]


def test_so_many_proxies_are_believed_and_no_more(settings: Settings) -> None:
    """The customer's own entries come before those that the proxies add."""
    believing = replace(settings, trusted_proxies=1, allowed_hosts="shop.example.com")
    customer = ("203.0.113.7", "https", "shop.example.com")
    assert seen(create_shop(believing), **SAID) == customer
    lie = SAID | {"X-Forwarded-For": "6.6.6.6, 203.0.113.7"}
    assert seen(create_shop(believing), **lie) == customer
    two = replace(believing, trusted_proxies=2)
    chain = {name: f"{said}, 10.0.0.1" for name, said in SAID.items()}
    assert seen(create_shop(two), **chain) == customer


def test_behind_a_proxy_a_customer_buys_by_https(services: Services, settings: Settings) -> None:
    services.rounds.start("apple", "atomic", 10, {})
    behind = replace(settings, trusted_proxies=1, shop_url="https://shop.example.com")
    shop = create_shop(behind).test_client()
    page = shop.get("/?language=zh", headers=HTML | SAID)
    assert page.status_code == 200, "SHOP_URL's host is a name of ours"
    cookies = page.headers.getlist("Set-Cookie")
    assert [cookie.partition("=")[0] for cookie in cookies if "; Secure;" in cookie] == [
        "language",
        "buyer",
    ]
    assert buy(shop, **SAID, **ORIGIN).status_code == 201
    stranger = problem(buy(shop, **SAID | {"X-Forwarded-Host": "evil.example"}), 400)
    assert "ALLOWED_HOSTS" in stranger["detail"]


def test_a_shop_that_browsers_reach_by_https_keeps_its_cookies_there(settings: Settings) -> None:
    """Also when the proxy does not pass on the scheme."""
    shop = create_shop(replace(settings, shop_url="https://shop.example.com")).test_client()
    assert "; Secure;" in shop.get("/", headers=HTML).headers["Set-Cookie"]


@pytest.mark.parametrize("server", ["shop", "lab"])
def test_a_name_that_is_not_ours_is_told_which_setting(
    services: Services, settings: Settings, server: str
) -> None:
    def made(settings: Settings) -> FlaskClient:
        return (create_shop if server == "shop" else create_lab)(settings).test_client()

    evil, json = {"Host": "evil.example"}, {"Accept": "application/json"}
    refused = problem(made(settings).get("/healthz", headers=evil | json), 400)
    assert "ALLOWED_HOSTS" in refused["detail"]
    page = made(settings).get("/", headers=evil | HTML)
    assert (page.status_code, page.mimetype) == (400, "text/html")
    allowing = made(replace(settings, allowed_hosts="evil.example"))
    assert allowing.get("/healthz", headers=evil).status_code == 200


def test_the_lab_believes_no_proxy(settings: Settings) -> None:
    """A page elsewhere, whose name leads to loopback, could send such headers by itself."""
    lab = create_lab(replace(settings, trusted_proxies=1)).test_client()
    evil = {"Host": "evil.example", "X-Forwarded-Host": "localhost"}
    problem(lab.get("/healthz", headers=evil), 400)
