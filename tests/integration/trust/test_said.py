"""The texts of lab, shop and probes on a store that has lost something."""

from __future__ import annotations

from flask.testing import FlaskClient

from app import create_shop
from app.bootstrap import Services
from app.config import Settings
from tests.integration.trust.sellers import lastapple


def test_lab_and_shop_say_so(services: Services, settings: Settings, lab: FlaskClient) -> None:
    shop = create_shop(settings).test_client()
    services.rounds.start("apple", "atomic", 10, {})
    services.rounds.start("pear", "atomic", 10, {})
    services.store.flushall()
    assert lastapple(services, "prepare").exit_code == 0
    page = lab.get("/", headers={"Accept": "text/html"}).text
    assert "The store has lost every round of apple" in page
    page = lab.get("/", headers={"Accept": "text/html", "Accept-Language": "zh"}).text
    assert (
        "存储被清空了：apple 的所有场次都丢了（最新的是第 1 场）。以下商品的数据也有丢失：" in page
    )
    ready = lab.get("/readyz").get_json()
    said = next(check for check in ready["checks"] if check["name"] == "store")
    assert (said["state"], "of these, too: pear" in said["sentence"]) == ("unwell", True)
    for path in ("/rounds/apple", "/rounds/apple/1", "/rounds/apple/1/audit"):
        problem = lab.get(path, headers={"Accept": "application/json"})
        assert (problem.status_code, problem.get_json()["title"]) == (
            409,
            "Something was lost",
        )
        assert "lastapple audit apple --accept" in problem.get_json()["detail"]
    apple = shop.get("/items").get_json()[0]
    assert (apple["slug"], apple["on_sale"]) == ("apple", False)
    assert shop.post("/buy/apple", json={}).status_code == 409
