"""The explorer's pages by HTTP."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from badluck.faults import Faults
from flask import Flask
from flask.testing import FlaskClient

import app
from app import create_lab
from app.config import Settings
from app.explorer.findings import FINDINGS
from app.lab.explorer.searches import Wanted
from app.service import catalogue
from tests.support.servers import until

APP = Path(app.__file__).parent
HTML = {"Accept": "text/html"}
LEASE = Wanted("lock:lease", 2, Faults(crash=1, pause=1))


@pytest.fixture
def lab(explorer_lab: Flask) -> FlaskClient:
    return explorer_lab.test_client()


def found(lab: FlaskClient, address: str) -> str:
    """Return the page after the search behind it has ended."""

    def there() -> bool:
        answer = lab.get(address, headers=HTML)
        assert answer.status_code == 200, answer.text
        return "Still looking" not in answer.text

    until(there, 40)
    return lab.get(address, headers=HTML).text


def asked_for(lab: FlaskClient, path: str, **fields: str) -> None:
    """Start a search as the page's own script does; a GET does not start it."""
    answer = lab.post(path, data=fields, headers={"Accept": "application/json"})
    assert answer.status_code in (200, 202), answer.text


def lit(page: str) -> set[str]:
    return set(re.findall(r'<span class="line now" data-line="(\d+)"', page))


def at(page: str, number: str) -> str:
    """Return the actors that stand at that lit line."""
    [who] = re.findall(rf'<span class="line \w+" data-line="{number}" data-on="([A-Z ]+)"', page)
    return str(who)


def line(file: str, text: str) -> str:
    """Return the number of the first line with that text in that file below app/."""
    lines = (APP / file).read_text().splitlines()
    return str(next(number for number, one in enumerate(lines, 1) if text in one))


def test_a_position_is_a_link(lab: FlaskClient) -> None:
    page = found(lab, "/explorer/lock:lease?finding=oversell&step=4")
    assert re.search(r'data-step="4" aria-current="step"', page)
    writes, reads = line("modes/lock.py", "self.write("), line("modes/lock.py", "self.sales.read(")
    assert lit(page) == {writes, reads}, "A is about to write, B to read"
    assert at(page, writes) == "A"
    assert at(page, reads) == "B"
    assert "app/locks/lease.py" in page
    begins = lit(lab.get("/explorer/lock:lease?step=0", headers=HTML).text)
    assert begins == {line("modes/lock.py", "lock.acquire("), line("locks/lease.py", "store.set(")}


def test_who_is_at_his_end_stays_where_he_did_his_last_step(lab: FlaskClient) -> None:
    page = found(lab, "/explorer/watch/scheduler?moves=AAABBB")
    source = catalogue.source("app.modes.watch").splitlines()
    did = {
        source[int(line) - 1].strip(): who
        for line, who in re.findall(r'class="line did" data-line="(\d+)" data-on="(.)"', page)
    }
    assert did["pipe.execute()"] == "A"
    assert lit(page) == set(), "B is told that it is sold out"


def test_without_a_position_it_begins(lab: FlaskClient) -> None:
    page = found(lab, "/explorer/naive")
    assert "one apple on the shelf" in page
    assert 'aria-current="step"' not in page


def test_source_is_escaped(lab: FlaskClient) -> None:
    page = found(lab, "/explorer/decr")
    assert "-&gt;" in page
    assert "left &lt; " in page
    assert "-> Sale" not in page


@pytest.mark.parametrize(
    ("address", "status", "says"),
    [
        ("naive?step=99", 400, "has the steps 0 to 6"),
        ("naive?step=-1", 400, "has the steps"),
        ("naive?step=٣", 400, "has the steps"),
        ("naive?finding=starved", 404, "No finding of that name"),
        ("naive?buyers=9", 422, "Buyers must be from 2 to 3"),
        ("naive?crash=x", 422, "Crashes must be from 0 to 2"),
        ("magic", 404, "no mode “magic”"),
        ("sql", 404, "in an SQL database"),
        ("lock:db_unique", 404, "in an SQL database"),
        ("naive/scheduler?moves=At", 400, "Step 2 of this schedule"),
        ("naive/scheduler?moves=hello", 400, "no schedule that can be read"),
        ("naive/scheduler?moves=%00", 400, "no schedule that can be read"),
        (f"naive/scheduler?moves={'A' * 5000}", 400, "no schedule that can be read"),
    ],
)
def test_links_that_cannot_be_followed(
    lab: FlaskClient, address: str, status: int, says: str
) -> None:
    if "?" in address and "scheduler" not in address and status in (400, 404):
        found(lab, "/explorer/naive")
    page = lab.get(f"/explorer/{address}", headers=HTML)
    assert page.status_code == status
    assert says in " ".join(page.text.split())
    plain = lab.get(f"/explorer/{address}")
    assert plain.status_code == status
    assert plain.mimetype == "application/problem+json"


def test_what_is_no_code_is_not_shown(lab: FlaskClient) -> None:
    for address in ("/explorer/naive", "/explorer/lock:lease?finding=oversell&step=1"):
        page = found(lab, address)
        code = re.findall(r'<code lang="en">(.*?)</code></pre>', page, re.DOTALL)
        assert code
        for text in code:
            assert "# " not in text
            assert "broken on purpose" not in text
            assert "__init__" not in text
        assert "def sell(" in re.sub("<[^>]+>", "", code[0])


def test_undo_is_a_shorter_address(lab: FlaskClient) -> None:
    page = lab.get("/explorer/lock:lease/scheduler?moves=AApB", headers=HTML).text
    [undo] = re.findall(r'id="undo" href="([^"]+)"', page)
    assert undo == "/explorer/lock:lease/scheduler?moves=AAp"
    assert 'id="undo"' not in lab.get("/explorer/naive/scheduler", headers=HTML).text


def test_his_schedule_is_compared_with_the_shortest(lab: FlaskClient) -> None:
    page = found(lab, "/explorer/naive/scheduler?moves=ABBBAA")
    assert "you have found one of the shortest" in page
    assert "promised: " not in page, "as many as are recorded"
    longer = found(lab, "/explorer/naive/scheduler?moves=ABABAB")
    text = " ".join(longer.split())
    assert "More units were sold than were in stock" in text
    assert "The shortest: faults: 0, switches between buyers: 2, steps: 6" in text


def test_a_sound_mode_says_why_and_how_many_orders_were_tried(lab: FlaskClient) -> None:
    for address in ("/explorer/watch", "/explorer/watch/scheduler?moves=AAB"):
        text = " ".join(found(lab, address).split())
        assert "Nothing goes wrong in any order of the steps." in text
        assert re.search(r"All [\d,]+ orders were tried\.", text)
        assert "Why it cannot go wrong" in text
        assert "<dt>Sound</dt><dd>while no failover loses a confirmed write</dd>" in text


def test_a_fault_that_he_pulls_is_looked_at_too(lab: FlaskClient) -> None:
    """Otherwise the page would say that nothing can go wrong, and show it going wrong."""
    asked_for(lab, "/explorer/watch/scheduler", moves="AAAfBBB")
    text = " ".join(found(lab, "/explorer/watch/scheduler?moves=AAAfBBB").split())
    assert "oversell" in text
    assert "you have found one of the shortest" in text
    assert "1 failover" in text
    assert re.search(r'1 <span class="small promised">promised: 2</span>', text), (
        "and 1 is recorded"
    )


def test_json_for_programs(lab: FlaskClient) -> None:
    found(lab, "/explorer/naive")
    document = lab.get("/explorer/naive?step=2").get_json()
    assert document["report"]["findings"][0]["name"] == "oversell"
    assert document["played"]["places"][2]["step"]["lines"] == ["MGET stock key:key-B"]
    assert lab.get("/explorer").get_json()["targets"][0] == "naive"


def test_a_get_starts_the_usual_search_only(tmp_path: Path) -> None:
    """There is one for each target. Any page could make a browser request thousands of others."""
    lab = create_lab(Settings(var_dir=str(tmp_path))).test_client()
    explorer = lab.application.extensions["explorer"]
    others = (
        "naive?crash=2",
        "naive?buyers=3",
        "naive/scheduler?buyers=3",
        "naive/scheduler?lost=1",
    )
    for address in (*others, "watch/scheduler?moves=AAAfBBB"):
        page = lab.get(f"/explorer/{address}", headers=HTML)
        assert page.status_code == 200
        assert 'id="unasked"' in page.text, "with a button that is a POST"
        assert "Still looking" not in page.text
        assert lab.get(f"/explorer/{address}").get_json()["unasked"]
    assert (explorer.queue, [*explorer.found]) == ([], [])
    assert explorer.searcher.child is None, "and no process works for it"
    until(lambda: lab.get("/explorer/naive").status_code == 200, 20)
    [only] = explorer.found
    assert only.usual
    explorer.close()


def test_a_search_is_asked_for_by_a_post_and_its_page_shown(lab: FlaskClient) -> None:
    fields = {"buyers": "2", "crash": "0", "pause": "2"}
    answer = lab.post("/explorer/decr", data=fields, headers=HTML)
    assert (answer.status_code, answer.location) == (303, "/explorer/decr?crash=0&pause=2")
    page = found(lab, answer.location)
    assert "unasked" not in page
    moves = {"moves": "AAAfB", "crash": "0"}
    answer = lab.post("/explorer/watch/scheduler", data=moves, headers=HTML)
    assert answer.location == "/explorer/watch/scheduler?crash=0&moves=AAAfB", "its own budget"
    assert "unasked" not in found(lab, answer.location), "the faults in it are looked at too"
    for path, sent, status in (
        ("naive", {"buyers": 9}, 422),
        ("naive", {"buyers": None}, 422),
        ("naive", {"crash": [1]}, 422),
        ("magic", {}, 404),
        ("naive/scheduler", {"moves": "At"}, 400),
        ("naive/scheduler", {"moves": {"a": 1}}, 400),
    ):
        refused = lab.post(f"/explorer/{path}", json=sent)
        assert (refused.status_code, refused.mimetype) == (status, "application/problem+json")


def test_what_all_ask_for_is_searched_once(lab: FlaskClient) -> None:
    explorer = lab.application.extensions["explorer"]
    before = len(explorer.found)
    for _ in range(5):
        asked_for(lab, "/explorer/watched", pause="2")
        lab.get("/explorer/watched?pause=2")
    assert len(explorer.queue) <= 1
    found(lab, "/explorer/watched?pause=2")
    assert len(explorer.found) == before + 1


def test_every_finding_has_its_words(lab: FlaskClient) -> None:
    environment = lab.application.jinja_env
    with lab.application.test_request_context():
        words = vars(environment.get_template("lab/explorer/words.html").module)
        for name, sentence in FINDINGS.items():
            if name == "starved":  # sent with --again only
                continue
            assert str(words["finding_name"](name)) == name
            said = str(words["finding_sentence"](name))
            assert said.replace("&#39;", "'") == sentence
