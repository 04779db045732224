"""The cases in the lab, by HTTP; the process that plays them: used by many, failing, killed."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

import pytest
from flask.testing import FlaskClient

from app import create_lab
from app.config import Settings
from app.lab.transactions import CASES, Case
from app.lab.transactions import recordings as service
from app.lab.transactions import views as transactions
from app.lab.transactions.recordings import Recordings
from tests.support.chinese_pages import ZH, only_chinese
from tests.support.http_client import problem
from tests.support.servers import until

HTML = {"Accept": "text/html"}
DISCARD = "/transactions/discard"


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FlaskClient]:
    """The lab. No store is needed: the cases bring their own."""
    made = create_lab(Settings(var_dir=str(tmp_path_factory.mktemp("var"))))
    client = made.test_client()
    assert client.get("/transactions").status_code in (200, 202)
    until(lambda: client.get("/transactions").status_code == 200, 60)
    yield client
    for each in ("explorer", "recordings"):
        made.extensions[each].close()


@pytest.fixture
def recordings() -> Iterator[Recordings]:
    recordings = Recordings()
    yield recordings
    recordings.close()


def shown(page: str) -> list[str]:
    """Return the statements that are visible."""
    seen = re.findall(
        r'<li data-step="\d+"(?! hidden).*?<code lang="en">(.+?)</code>', page, re.DOTALL
    )
    return [statement.replace("&#39;", "'") for statement in seen]


def test_a_step_is_a_link(lab: FlaskClient) -> None:
    begins = lab.get(DISCARD, headers=HTML).text
    assert shown(begins) == []
    assert 'href="/transactions/discard?step=1"' in begins
    page = lab.get(f"{DISCARD}?step=2", headers=HTML).text
    assert shown(page) == ["MULTI", "SET stock 2", "BEGIN", "UPDATE stock SET units = 2"]
    assert page.count('aria-current="step"') == 2, "one on each side"
    assert re.search(r'class="notice so good" data-at="\d" hidden', page), "not yet"


def test_at_the_end_stands_what_follows(lab: FlaskClient) -> None:
    page = lab.get(f"{DISCARD}?step=9", headers=HTML).text
    said = re.findall(r'class="notice so good" data-at="9">(.+?)</p>', page)
    assert said == [words.replace("'", "&#39;") for words in NAMED["discard"].taught]
    assert page.count('aria-current="step"') == 2, "the shorter one stays at its end"


NAMED = {case.name: case for case in CASES}


def test_all_cases_as_json(lab: FlaskClient) -> None:
    results = lab.get("/transactions").json
    assert results
    assert [result["name"] for result in results] == list(NAMED)
    assert all(result["as_taught"] for result in results)
    one = lab.get(DISCARD).json
    assert one == next(result for result in results if result["name"] == "discard")


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case.name))
def test_every_case_in_chinese(lab: FlaskClient, case: Case) -> None:
    result = lab.get(f"/transactions/{case.name}").json
    assert result
    last = max(len(result[side]["steps"]) for side in ("valkey", "postgresql"))
    only_chinese(lab.get(f"/transactions/{case.name}?step={last}", headers=HTML | ZH))


def test_addresses_that_lead_nowhere(lab: FlaskClient) -> None:
    problem(lab.get("/transactions/rollback"), 404)
    for step in ("10", "-1", "x"):
        only_chinese(lab.get(f"{DISCARD}?step={step}", headers=HTML | ZH), 422)


def test_played_again_the_page_says_so_until_it_is_done(
    lab: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transactions, "PLAYED_S", 0)
    answer = lab.post("/transactions", data={"case": "discard"})
    assert (answer.status_code, answer.location) == (303, DISCARD)
    assert lab.post("/transactions", data={"case": "//evil"}).location == "/transactions"
    assert lab.post("/transactions", json={}).status_code == 202
    waiting = lab.get(DISCARD, headers=HTML | ZH)
    only_chinese(waiting)
    assert "data-again" in waiting.text
    until(lambda: lab.get(DISCARD).status_code == 200, 60)


@pytest.fixture
def at_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the process run until it is killed."""
    monkeypatch.setattr(service, "COMMAND", (sys.executable, "-c", "import time; time.sleep(60)"))


@pytest.mark.usefixtures("at_work")
def test_many_who_ask_share_one_process(recordings: Recordings) -> None:
    assert recordings.results(0) is None
    assert recordings.playing
    pid = recordings.playing.process.pid
    for _ in range(5):
        recordings.again()
        assert recordings.results(0) is None
        assert recordings.playing.process.pid == pid


@pytest.mark.usefixtures("at_work")
def test_a_process_that_is_killed_is_told_and_tried_again_only_when_asked(
    recordings: Recordings,
) -> None:
    assert recordings.results(0) is None
    assert recordings.playing
    recordings.playing.process.kill()
    for _ in range(2):
        with pytest.raises(service.NotPlayed):
            recordings.results(10)
        assert recordings.playing is None, "not by a reload"
    recordings.again()
    assert recordings.results(0) is None


@pytest.mark.usefixtures("at_work")
def test_a_process_that_hangs_is_ended(
    recordings: Recordings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "HANGS_S", 0.2)
    with pytest.raises(service.NotPlayed):
        recordings.results(10)


def test_a_machine_without_postgresql_is_told_why(
    lab: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reason comes from the process that was to play the cases again."""
    why = "Error: PostgreSQL is not installed. `make install` brings it."
    with monkeypatch.context() as without:
        without.setattr(service, "COMMAND", (sys.executable, "-c", f"raise SystemExit({why!r})"))
        assert lab.get(DISCARD).status_code == 200
        lab.post("/transactions")
        until(lambda: lab.get(DISCARD).status_code == 503, 10)
        assert "is not installed" in problem(lab.get(DISCARD), 503)["detail"]
        only_chinese(lab.get(DISCARD, headers=HTML | ZH), 503)
    lab.post("/transactions")
    until(lambda: lab.get(DISCARD).status_code == 200, 60)
