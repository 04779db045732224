"""Every mode, and `lock` wherever a lock can live, started from the lab's form as in a browser.

The recipes that live in the same place differ only behind the form: tests/integration/locks.
"""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser

import pytest
import requests

from app.locks import LOCKS
from app.modes import MODES
from tests.support.shop import Shop
from tests.support.zookeeper import zookeeper_jar

HTML = {"Accept": "text/html"}
HOME = {recipe.needs: name for name, recipe in LOCKS.items()}  # one recipe for each place
EVERY_WAY = [mode for mode in MODES if mode != "lock"] + [f"lock:{name}" for name in HOME.values()]


@pytest.fixture(scope="module")
def shop(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Shop]:
    """One shop for all; where ZooKeeper is missing, one without it."""
    try:
        zookeeper_jar()
    except pytest.skip.Exception:
        environ = {}
    else:
        environ = {"ZOOKEEPER_HOSTS": request.getfixturevalue("zookeeper").hosts}
    with Shop(tmp_path_factory.mktemp("shop"), **environ) as shop:
        yield shop


class Form(HTMLParser):
    """The lab's form in its page: the fields that it sends, and the choices that it offers."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.values: dict[str, str] = {}
        self.choices: dict[str, list[str]] = {}
        self.select = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        if tag == "input":
            self.values[attributes["name"]] = attributes["value"]
        elif tag == "select":
            self.select = attributes["name"]
            self.choices[self.select] = []
        elif tag == "option":
            self.choices[self.select].append(attributes["value"])
            if "selected" in attributes:
                self.values[self.select] = attributes["value"]


@pytest.fixture
def form(shop: Shop) -> Form:
    return Form(requests.get(shop.lab, headers=HTML, timeout=5).text)


def test_the_form_offers_every_name_once(form: Form) -> None:
    assert form.choices["mode"] == list(MODES)
    assert form.choices["recipe"] == list(LOCKS)


@pytest.mark.parametrize("name", EVERY_WAY)
def test_one_apple_is_sold_and_accounted_for(shop: Shop, form: Form, name: str) -> None:
    if name == "lock:zookeeper":
        zookeeper_jar()
    mode, _, recipe = name.partition(":")
    assert mode in form.choices["mode"]
    assert not recipe or recipe in form.choices["recipe"]
    form.values |= {"mode": mode, "stock": "1", "think_ms": "0"}
    form.values |= {"recipe": recipe} if recipe else {}

    page = requests.post(f"{shop.lab}/rounds", data=form.values, headers=HTML, timeout=5)
    assert page.status_code == 200, page.text
    assert f"<code>{name}</code>" in page.text
    number = int(page.url.rpartition("/")[2])

    with requests.Session() as session:
        answer = shop.buy(session)
    assert (answer.status_code, answer.json()["mode"]) == (201, name)
    audit = shop.audit(number)
    assert audit["verdict"] == "exact"
    assert (audit["sold"], audit["orders"], audit["left"]) == (1, 1, 0)


def test_a_way_that_needs_row_locks_is_refused_in_words(shop: Shop, form: Form) -> None:
    """On SQLite, which this shop has."""
    form.values |= {"mode": "sql_units", "stock": "1"}
    page = requests.post(f"{shop.lab}/rounds", data=form.values, headers=HTML, timeout=5)
    assert page.status_code == 422
    assert "SQLite cannot lock single rows" in page.text
    compare = requests.get(f"{shop.lab}/compare", headers=HTML, timeout=5).text
    assert "SQLite cannot lock single rows" in compare.partition('value="sql_units"')[2][:400]
