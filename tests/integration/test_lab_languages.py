"""The lab in the visitor's language: none of its texts stays in English."""

from __future__ import annotations

from dataclasses import replace

import pytest
from flask.testing import FlaskClient

from app.bootstrap import Services
from app.domain import Clock
from app.lab.comparison.record import Comparison
from app.lab.sources import ways
from app.lab.stampede.record import How, Run
from tests.support.chinese_pages import HTML, JSON, ZH, only_chinese, pages
from tests.support.http_client import problem
from tests.support.page_text import english
from tests.support.purchases import NAMES, fulfil_all, mode, order
from tests.unit.comparison.comparisons import comparison, result

RUNS_ON = ["valkey"]
FORM = {"item": "apple", "stock": "10", "mode": "lock", "recipe": "lease", "think_ms": "12000"}
STAMPEDE = FORM | {"buyers": "4", "seconds": "2"}
COMPARED = STAMPEDE | {"modes": "watch", "reference": "naive", "repeats": "1"}
COMPARED = {name: value for name, value in COMPARED.items() if name not in ("mode", "recipe")}


def test_every_page_of_the_lab(services: Services, lab: FlaskClient) -> None:
    for name in ("naive", "watch", "lock:lease", "sql", "atomic"):
        round = services.rounds.start("apple", name, 3, {"think": 12_000})
        mode(services, round, Hasty()).sell(order(round, 2))
    services.rounds.end("apple")
    numbers = [f"/rounds/apple/{number}" for number in range(1, 6)]
    compared = [f"/comparisons/{each.id}" for each in comparisons(services)]
    runs = [f"/runs/{run.id}" for run in stampedes(services)]
    examples = {
        "/contract": ["/contract"],
        "/": ["/"],
        "/rounds/<item>": [],
        "/rounds/<item>/<int:number>": numbers,
        "/stampede": ["/stampede", "/stampede?mode=naive&stock=7"],
        "/runs/<id>": runs,
        "/explorer": ["/explorer"],
        "/explorer/<name>": ["/explorer/naive"],
        "/explorer/<name>/scheduler": ["/explorer/lock:lease/scheduler?moves=AApB"],
        "/compare": ["/compare", "/compare?modes=naive&modes=watch"],
        "/comparisons/<id>": compared,
        "/comparisons/<id>/export.<form>": [f"{each}/export.html" for each in compared],
        "/history": ["/history", "/history?page=9"],
        "/classroom": ["/classroom"],
        "/read": ["/read"],
        "/read/<name>": ["/read/naive...watch", *(f"/read/{name}" for name in ways())],
        "/read/diff": [],
        "/transactions": ["/transactions"],
        "/transactions/<name>": [],  # tests/integration/transactions/test_pages.py
    }
    for address in pages(lab, examples):
        only_chinese(lab.get(address, headers=HTML))
    fulfil_all(services.fulfil)
    for address in numbers:
        only_chinese(lab.get(address, headers=HTML))
    only_chinese(lab.get("/rounds/apple/7", headers=HTML), 404)
    only_chinese(lab.get("/rounds/fig", headers=HTML), 404)
    only_chinese(lab.get("/runs/apple-0", headers=HTML), 404)
    only_chinese(lab.get("/read/magic", headers=HTML), 404)


def stampedes(services: Services) -> list[Run]:
    """A running stampede, and one for each ending; the page shows all texts."""
    ended = []
    for how in How:
        run = begin(services, "pear")
        audit = services.auditor.audit(run.round) if how is not How.CRASHED else None
        services.runs.finish(replace(run, how=how, why="killed", audit=audit))
        ended.append(run)
    return [begin(services, "plum"), *ended]


def comparisons(services: Services) -> list[Comparison]:
    """A comparison for each ending, with every verdict that a run can have."""
    ended = []
    for how in How:
        seen = comparison(
            result("naive", 400, verdict="oversold", oversold=131, sold=231, left=0, p95_ms=48.9),
            result("watch", 40, sold=100, left=0, p95_ms=1043.1),
            result("lock:lease", None, how=How.FAILED, verdict="", why="killed"),
            result("decr", 900, verdict="undersold", undersold=2, busy=3, errors=1, lasted_s=0.4),
            result("lock:setnx", 300, verdict="inconsistent", generator_cpu=1.2),
            result("atomic", 1200, sold=100, left=0, p95_ms=9.1),
            repeats=1,
            how=how,
            times={"think": 12_000},
            modes=["naive", "watch", "lock:lease", "decr", "lock:setnx", "atomic"],
            exhibits=["naive", "lock:setnx"],
        )
        services.comparisons.finish(seen)
        ended.append(seen)
    return ended


def begin(services: Services, item: str) -> Run:
    """Start a run without a load runner."""
    crowd = {"buyers": 4, "seconds": 2}
    return services.runs.start(item, "naive", 10, {}, crowd, lambda run: None)


@pytest.mark.parametrize(
    "change",
    [
        {"item": "durian"},
        {"stock": "many"},
        {"stock": "0", "think_ms": "-5", "lease_ms": "1"},
        {"mode": "magic"},
        {"mode": "watch:lease"},
        {"recipe": "magic"},
        {"recipe": "redlock"},
        {"recipe": "zookeeper"},
        {"colour": "red"},
    ],
)
def test_every_refusal_of_the_lab(lab: FlaskClient, change: dict[str, str]) -> None:
    only_chinese(lab.post("/rounds", data=FORM | change, headers=HTML), 422)


@pytest.mark.parametrize(
    "change",
    [
        {"buyers": "0", "seconds": "many"},
        {"buyers": "9999", "seconds": "0", "stock": "0"},
        {"item": "durian"},
        {"mode": "magic"},
        {"colour": "red"},
    ],
)
def test_every_refusal_of_a_stampede(lab: FlaskClient, change: dict[str, str]) -> None:
    only_chinese(lab.post("/runs", data=STAMPEDE | change, headers=HTML), 422)


def test_a_stampede_that_is_on_already(services: Services, lab: FlaskClient) -> None:
    begin(services, "apple")
    only_chinese(lab.post("/runs", data=STAMPEDE, headers=HTML), 409)
    detail = problem(lab.post("/runs", data=STAMPEDE, headers=JSON), 409)["detail"]
    assert not english(detail)
    assert not detail.isascii()


@pytest.mark.parametrize(
    "change",
    [
        {"buyers": "0", "repeats": "9", "seconds": "many"},
        {"item": "durian"},
        {"modes": "magic"},
        {"reference": "lock:redlock"},
        {"colour": "red"},
    ],
)
def test_every_refusal_of_a_comparison(lab: FlaskClient, change: dict[str, str]) -> None:
    only_chinese(lab.post("/comparisons", data=COMPARED | change, headers=HTML), 422)


def test_a_comparison_that_is_on(services: Services, lab: FlaskClient) -> None:
    crowd = {"buyers": 4, "seconds": 2, "repeats": 1}
    on = services.comparisons.start("apple", ["watch"], "naive", 10, {}, crowd, lambda _: None)
    only_chinese(lab.get(f"/comparisons/{on.id}", headers=HTML))
    only_chinese(lab.get("/compare", headers=HTML))
    only_chinese(lab.post("/comparisons", data=COMPARED, headers=HTML), 409)
    only_chinese(lab.post("/runs", data=STAMPEDE, headers=HTML), 409)
    only_chinese(lab.get("/comparisons/compare-0", headers=HTML), 404)


def test_a_class_from_nickname_to_verdict(
    services: Services, shop: FlaskClient, lab: FlaskClient
) -> None:
    for name in ("", "x" * 200, "\x07"):
        only_chinese(shop.post("/class/name", data={"name": name}, headers=HTML), 422)
    shop.post("/class/name", data={"name": "小明"}, headers=HTML)
    services.rounds.end("apple")
    for delay in ("3600000", "0"):
        form = {"mode": "naive", "think_ms": "0", "delay_ms": delay}
        assert lab.post("/classroom/sale", data=form, headers=HTML).status_code == 303
        only_chinese(shop.get("/class", headers=HTML))
        only_chinese(lab.get("/classroom", headers=HTML))
        only_chinese(lab.post("/classroom/sale", data=form, headers=HTML), 409)
        if delay != "0":
            only_chinese(shop.post("/buy/apple", data={"quantity": "1"}, headers=HTML), 409)
        number = services.rounds.find("apple").number
        lab.post(f"/classroom/close/{number}", headers=HTML)
    only_chinese(lab.get("/classroom", headers=HTML))
    only_chinese(lab.post("/classroom/sale", data={"stock": "no"}, headers=HTML), 422)


@pytest.mark.parametrize("way", NAMES)
def test_warnings_and_verdicts_for_programs_that_ask(
    services: Services, lab: FlaskClient, way: str
) -> None:
    if services.rounds.missing(way):
        return
    services.rounds.start("apple", way, 3, {"think": 12_000})
    said = lab.get("/rounds/apple", headers=ZH).get_json()["warnings"]
    said.append(lab.get("/rounds/apple/1/audit", headers=ZH).get_json()["sentence"])
    assert [text for text in said if english(text) or text.isascii()] == []


def test_a_program_that_asks_for_the_ways(lab: FlaskClient) -> None:
    about = lab.get("/about", headers=ZH).get_json()
    for way in about["modes"] + about["recipes"]:
        rows = [way[row] for row in ("title", "how", "prevents", "breaks", "cost", "sound")]
        assert [text for text in rows if english(text)] == [], way["name"]


class Hasty(Clock):
    """A clock that does not really sleep."""

    def sleep(self, seconds: float) -> None:
        pass
