"""Shop and lab in the visitor's language: how it is chosen, and that no text stays in English."""

from __future__ import annotations

import re
from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from app import create_shop
from app.bootstrap import Services
from tests.support.chinese_pages import HTML, ZH, only_chinese, pages
from tests.support.http_client import buy, problem
from tests.support.page_text import Page, english
from tests.support.purchases import fulfil_all

RUNS_ON = ["valkey"]
FORM = {"item": "apple", "stock": "10", "mode": "lock", "recipe": "lease", "think_ms": "12000"}


def test_every_page_of_the_shop(services: Services, shop: FlaskClient) -> None:
    services.rounds.start("pear", "atomic", 5, {})
    buy(shop, {"quantity": 5}, "pear")
    services.rounds.start("plum", "atomic", 3, {})
    sold = [shop.post("/buy/apple", data={"quantity": n}).headers["Location"] for n in "23"]
    examples = {
        "/": ["/"],
        "/orders/<uuid:id>": sold,
        "/orders": ["/orders"],
        "/class": ["/class"],
        "/class/name": ["/class/name"],
        "/contract": ["/contract"],
    }
    for address in pages(shop, examples):
        only_chinese(shop.get(address, headers=HTML))
    fulfil_all(services.fulfil)
    only_chinese(shop.get(sold[0], headers=HTML))
    only_chinese(create_shop(services.settings).test_client().get("/orders", headers=HTML))


def test_every_refusal_of_the_shop(services: Services, shop: FlaskClient) -> None:
    def press(item: str, **form: str) -> TestResponse:
        return shop.post(f"/buy/{item}", data={"quantity": "1"} | form, headers=HTML)

    only_chinese(press("apple", quantity="many"), 422)
    only_chinese(press("apple", key="nobody's"), 422)
    only_chinese(press("apple", quantity="11", key="\t"), 422)
    only_chinese(press("fig"), 409)
    only_chinese(press("durian"), 404)
    press("apple", key="mine")
    only_chinese(press("apple", key="mine", quantity="2"), 422)
    press("apple", quantity="8")
    only_chinese(press("apple", quantity="5"), 409)
    press("apple")
    only_chinese(press("apple"), 409)
    services.rounds.start("apple", "lock:lease", 10, {"wait": 0, "limit": 2})
    services.store.set("{apple}:2:lock", "somebody")
    only_chinese(press("apple", key="again"), 503)
    only_chinese(press("apple", quantity="5"), 422)
    only_chinese(shop.get("/nowhere", headers=HTML), 404)
    only_chinese(shop.get("/orders/0199b2a0-0000-7000-8000-000000000000", headers=HTML), 404)
    only_chinese(shop.get("/buy/apple", headers=HTML), 405)
    evil = {"Origin": "http://evil.example"}
    only_chinese(shop.post("/buy/apple", data={}, headers=HTML | evil), 403)
    only_chinese(shop.post("/buy/apple", data={"x": "x" * 20_000}, headers=HTML), 413)


def test_programs_are_answered_in_english_unless_they_ask(shop: FlaskClient) -> None:
    assert problem(buy(shop, {"quantity": 0}), 422)["title"] == "Invalid input"
    assert shop.get("/items").get_json()[0]["name"] == "Apple"
    asked = problem(buy(shop, {"quantity": 0}, **ZH), 422)
    said = [asked["title"], asked["detail"], *asked["errors"].values()]
    said += [shop.get("/items", headers=ZH).get_json()[0][name] for name in ("name", "blurb")]
    assert [text for text in said if english(text) or text.isascii()] == []


def test_chinese_lists_and_joins_in_its_own_way(shop: FlaskClient) -> None:
    assert "apple、pear、plum" in problem(buy(shop, {}, "durian", **ZH), 404)["detail"]
    both = problem(buy(shop, {"quantity": 0, "key": "\t"}, **ZH), 422)["detail"]
    assert re.fullmatch(r"[^。]+。\S[^。]+。", both), "two sentences, and no space between"


@pytest.mark.parametrize(
    ("accepts", "lang"),
    [
        ("zh", "zh-Hans"),
        ("zh-CN", "zh-Hans"),
        ("zh-Hans", "zh-Hans"),
        ("ZH-hant-TW", "zh-Hans"),
        ("zh-TW,en;q=0.5", "zh-Hans"),
        ("fr,zh-CN;q=0.8,en;q=0.5", "zh-Hans"),
        ("en-GB,zh;q=0.9", "en"),
        ("fr-FR,fr", "en"),
        ("zh;q=0,*", "en"),
        ("*", "en"),
        ("", "en"),
        (";;q=x", "en"),
    ],
)
def test_the_browser_s_first_wish_that_we_can_fulfil(
    shop: FlaskClient, accepts: str, lang: str
) -> None:
    html = {"Accept": "text/html", "Accept-Language": accepts}
    assert Page(shop.get("/orders", headers=html).text).lang == lang


def test_a_choice_is_a_link_and_is_remembered(services: Services, shop: FlaskClient) -> None:
    def lang(address: str) -> str:
        return Page(shop.get(address, headers={"Accept": "text/html"}).text).lang

    assert lang("/orders") == "en"
    assert lang("/orders?language=tlh") == "en"
    assert lang("/orders?language=zh") == "zh-Hans"
    assert lang("/orders") == "zh-Hans"
    assert problem(buy(shop, {"quantity": 0}), 422)["title"] == "输入有误", "what a script shows"
    assert lang("/?language=en") == "en"
    assert lang("/orders") == "en"


def test_the_switch_keeps_the_page_and_its_query(lab: FlaskClient) -> None:
    def switch(answer: TestResponse) -> list[str]:
        return re.findall(r'href="([^"]*language=[^"]*)"', answer.text)

    html: dict[str, Any] = {"Accept": "text/html"}
    form = lab.get("/?mode=naive&stock=7&language=en", headers=html)
    assert switch(form) == [
        "/?mode=naive&amp;stock=7&amp;language=en",
        "/?mode=naive&amp;stock=7&amp;language=zh",
    ]
    refused = lab.post("/rounds?x=1", data=FORM | {"stock": "0"}, headers=html)
    assert switch(refused) == ["/?language=en", "/?language=zh"], "no link sends a form again"
    came = html | {"Referer": "http://localhost/stampede?mode=naive&language=en"}
    refused = lab.post("/rounds", data=FORM | {"stock": "0"}, headers=came)
    assert switch(refused)[1] == "/stampede?mode=naive&amp;language=zh", "where the form stood"
    came = html | {"Referer": "http://elsewhere.example/stampede"}
    refused = lab.post("/rounds", data=FORM | {"stock": "0"}, headers=came)
    assert switch(refused)[1] == "/?language=zh"
    long = lab.get(f"/rounds/{'x' * 2_000}/1", headers=html)
    assert switch(long)[1] == "/?language=zh"
    odd = lab.get("/rounds/%22%3E%3Cb%3E/1", headers=html)
    assert switch(odd)[1] == "/rounds/%22%3E%3Cb%3E/1?language=zh"
