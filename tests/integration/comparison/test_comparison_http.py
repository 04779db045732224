"""The HTTP of comparisons: the form, its errors, the downloads, the history."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from flask.testing import FlaskClient

from app import create_lab
from app.bootstrap import Services
from app.config import Settings
from app.lab.comparison.record import Comparison
from app.lab.stampede.record import How
from tests.support.http_client import problem
from tests.support.servers import StoreServer
from tests.unit.comparison.comparisons import comparison, result

RUNS_ON = ["valkey"]
HTML = {"Accept": "text/html"}
FORM: dict[str, Any] = {
    "item": "apple",
    "stock": "10",
    "modes": ["watch", "lock:lease"],
    "reference": "naive",
    "think_ms": "5",
    "lease_ms": "10000",
    "wait_ms": "5000",
    "buyers": "4",
    "seconds": "2",
    "repeats": "1",
}
JSON = {name: int(value) if str(value).isdigit() else value for name, value in FORM.items()}


@pytest.fixture
def ended(services: Services) -> Comparison:
    """A comparison with every kind of result: oversold, crashed, broken on purpose."""
    seen = comparison(
        result("naive", 400, verdict="oversold", oversold=131, sold=231, left=0, p95_ms=48.9),
        result("watch", 40, sold=100, left=0, p95_ms=1043.1),
        result("lock:lease", None, how=How.FAILED, verdict="", why="ImportError: <b>"),
        result("atomic", 1200, sold=100, left=0, p95_ms=9.1),
        repeats=1,
        how=How.FINISHED,
    )
    services.comparisons.finish(seen)
    return services.comparisons.find(seen.id)


@pytest.mark.parametrize("combine", [b"true", b"false"])
def test_a_comparison_of_before_says_whether_threads_were_served_together(
    services: Services, lab: FlaskClient, combine: bytes
) -> None:
    record = comparison(result("watch", 40), ended=1_700_000_000_000, how=How.FINISHED).encode()
    of_before = record.replace(b'"combine":false', b'"combine":' + combine)
    assert b'"combine":' + combine in of_before
    services.comparisons.finish(Comparison.decode(of_before))
    html = lab.get("/comparisons/comparison-0123456789", headers=HTML)
    assert html.status_code == 200
    assert ("sold to several threads at once" in html.text) == (combine == b"true")
    assert lab.get("/comparisons/comparison-0123456789").status_code == 200


@pytest.mark.parametrize(
    ("target", "said"),
    [
        (
            "watch",
            "it sold 0.10 times as fast as naive (broken on purpose) (0.10 to 0.10, runs: 1)",
        ),
        ("naive", "it was the reference. <strong"),
        ("lock", "it has no meaningful ratio."),
    ],
)
def test_the_pages_to_read_tell_of_it(
    lab: FlaskClient, ended: Comparison, target: str, said: str
) -> None:
    html = " ".join(lab.get(f"/read/{target}", headers=HTML).text.split())
    assert said in html
    assert f'href="/comparisons/{ended.id}"' in html
    assert ("Oversold by up to 131" in html) == (target == "naive")
    assert lab.get(f"/read/{target}").get_json()["compared"]["id"] == ended.id
    assert lab.get("/read/decr").get_json()["compared"] is None


@pytest.mark.parametrize(
    ("field", "value", "where"),
    [
        ("stock", "many", "stock"),
        ("stock", "0", "stock"),
        ("buyers", "513", "buyers"),
        ("repeats", "", "repeats"),
        ("think_ms", "-1", "think_ms"),
        ("modes", ["magic"], "modes"),
        ("modes", [], "modes"),
        ("reference", "lock:magic", "reference"),
        ("item", "durian", "item"),
    ],
)
def test_bad_input_is_told_at_its_field(
    lab: FlaskClient, field: str, value: object, where: str
) -> None:
    answer = lab.post("/comparisons", data=FORM | {field: value}, headers=HTML)
    assert answer.status_code == 422
    assert f'href="#{where}"' in answer.text
    assert f'id="{where}"' in answer.text
    assert f'id="{where}-error"' in answer.text
    if field != "modes":
        assert re.search(r'value="lock:lease"\s+checked', answer.text), "as he filled it in"
    status = lab.post("/comparisons", json=JSON | {field: value}).status_code
    assert status == (404 if field == "item" else 422)
    assert lab.get("/rounds/apple").status_code == 404, "nothing was started"


def test_what_no_comparison_has_is_refused(lab: FlaskClient) -> None:
    assert "speed" in problem(lab.post("/comparisons", json=JSON | {"speed": 9}), 422)["detail"]
    assert (
        "list" in problem(lab.post("/comparisons", json=JSON | {"modes": "naive"}), 422)["detail"]
    )


def test_who_comes_second_is_led_to_what_is_on(
    lab: FlaskClient, services: Services, compare: Callable[..., Comparison]
) -> None:
    mine = compare()
    here = f'href="/comparisons/{mine.id}"'
    page = lab.post("/comparisons", data=FORM, headers=HTML)
    assert page.status_code == 409
    assert here in page.text
    problem(lab.post("/comparisons", json=JSON), 409)
    run = {name: FORM[name] for name in ("item", "stock", "buyers", "seconds")} | {"mode": "naive"}
    page = lab.post("/runs", data=run, headers=HTML)
    assert page.status_code == 409
    assert here in page.text
    problem(lab.post("/runs", json=run), 409)
    services.comparisons.finish(mine)
    stampede = services.runs.start(
        "fig", "watch", 5, {}, {"buyers": 4, "seconds": 2}, lambda run: None
    )
    page = lab.post("/comparisons", data=FORM, headers=HTML)
    assert page.status_code == 409
    assert f'href="/runs/{stampede.id}"' in page.text


def test_an_exhibit_and_its_oversell_are_named_on_the_page(
    lab: FlaskClient, ended: Comparison
) -> None:
    page = lab.get(f"/comparisons/{ended.id}", headers=HTML).text
    rows = re.findall(r'<a class="row" href="(.*?)">(.*?)</a>', page, re.DOTALL)
    assert [href for href, _ in rows] == [
        f"/runs/apple-{mode}-1" for mode in ("atomic", "naive", "watch", "lock:lease")
    ]
    naive = dict(rows)["/runs/apple-naive-1"]
    assert "broken on purpose" in naive
    assert "Oversold by up to 131" in naive
    assert "url(#stripes)" in naive
    for href, row in rows:
        assert ("stripes" in row) == ("broken" in row) == href.endswith("naive-1")
    assert "The reference sells 10.0 times as fast." in page
    assert "ImportError: &lt;b&gt;" in page
    assert "The buyers’ program died." in page
    assert "http-equiv" not in page, "nothing more to wait for"
    assert lab.get(f"/comparisons/{ended.id}/events").status_code == 204
    again = lab.get("/compare", query_string=[("modes", "watch"), ("stock", "77")], headers=HTML)
    assert 'value="77"' in again.text
    assert re.search(r'value="watch"\s+checked', again.text)
    assert not re.search(r'value="atomic"\s+checked', again.text)


def test_what_is_taken_away_needs_nothing_else(lab: FlaskClient, ended: Comparison) -> None:
    answer = lab.get(f"/comparisons/{ended.id}/export.html")
    assert f'filename="{ended.id}.html"' in answer.headers["Content-Disposition"]
    text = answer.text
    assert not re.findall(r"""https?:|@import|<script|url\((?!#)|src=|href="(?!data:)""", text)
    assert "▲ Oversold by up to 131" in text
    assert text.count("broken on purpose") >= 4
    assert "ImportError: &lt;b&gt;" in text


def test_tables_and_programs_get_the_same_figures(lab: FlaskClient, ended: Comparison) -> None:
    rows = list(csv.DictReader(lab.get(f"/comparisons/{ended.id}/export.csv").text.splitlines()))
    told = [(row["mode"], row["ratio"], row["exhibit"], row["oversold"]) for row in rows]
    assert told == [
        ("atomic", "3.0", "no", "0"),
        ("naive", "1.0", "yes", "131"),
        ("watch", "0.1", "no", "0"),
        ("lock:lease", "", "no", "0"),
    ]
    document = lab.get(f"/comparisons/{ended.id}/export.json").get_json()
    assert document == lab.get(f"/comparisons/{ended.id}").get_json()
    assert [run["ratio"] for run in document["runs"]] == [3.0, 1.0, 0.1, None]
    assert document["ways"][1]["oversold_by_up_to"] == 131
    assert document["machine"]["store"] == "Valkey 9.1.0"


def test_unknown_comparisons_forms_and_pages(lab: FlaskClient, ended: Comparison) -> None:
    for path in ("/comparisons/x", "/comparisons/x/events", "/comparisons/x/export.csv"):
        problem(lab.get(path), 404)
    problem(lab.get(f"/comparisons/{ended.id}/export.exe"), 404)
    problem(lab.post("/comparisons/comparison-0/stop", json={}), 404)
    for page in ("0", "-1", "x", "100001", "9" * 25):
        problem(lab.get(f"/history?page={page}"), 422)
        assert lab.get(f"/history?page={page}", headers=HTML).status_code == 422


def test_the_history_page_by_page(lab: FlaskClient, services: Services, ended: Comparison) -> None:
    for number in range(20):
        run = services.runs.start(
            "fig", "naive", 5, {}, {"buyers": 1, "seconds": 1}, lambda run: None
        )
        services.runs.finish(replace(run, how=How.STOPPED, started=run.started + number))
    first = lab.get("/history", headers=HTML).text
    assert first.count("<h2>") == 20
    assert ended.id not in first
    assert "page=2" in first
    second = lab.get("/history?page=2", headers=HTML).text
    assert ended.id in second
    assert "page=3" not in second
    said = lab.get("/history?page=2").get_json()
    assert [each["id"] for each in said["past"]] == [ended.id]
    assert (said["page"], said["more"]) == (2, False)
    assert lab.get("/history?page=9").get_json()["past"] == []


def test_with_the_store_away(own_store: StoreServer, settings: Settings, ended: Comparison) -> None:
    """Nothing starts; what is in the database can still be read."""
    lab = create_lab(replace(settings, redis_url=own_store.url)).test_client()
    own_store.kill()
    answer = lab.post("/comparisons", data=FORM, headers=HTML)
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "1")
    problem(lab.post("/comparisons", json=JSON), 503)
    assert lab.get("/compare", headers=HTML).status_code == 503
    assert ended.id in lab.get("/history", headers=HTML).text
    assert lab.get(f"/comparisons/{ended.id}").get_json()["id"] == ended.id
