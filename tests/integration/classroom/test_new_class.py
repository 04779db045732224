"""A new class begins with empty screens, and the ledger keeps the purchases of the previous
class.
"""

from __future__ import annotations

import pytest
from flask.testing import FlaskClient

from app.bootstrap import Services
from app.store import classroom as class_records
from app.store.clients.redis import answering
from tests.integration.classroom.lesson import HTML, Phones, press, see, start
from tests.support.http_client import problem
from tests.support.purchases import fulfil_all
from tests.support.servers import until

RUNS_ON = ["valkey", "cluster"]
NOBODY = "No participant has this id."


@pytest.fixture
def bought(services: Services, lab: FlaskClient, phone: Phones) -> FlaskClient:
    """A phone that has bought in a sale that is over, and whose name is hidden."""
    ada = phone("Ada")
    number = start(lab)
    until(lambda: ada.get("/class/state").get_json()["round"] == number)
    assert press(ada, ada.get("/class/state").get_json()).status_code == 201
    lab.post(f"/classroom/close/{number}", json={})
    fulfil_all(services.fulfil)
    until(lambda: see(services, most=1)[0].subject["phase"] == "over")
    [name] = see(services)[1].subject
    assert name["bought"]
    lab.post("/classroom/names", json={"hide": name["id"]})
    return ada


def test_the_screens_are_cleared(services: Services, lab: FlaskClient, bought: FlaskClient) -> None:
    last = see(services)[-1].id
    assert lab.post("/classroom/new", json={}).get_json() == {"phase": "idle"}
    stand, names = see(services, last)
    assert (stand.subject["phase"], stand.subject["round"], names.subject) == ("idle", 0, [])
    page = lab.get("/classroom", headers=HTML).text
    assert "every unit accounted for" not in page
    assert "The same again" not in page
    assert "Start the countdown" in page


def test_the_phones_join_anew(services: Services, lab: FlaskClient, bought: FlaskClient) -> None:
    lab.post("/classroom/new", json={})
    until(lambda: bought.get("/class/state").status_code == 422)
    page = bought.get("/class", headers=HTML).text
    assert 'name="name" value="Ada"' in page, "one press, and it is in"
    assert services.members.present() == [], "until then it is not shown"
    assert bought.post("/class/name", json={"name": "Ada"}).status_code == 201
    state = bought.get("/class/state").get_json()
    assert (state["round"], state["ending"]) == (0, None)
    [name] = see(services)[-1].subject
    assert (name["name"], name["bought"]) == ("Ada", False), "and not hidden any more"


def test_the_books_keep_everything(
    services: Services, lab: FlaskClient, bought: FlaskClient
) -> None:
    lab.post("/classroom/new", json={})
    [order] = bought.get("/orders").get_json()["orders"]
    assert (order["item"], order["state"]) == ("apple", "confirmed")
    audit = lab.get("/rounds/apple/1/audit").get_json()
    assert (audit["verdict"], audit["sold"]) == ("exact", 1)
    assert start(lab) == 2


def test_who_changes_a_name_stays_in_the_class(
    services: Services, lab: FlaskClient, phone: Phones
) -> None:
    lab.post("/classroom/new", json={})
    ada = phone("Ada")
    ada.post("/class/name", json={"name": "Ada L."})

    def is_there() -> bool:  # on a machine that stands still for GONE she is not, until she asks
        assert ada.get("/class/state").status_code == 200
        return [member.name for member in services.members.present()] == ["Ada L."]

    until(is_there)


def test_not_amid_a_sale(services: Services, lab: FlaskClient, phone: Phones) -> None:
    ada = phone("Ada")
    number = start(lab, delay_ms=60_000)
    assert problem(lab.post("/classroom/new", json={}), 409)["title"] == "The sale is on"
    page = lab.post("/classroom/new", headers=HTML)
    assert (page.status_code, "A sale is on" in page.text) == (409, True)
    assert ada.get("/class/state").get_json()["round"] == number
    assert [member.name for member in services.members.present()] == ["Ada"]


def test_not_while_somebody_starts_one(services: Services, lab: FlaskClient) -> None:
    with answering():
        assert class_records.claim(services.store, "apple", "another", 60_000)
    problem(lab.post("/classroom/new", json={}), 409)


def test_a_form_leads_back_to_the_page(services: Services, lab: FlaskClient) -> None:
    answer = lab.post("/classroom/new", headers=HTML)
    assert (answer.status_code, answer.location) == (303, "/classroom")
