"""The HTTP of runs: the form, its errors, and streams that are cut anywhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from flask.testing import FlaskClient

from app import create_lab
from app.bootstrap import Services
from app.config import Settings
from app.lab.stampede.record import How, Run
from tests.integration.stampede.event_stream import Told, told
from tests.support.http_client import problem
from tests.support.servers import StoreServer

RUNS_ON = ["valkey"]
HTML = {"Accept": "text/html"}
FORM = {
    "item": "apple",
    "stock": "10",
    "mode": "lock",
    "recipe": "lease",
    "think_ms": "5",
    "lease_ms": "10000",
    "wait_ms": "5000",
    "buyers": "4",
    "seconds": "2",
}


def read(lab: FlaskClient, run: Run, after: str) -> list[Told]:
    answer = lab.get(f"/runs/{run.id}/events", headers={"Last-Event-ID": after} if after else {})
    return list(told(answer.text.splitlines()))


def test_a_stream_cut_anywhere_gives_every_sample_once(
    lab: FlaskClient, services: Services, begin: Callable[..., Run]
) -> None:
    run = begin()
    for number in range(7):
        services.store.xadd(run.keys.events, {"kind": "sample", "data": f'{{"sold":{number}}}'})
    services.runs.finish(replace(run, how=How.FINISHED))
    for forgotten in (False, True):
        if forgotten:
            services.store.flushall()  # from here on it comes from the database
        whole = read(lab, run, "")
        assert [event.kind for event in whole] == ["sample"] * 7 + ["end"]
        for cut in range(1, len(whole)):
            assert whole[:cut] + read(lab, run, whole[cut - 1].id) == whole
        after = {"Last-Event-ID": whole[-1].id}
        answer = lab.get(f"/runs/{run.id}/events", headers=after)
        assert answer.status_code == 204, "a browser need not come again"
    assert read(lab, run, "nonsense") == whole


def test_a_second_instructor_is_shown_the_run_that_is_on(
    lab: FlaskClient, services: Services, begin: Callable[..., Run]
) -> None:
    run = begin()
    page = lab.post("/runs", data=FORM, headers=HTML)
    assert page.status_code == 409
    assert f'href="/runs/{run.id}"' in page.text
    assert 'name="buyers"' in page.text, "and his form as he filled it in"
    problem(lab.post("/runs", json=FORM), 409)
    assert services.rounds.find("apple") == run.round, "the round that is on is untouched"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("stock", "many"),
        ("stock", "0"),
        ("buyers", "513"),
        ("seconds", ""),
        ("think_ms", "-1"),
        ("recipe", "magic"),
        ("item", "durian"),
    ],
)
def test_bad_input_is_told_at_its_field(lab: FlaskClient, field: str, value: str) -> None:
    answer = lab.post("/runs", data=FORM | {field: value}, headers=HTML)
    assert answer.status_code == 422
    assert f'href="#{field}"' in answer.text
    if field != "item":
        assert f'id="{field}-error"' in answer.text
    assert lab.get("/rounds/apple").status_code == 404, "nothing was started"
    status = lab.post("/runs", json=FORM | {field: value}).status_code
    assert status == (404 if field == "item" else 422)


def test_what_no_run_has_is_refused(lab: FlaskClient) -> None:
    assert "speed" in problem(lab.post("/runs", json=FORM | {"speed": 9}), 422)["detail"]


def test_unknown_runs(lab: FlaskClient) -> None:
    for path in ("/runs/apple-0123456789", "/runs/x/events"):
        problem(lab.get(path), 404)
    problem(lab.post("/runs/apple-0123456789/stop", json={}), 404)
    assert lab.get("/runs/x", headers=HTML).status_code == 404


def test_a_run_that_has_ended_on_its_page(
    lab: FlaskClient, services: Services, begin: Callable[..., Run]
) -> None:
    run = begin(mode="lock:lease")
    services.runs.finish(replace(run, how=How.FAILED, why="ImportError: <b>"))
    page = lab.get(f"/runs/{run.id}", headers=HTML).text
    assert "The buyers’ program died." in page
    assert "ImportError: &lt;b&gt;" in page
    assert "http-equiv" not in page, "nothing more to wait for"
    assert "recipe=lease" in page, "another one like it"
    said = lab.get(f"/runs/{run.id}").get_json()
    assert (said["how"], said["running"], said["mode"]) == ("failed", False, "lock:lease")
    assert run.id in lab.get("/stampede", headers=HTML).text


def test_a_stampede_of_thousands_is_listed(
    lab: FlaskClient, services: Services, begin: Callable[..., Run]
) -> None:
    run = begin()
    audit = replace(services.auditor.audit(run.round), sold=1_234)
    services.runs.finish(replace(run, how=How.FINISHED, audit=audit))
    assert "Sold 1,234 of 10" in lab.get("/stampede", headers=HTML).text


def test_with_the_store_away_nothing_starts(own_store: StoreServer, settings: Settings) -> None:
    lab = create_lab(replace(settings, redis_url=own_store.url)).test_client()
    own_store.kill()
    answer = lab.post("/runs", data=FORM, headers=HTML)
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "1")
    problem(lab.post("/runs", json=FORM), 503)
