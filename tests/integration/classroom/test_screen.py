"""The projector's screen, over HTTP: the stream, the way in, and its text when all is away."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from urllib.parse import quote

import orjson
import pytest
from flask.testing import FlaskClient

from app import create_lab, create_shop
from app.bootstrap import Services
from app.config import Settings
from app.lab.classroom.addresses import shop_addresses
from app.lab.classroom.events import AWAY, BACK, follow
from app.lab.classroom.views import document
from tests.integration.classroom.lesson import HTML, Phones, see, start
from tests.support.http_client import problem
from tests.support.servers import StoreServer, free_port, until

RUNS_ON = ["valkey"]  # the class asks no store for anything special


def test_a_screen_goes_on_where_it_was_cut_off(
    services: Services, lab: FlaskClient, phone: Phones
) -> None:
    phone("Ada")
    stand, names = see(services)
    assert (stand.kind, names.kind) == ("sale", "names")
    assert see(services, names.id) == [], "nothing twice"
    phone("Bo")
    [only] = see(services, names.id)
    assert [each["name"] for each in only.subject] == ["Ada", "Bo"]
    assert see(services, only.id) == []
    start(lab, delay_ms=60_000)
    [only] = see(services, only.id)
    assert (only.kind, only.subject["phase"]) == ("sale", "waiting")
    assert len(see(services, stand.id)) == 2, "cut off between the two: both"


def test_a_nickname_is_kept_off_the_screens_and_shown_again(
    services: Services, lab: FlaskClient, phone: Phones
) -> None:
    phone("Ada")
    rude = phone("Rude")
    names = see(services)[-1]
    id = names.subject[1]["id"]
    assert lab.post("/classroom/names", json={"hide": id}).status_code == 200
    [only] = see(services, names.id)
    assert [each["name"] for each in only.subject] == ["Ada", ""]
    rude.post("/class/name", json={"name": "Ruder"})
    assert "Rude" not in lab.get("/classroom", headers=HTML).text, "whatever it calls itself"
    assert rude.get("/class/state").status_code == 200, "its phone knows nothing of it"
    answer = lab.post("/classroom/names", data={"show": id}, headers=HTML)
    assert (answer.status_code, answer.location) == (303, "/classroom")
    assert [each["name"] for each in see(services)[-1].subject] == ["Ada", "Ruder"]


@pytest.mark.parametrize("values", [{}, {"hide": "nobody"}, {"hide": 7}, {"hide": ""}])
def test_only_who_is_here_can_be_hidden(lab: FlaskClient, values: dict[str, object]) -> None:
    problem(lab.post("/classroom/names", json=values), 422)


def test_the_stream_on_the_wire(lab: FlaskClient, phone: Phones) -> None:
    phone("Ada")
    start(lab, delay_ms=60_000)
    answer = lab.get("/classroom/events", headers={"Last-Event-ID": "what? is this"})
    assert answer.mimetype == "text/event-stream"
    lines = answer.iter_encoded()
    text = b"".join(next(lines) for _ in range(3)).decode()
    answer.close()
    assert text.startswith("retry: 1000\n\nid: .")
    said = text.partition("data: ")[2].partition("\n")[0]
    assert 0 < orjson.loads(said)["opens_in_ms"] <= 60_000
    assert "event: names" in text


def test_the_stream_speaks_the_screens_language(services: Services, lab: FlaskClient) -> None:
    services.class_sale.close(start(lab))
    until(lambda: see(services, most=1)[0].subject["phase"] == "over")
    answer = lab.get("/classroom/events", headers={"Accept-Language": "zh-CN"})
    lines = answer.iter_encoded()
    text = b"".join(next(lines) for _ in range(2)).decode()
    answer.close()
    sentence = orjson.loads(text.partition("data: ")[2])["sentence"]
    assert not sentence.isascii()


@pytest.mark.parametrize("host", ["192.168.1.7", "0.0.0.0"])
def test_the_way_in_is_drawn_as_the_policy_of_the_page_allows(
    services: Services, settings: Settings, host: str
) -> None:
    known = replace(settings, shop_host=host)
    lab = create_lab(known).test_client()
    ways_in = shop_addresses(known)
    for address in ways_in:
        answer = lab.get("/classroom", query_string={"address": address}, headers=HTML)
        assert f'href="{address}/class"' in answer.text
        assert '<svg viewBox="0 0 ' in answer.text
        assert "style=" not in answer.text
        others = [other for other in ways_in if f"?address={quote(other)}" in answer.text]
        assert others == [other for other in ways_in if other != address]
    wrong = lab.get("/classroom?address=http://elsewhere.example", headers=HTML)
    assert "elsewhere.example/class" not in wrong.text


def test_a_screen_is_told_that_the_store_is_back(
    settings: Settings, own_store: StoreServer
) -> None:
    """Also when nothing has changed meanwhile: otherwise its warning would stay forever."""
    services = Services(replace(settings, redis_url=own_store.url))
    services.migrate()
    told = follow(services.class_sale, services.members, "", document)
    assert [event and event.kind for event in islice(told, 3)] == ["sale", "names", None]
    own_store.kill()
    assert next(told) == AWAY
    own_store.start()
    assert next(event for event in told if event != AWAY) == BACK
    assert next(told) is None
    services.store.close()
    services.engine.dispose()


def test_with_the_store_away_the_pages_say_so(settings: Settings) -> None:
    nowhere = replace(settings, redis_url=f"redis://127.0.0.1:{free_port()}")
    page = create_lab(nowhere).test_client().get("/classroom", headers=HTML)
    assert page.status_code == 200
    assert "We cannot answer right now" in page.text
    phone = create_shop(nowhere).test_client()
    assert phone.post("/class/name", json={"name": "Ada"}).status_code == 201
    page = phone.get("/class", headers=HTML)  # its script asks again, an error page's does not
    assert page.status_code == 200
    assert "class.js" in page.text
    problem(phone.get("/class/state"), 503)
