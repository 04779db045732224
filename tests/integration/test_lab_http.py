"""The lab's HTTP: rounds, audits, its form's answers."""

from __future__ import annotations

import re
from html import unescape

import pytest
from flask.testing import FlaskClient

from app.bootstrap import Services
from app.modes import MODES
from tests.support.purchases import fulfil_all, mode, order

RUNS_ON = ["valkey"]  # HTTP answers are the same on every store
HTML = {"Accept": "text/html"}
FORM = {
    "item": "apple",
    "stock": "10",
    "mode": "lock",
    "recipe": "lease",
    "think_ms": "12000",
    "lease_ms": "10000",
    "wait_ms": "5000",
    "attempts": "64",
    "limit": "10",
}


def test_a_round_from_the_form(lab: FlaskClient) -> None:
    answer = lab.post("/rounds", data=FORM)
    assert (answer.status_code, answer.headers["Location"]) == (303, "/rounds/apple/1")
    page = lab.get("/rounds/apple/1", headers=HTML).text
    assert "The work (12 s of thinking) will outlive the lease (10 s): expect oversell." in page
    assert "lock:lease" in page


@pytest.mark.parametrize(
    ("recipe", "advice"), [("zookeeper", "Set it to host:port"), ("redlock", "set REDLOCK_URLS")]
)
def test_the_form_says_what_a_recipe_lacks_here(lab: FlaskClient, recipe: str, advice: str) -> None:
    answer = lab.post("/rounds", data=FORM | {"recipe": recipe})
    assert answer.status_code == 422
    assert advice in " ".join(answer.text.split())
    assert 'id="recipe-error"' in answer.text, "beside the field that is to be changed"
    assert lab.get("/about").get_json()["masters"] == 0


def test_another_round_like_it_is_a_link_away(lab: FlaskClient) -> None:
    lab.post("/rounds", data=FORM | {"stock": "7"})
    page = lab.get("/rounds/apple/1", headers=HTML).text
    link = re.search(r'href="(/\?[^"]+)">Start another like it', page)
    assert link
    form = lab.get(unescape(link[1]), headers=HTML).text
    assert 'value="7"' in form
    assert 'value="12000"' in form
    assert re.search(r'<option value="lock" selected', form)


def test_the_form_comes_back_with_what_was_wrong(lab: FlaskClient) -> None:
    answer = lab.post("/rounds", data=FORM | {"stock": "many", "lease_ms": "20000"})
    assert answer.status_code == 422
    assert "Stock must be a whole number." in answer.text
    assert 'value="20000"' in answer.text
    both = lab.post("/rounds", data=FORM | {"stock": "0", "think_ms": "-5"}).text
    assert "Stock must be from 1" in both
    assert "Think must be from 0" in both
    assert lab.get("/rounds/apple").status_code == 404, "nothing was started"


def test_the_json_of_a_round(lab: FlaskClient) -> None:
    answer = lab.post("/rounds", json={"item": "apple", "stock": 500, "mode": "naive"})
    assert answer.status_code == 201
    round = answer.get_json()
    assert round["round"] == 1
    assert round["exhibit"]
    assert round["warnings"] == [
        "naive is broken on purpose: two buyers read the same stock and both write it less one: "
        "a lost update, oversell."
    ]
    assert lab.get("/rounds/apple").get_json()["left"] == 500
    assert lab.post("/rounds/apple/end", json={}).get_json()["running"] is False
    assert lab.post("/rounds/apple/end", json={}).status_code == 409
    assert lab.post("/rounds/durian/end", json={}).status_code == 404


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"item": "durian"}, 404),
        ({"mode": "magic"}, 422),
        ({"mode": 5}, 422),
        ({"stock": "500"}, 201),
        ({"stock": 1.5}, 422),
        ({"think_ms": 60_001}, 422),
        ({"limit": 0}, 422),
        ({"think": 50}, 422),
    ],
)
def test_bad_rounds(lab: FlaskClient, change: dict[str, object], status: int) -> None:
    wanted = {"item": "apple", "stock": 500, "mode": "watch"} | change
    assert lab.post("/rounds", json=wanted).status_code == status


def test_unknown_rounds(lab: FlaskClient) -> None:
    for path in ("/rounds/apple", "/rounds/apple/7", "/rounds/durian/1", "/rounds/apple/7/audit"):
        answer = lab.get(path)
        assert answer.status_code == 404
        assert answer.mimetype == "application/problem+json"


def test_the_audit_in_json_and_in_words(services: Services, lab: FlaskClient) -> None:
    lab.post("/rounds", json={"item": "apple", "stock": 3, "mode": "atomic"})
    round = services.rounds.find("apple")
    mode(services, round).sell(order(round, quantity=2))
    assert lab.get("/rounds/apple/1/audit").get_json()["verdict"] == "settling"
    fulfil_all(services.fulfil)
    audit = lab.get("/rounds/apple/1/audit").get_json()
    assert (audit["verdict"], audit["sold"], audit["left"], audit["orders"]) == ("exact", 2, 1, 1)
    shown = lab.get("/rounds/apple/1", headers=HTML).text
    assert audit["sentence"] in shown.replace("\xa0", " ")


def test_every_page_of_the_lab(lab: FlaskClient) -> None:
    lab.post("/rounds", data=FORM)
    page = lab.get("/", headers=HTML)
    assert page.status_code == 200
    assert "broken on purpose" in page.text
    assert lab.get("/nowhere", headers=HTML).mimetype == "text/html"


def test_no_other_site_presses_our_buttons(lab: FlaskClient) -> None:
    answer = lab.post("/rounds", data=FORM, headers={"Origin": "http://evil.example"})
    assert answer.status_code == 403
    assert lab.post("/rounds", data=FORM, headers={"Origin": "http://localhost"}).status_code == 303


def test_only_names_of_this_machine_are_answered(lab: FlaskClient) -> None:
    assert lab.get("/about", headers={"Host": "evil.example"}).status_code == 400
    assert lab.get("/about", headers={"Host": "localhost:8001"}).status_code == 200


def test_about(lab: FlaskClient) -> None:
    about = lab.get("/about").get_json()
    assert about["shop"]["threads"] == 16
    assert about["store"]["server"].split()[0] in ("Valkey", "Redis")
    assert about["store"]["appendfsync"] == "no"
    assert about["store"]["durability"] == "safe"
    assert [mode["name"] for mode in about["modes"]] == list(MODES)
