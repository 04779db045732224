"""A user's own file in the lab's explorer, by HTTP."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any, NoReturn

import pytest
from flask.testing import FlaskClient

from app import create_lab
from app.config import Settings
from app.lab.explorer.own_sell import OwnSell
from tests.support.servers import until

HTML = {"Accept": "text/html"}
NAIVE = """
def sell(redis, buyer):
    left = int(redis.get("stock"))
    if left < 1:
        return False
    redis.set("stock", left - 1)
    redis.rpush("orders", buyer)
    return True
"""
SOUND = """
def sell(redis, buyer):
    if redis.decr("stock") < 0:
        redis.incr("stock")
        return False
    redis.rpush("orders", buyer)
    return True
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "my sell.py"


@pytest.fixture
def lab(tmp_path: Path, file: Path) -> Iterator[FlaskClient]:
    file.write_text(NAIVE)
    made = create_lab(Settings(var_dir=str(tmp_path / "var"), lab_sell=str(file)))
    yield made.test_client()
    made.extensions["explorer"].close()


def found(lab: FlaskClient, address: str, status: int = 200) -> str:
    """Return the page after the search behind it has ended."""
    until(lambda: "Still looking" not in lab.get(address, headers=HTML).text, 40)
    answer = lab.get(address, headers=HTML)
    assert answer.status_code == status, answer.text
    return answer.text


def lit(page: str) -> dict[str, str]:
    """Return the lines at which actors stand, with the actors."""
    return dict(re.findall(r'<span class="line now" data-line="(\d+)" data-on="([A-Z ]+)"', page))


def test_its_shortest_schedule_is_played_on_its_own_lines(lab: FlaskClient) -> None:
    assert "my sell.py" in lab.get("/explorer", headers=HTML).text
    assert lab.get("/explorer").get_json()["targets"][0] == "own"
    page = found(lab, "/explorer/own?step=2")
    assert "<code>my sell.py</code>: oversell" in page
    assert "Step 2 of 6" in page
    assert lit(page) == {"6": "A", "3": "B"} or lit(page) == {"6": "A B"}
    assert "<code>left = 1</code>" in page, "what it remembers"


def test_what_it_remembers_is_old_when_another_has_written(lab: FlaskClient, file: Path) -> None:
    page = unescape(found(lab, "/explorer/own/scheduler?moves=ABB"))
    assert "<code>buyer = 'A'</code>" in page
    assert "read at step 1" in page
    assert "read at step 0" not in page
    assert "old: B has written 0" in page
    file.write_text(NAIVE.replace('redis.set("stock", left - 1)', 'redis.delete("stock")'))
    assert "old: it is gone" in found(lab, "/explorer/own/scheduler?moves=ABB")


def test_what_is_no_bad_luck_is_said_before_its_schedule(lab: FlaskClient, file: Path) -> None:
    file.write_text(NAIVE.replace('redis.set("stock", left - 1)', "pass"))
    no_race = '<p class="notice warn" lang="en">It is no race: it goes wrong when they come'
    page = found(lab, "/explorer/own")
    assert page.index(no_race) < page.index('id="player"')
    file.write_text(NAIVE)
    assert no_race not in found(lab, "/explorer/own")


def test_it_is_scheduled_by_hand(lab: FlaskClient) -> None:
    page = found(lab, "/explorer/own/scheduler?moves=ABBBAA")
    assert '<strong class="finding">oversell</strong>' in page
    assert "you have found one of the shortest" in page
    answer = lab.get("/explorer/own/scheduler?moves=AAAAAAAAAA", headers=HTML)
    assert answer.status_code == 400


def test_what_is_corrected_is_shown(lab: FlaskClient, file: Path) -> None:
    for code, said in ((NAIVE, "oversell"), (SOUND, "Nothing goes wrong in any order")):
        file.write_text(code)
        unasked = lab.get("/explorer/own?crash=0&pause=0", headers=HTML).text
        assert "up to half a minute" in unasked, "a GET begins the usual search only"
        asked = lab.post("/explorer/own", data={"crash": "0", "pause": "0"})
        assert asked.status_code in (303, 202, 200)
        assert said in found(lab, "/explorer/own?crash=0&pause=0")


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("def sell(redis):\n    pass\n", "cannot be called as sell(redis, buyer)"),
        ("def sell(redis, buyer):\n    while True: pass\n", "runs for 2 s"),
        ("def sell(redis, buyer:\n", "SyntaxError"),
        (None, "No such file"),
    ],
)
def test_what_is_wrong_with_it_is_said(
    lab: FlaskClient, file: Path, code: str | None, said: str
) -> None:
    if code is None:
        file.unlink()
    else:
        file.write_text(code)
    for address in ("/explorer/own", "/explorer/own/scheduler"):
        assert said in found(lab, address, 422)
        problem = lab.get(address)
        assert problem.status_code == 422
        assert said in problem.get_json()["detail"]
    file.write_text(NAIVE)
    assert "oversell" in found(lab, "/explorer/own")


def test_without_a_file_there_is_none(tmp_path: Path) -> None:
    made = create_lab(Settings(var_dir=str(tmp_path)))
    lab = made.test_client()
    assert "LAB_SELL=my_sell.py" in lab.get("/explorer", headers=HTML).text
    assert lab.get("/explorer/own", headers=HTML).status_code == 404
    made.extensions["explorer"].close()


def test_a_page_shows_one_text_also_when_it_is_saved_meanwhile(
    lab: FlaskClient, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An editor saves while the page is made."""
    found(lab, "/explorer/own")
    searches = OwnSell.search

    def and_then_it_is_saved(own: OwnSell, *asked: Any) -> Any:
        said = searches(own, *asked)
        file.write_text(SOUND)
        return said

    monkeypatch.setattr(OwnSell, "search", and_then_it_is_saved)
    page = lab.get("/explorer/own?step=1", headers=HTML)
    assert page.status_code == 200
    assert "oversell" in page.text
    text = unescape(re.sub("<[^>]+>", "", page.text))
    assert 'redis.set("stock", left - 1)' in text, "in which that was found"


@pytest.mark.parametrize(
    "code",
    [
        b"\xef\xbb\xbf" + NAIVE.encode(),
        b"# -*- coding: latin-1 -*-" + NAIVE.replace("left", "\xe9t\xe9").encode("latin-1"),
        NAIVE.replace("\n", "\r\n").encode(),
    ],
    ids=["with a BOM", "latin-1", "of Windows"],
)
def test_a_file_is_read_as_python_reads_it(lab: FlaskClient, file: Path, code: bytes) -> None:
    file.write_bytes(code)
    assert lit(found(lab, "/explorer/own?step=1"))


def test_a_machine_without_room_for_a_process_is_asked_again(
    lab: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as full:
        full.setattr("badluck.sandbox.client.subprocess.Popen", no_room)
        assert lab.get("/explorer/own/scheduler", headers=HTML).status_code == 503
    assert lab.get("/explorer/own/scheduler", headers=HTML).status_code == 200


def no_room(*_: Any, **__: Any) -> NoReturn:
    raise BlockingIOError(11, "Resource temporarily unavailable")
