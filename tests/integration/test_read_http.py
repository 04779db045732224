"""The lab's pages to read: over HTTP, without a store."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from datetime import UTC, datetime
from html import unescape
from pathlib import Path
from urllib.parse import parse_qsl

import pytest
from badluck.explorer import Explorer
from flask.testing import FlaskClient

from app import create_lab
from app.config import Settings
from app.explorer.targets import Target
from app.lab import sources as reading
from app.lab.explorer.searches import Wanted
from loadtest.report import document
from tests.support.servers import free_port
from tests.unit.loadtest.real_comparison import comparison

HTML = {"Accept": "text/html"}
EACH = pytest.mark.parametrize("target", reading.ways())
EXHIBITS = {name for name, entry in reading.ways().items() if entry.exhibit}
PARTS = ("source", "timeline", "matrix", "cost", "tutorial")


@pytest.fixture(scope="module")
def var(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("var")


@pytest.fixture(scope="module")
def lab(var: Path) -> FlaskClient:
    away = f"redis://127.0.0.1:{free_port()}/0"
    return create_lab(Settings(var_dir=str(var), redis_url=away)).test_client()


def page(lab: FlaskClient, path: str, status: int = 200) -> str:
    answer = lab.get(path, headers=HTML)
    assert (answer.status_code, answer.mimetype) == (status, "text/html")
    return answer.text


def said(html: str) -> str:
    """Return the text without the markup."""
    return " ".join(unescape(re.sub(r"<[^>]*>", "", html.replace("<td>", " "))).split())


def section(html: str, part: str) -> str:
    found = re.search(rf'<section aria-labelledby="{part}">(.*?)</section>', html, re.DOTALL)
    assert found
    return found[1]


@EACH
def test_each_has_its_page_with_five_parts(lab: FlaskClient, target: str) -> None:
    html = page(lab, f"/read/{target}")
    for part in PARTS:
        told = said(section(html, part))
        assert len(told) > 60, f"{part}: {told!r}"
    assert 'class="legend"' not in html, "the drawing's words are English, as the page"
    assert ("broken on purpose" in said(html.partition("</h1>")[0])) == (target in EXHIBITS)


@EACH
def test_its_source_is_its_file_and_each_line_has_an_address(lab: FlaskClient, target: str) -> None:
    html = page(lab, f"/read/{target}")
    own = reading.page(target, Path()).files[0]
    first = section(html, "source").partition("</pre>")[0].partition("<pre")[2]
    lines = re.findall(r'<span class="line" id="L(\d+)"><a[^>]*>(\d+)</a>(.*)\n', first)
    assert [(int(id), int(number)) for id, number, _ in lines] == [
        (number, number) for number in range(1, len(own.lines) + 1)
    ]
    assert [unescape(re.sub(r"<[^>]*>", "", line)) for _, _, line in lines] == own.text
    ids = re.findall(r' id="([^"]+)"', html)
    assert len(ids) == len(set(ids))
    links = set(re.findall(r'href="#([^"]+)"', html))
    assert links <= {*ids, "main"}


@EACH
def test_findings_lead_to_where_the_explorer_plays_them(lab: FlaskClient, target: str) -> None:
    html = page(lab, f"/read/{target}")
    shown = reading.page(target, Path()).matrix.rows
    cells = [cell for row in shown for cell in row.cells if cell.finding]
    links = re.findall(r'href="(/explorer/[^"?]+\?finding=[^"]*)"', section(html, "matrix"))
    assert len(links) == sum(cell.played for cell in cells)
    assert all(
        cell.finding == "starved"
        for row in shown
        for cell in row.cells
        if cell.finding and not cell.played
    )
    links += re.findall(r'href="(/explorer/[^"?]+\?finding=[^"]*)"', section(html, "timeline"))
    for link in set(links):
        address, _, query = unescape(link).partition("?")
        asked = dict(parse_qsl(query))
        wanted = Wanted.read(address.rpartition("/")[2], asked)
        report = Explorer(Target(wanted.target), wanted.buyers).explore(wanted.faults)
        assert asked["finding"] in {finding.name for finding in report.findings}, link


def test_the_list_has_all_in_teaching_order(lab: FlaskClient) -> None:
    html = page(lab, "/read")
    cards = re.findall(r'<h3><a href="/read/([^"]+)">(.*?)</h3>', html, re.DOTALL)
    assert [name for name, _ in cards] == list(reading.ways())
    assert {name for name, rest in cards if "broken on purpose" in rest} == EXHIBITS


@pytest.mark.parametrize("path", ["/read", "/read/lock", "/read/lock:lease", "/read/naive...decr"])
def test_an_exhibit_never_stands_without_its_warning(lab: FlaskClient, path: str) -> None:
    html = page(lab, path)
    options = re.findall(r'<option value="([^"]+)"[^>]*>\s*(.*?)\s*</option>', html)
    assert {name for name, text in options if "broken on purpose" in text} == EXHIBITS
    rows = re.findall(r'<th scope="row"><code>([\w:]+)</code>(.*?)</th>', html, re.DOTALL)
    assert {name for name, rest in rows if "broken on purpose" in rest} == EXHIBITS & dict(
        rows
    ).keys()


def test_two_side_by_side(lab: FlaskClient) -> None:
    html = page(lab, "/read/naive...watch")
    code = re.sub(r"</?span[^>]*>", "", html)
    assert "sales.read(<del>self</del><del>.</del><del>store</del>, order)" in code
    assert "sales.read(<ins>pipe</ins>, order)" in code
    answer = lab.get("/read/diff?left=naive&right=watch", headers=HTML)
    assert (answer.status_code, answer.headers["Location"]) == (303, "/read/naive...watch")
    assert lab.get("/read/lock:lease...lock:fenced", headers=HTML).status_code == 200


def test_the_measured_cost_says_when_and_where(lab: FlaskClient, var: Path) -> None:
    unmeasured = said(section(page(lab, "/read/watch"), "cost"))
    assert "Not measured in detail on this machine yet" in unmeasured
    command = f"lastapple compare --modes watch,atomic --json {var / 'compare.json'}"
    assert command in unmeasured

    real = comparison()
    finished = datetime(2026, 11, 21, 7, 0, tzinfo=UTC)
    written = document(real.machine, real.options, real.rows, real.yardsticks, finished)
    (var / "compare.json").write_text(json.dumps(asdict(written)))
    measured = said(section(page(lab, "/read/watch"), "cost"))
    assert "2026-11-21 at 07:00 UTC with the load on AMD EPYC, 2 cores" in measured
    speeds = sorted(row.goodput for row in written.rows if row.mode == "watch")
    assert "Sales a second {:,.0f} {:,.0f} {:,.0f}".format(*speeds) in measured
    other = said(section(page(lab, "/read/decr"), "cost"))
    assert "was naive (broken on purpose), watch, lock:lease, atomic" in other

    (var / "compare.json").write_text("{")
    assert "is not a comparison" in said(section(page(lab, "/read/watch"), "cost"))
    (var / "compare.json").unlink()


@pytest.mark.parametrize(
    "path",
    [
        "/read/durian",
        "/read/lease",
        "/read/lock:durian",
        "/read/watch.py",
        "/read/...",
        "/read/naive...",
        "/read/...watch",
        "/read/naive...watch...decr",
        "/read/..%5c..%5cetc%5cpasswd",
        "/read/%00",
        "/read/%3Cscript%3Ealert(1)",
        "/read/diff",
        "/read/diff?left=naive",
        "/read/diff?left=../../../etc/passwd&right=watch",
        f"/read/{'x' * 5_000}",
    ],
)
def test_unknown_names_are_told_what_there_is(lab: FlaskClient, path: str) -> None:
    html = page(lab, path, 404)
    assert "No such mode or recipe" in html
    assert all(f'href="/read/{name}"' in html for name in reading.ways())
    assert len(html) < 8_000
    assert "<script>alert" not in html
    answer = lab.get(path)
    assert (answer.status_code, answer.mimetype) == (404, "application/problem+json")
    known = r"There are naive, |Did you mean (lock:lease|lock|watch)\?"
    assert re.search(known, answer.get_json()["detail"])


@pytest.mark.parametrize(
    "path",
    [
        "/read/../pyproject.toml",
        "/read/..%2f..%2fpyproject.toml",
        "/read/lock:..%2f..%2fpyproject",
        "/read//etc/passwd",
        "/read/watch/../../README.md",
    ],
)
def test_no_path_leads_out_of_the_catalogue(lab: FlaskClient, path: str) -> None:
    answer = lab.get(path, headers=HTML)
    assert answer.status_code in (308, 404)
    assert "lastapple" not in answer.text
    assert "root:" not in answer.text


def test_for_programs(lab: FlaskClient) -> None:
    assert [way["target"] for way in lab.get("/read").get_json()] == list(reading.ways())
    one = lab.get("/read/lock:lease").get_json()
    assert one["files"][0]["path"] == "app/locks/lease.py"
    assert one["section"]["path"] == "app/modes/lock.py"
    assert one["matrix"]["rows"][0]["cells"][2]["finding"] == "oversell"
    two = lab.get("/read/naive...watch").get_json()
    assert two["files"] == ["app/modes/naive.py", "app/modes/watch.py"]
    assert {"left": [2], "right": [2], "same": True} in two["rows"]
