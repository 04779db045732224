"""The report of a judged run, for people and for programs."""

from __future__ import annotations

import re
from dataclasses import replace

import orjson
import pytest

from loadtest.chaos.fault_coverage import measure_coverage
from loadtest.chaos.history import Event, InjectedFault, Kind, Part, Reply, Response, RunStarted
from loadtest.chaos.judge.judge import Judgement, judge
from loadtest.chaos.report import document, page
from tests.unit.chaos.simulated_shop import MS, Shop
from tests.unit.chaos.written_history import Tale

FAULTS = [
    InjectedFault(Kind.KILL, Part.WORKER, 300 * MS, 500 * MS, (1, 2, 3)),
    InjectedFault(Kind.FREEZE, Part.STORE, 600 * MS, 900 * MS, (40,)),
    InjectedFault(Kind.KILL, Part.FULFIL, 800 * MS, 850 * MS, unbooked=3),
    InjectedFault(Kind.CLOCK, Part.WORKER, 900 * MS, 950 * MS),
]


def events() -> list[Event]:
    return [*Shop(1, buyers=20, stock=30).history(), *FAULTS]


@pytest.fixture(scope="module")
def kept() -> Judgement:
    return judge(events())


@pytest.fixture(scope="module")
def broken() -> Judgement:
    """One buyer got an answer with three units more than there were."""
    changed = events()
    place, told = next(
        (place, event)
        for place, event in enumerate(changed)
        if isinstance(event, Response) and event.answer is Reply.HELD and event.left == 9
    )
    changed[place] = replace(told, left=12)
    return judge(changed)


def test_the_json_says_what_the_issue_asks_for(kept: Judgement) -> None:
    said = orjson.loads(orjson.dumps(document(kept)))
    assert said["faults"] == {
        "clock worker": 1,
        "freeze store": 1,
        "kill fulfil": 1,
        "kill worker": 1,
    }
    assert said["hits"] == {"freeze store": 1, "kill fulfil": 1, "kill worker": 1}
    names = ["lost", "twice", "oversold", "stranded", "unbooked", "returned"]
    assert [said[name] for name in names] == [0] * len(names)
    assert (said["seed"], said["minutes"], said["rounds"]) == (1, 1.0, 1)
    assert said["sales"] == kept.sales > 10
    assert (said["linearizable"], said["verdict"], said["broken"]) == (True, "as promised", [])


def test_the_page_has_the_command_that_makes_the_same_plan() -> None:
    run, *others = Shop(1, buyers=20, stock=30).history()
    assert isinstance(run, RunStarted)
    judged = judge([replace(run, modes=("atomic", "lock:queue"), holds=True), *others])
    command = "chaos --seed 1 --minutes 1 --database sqlite --durability safe"
    assert f"{command} --modes atomic,lock:queue --holds</code>" in page(judged)
    said = document(judged)
    assert (said["modes"], said["holds"]) == (["atomic", "lock:queue"], True)


def test_the_json_names_the_evidence(broken: Judgement) -> None:
    said = orjson.loads(orjson.dumps(document(broken)))
    assert (said["linearizable"], said["verdict"]) == (False, "broken promise")
    [found] = said["broken"]
    assert (found["wrong"], found["item"], found["round"]) == ("impossible", "apple", 1)
    assert found["ops"]


def test_the_page_shows_what_was_tried_and_that_nothing_was_lost(kept: Judgement) -> None:
    html = page(kept)
    assert "<b>As promised</b>" in html
    assert "were broken: 4." in html
    assert "no order yet: 3." in html
    assert html.count('class="hit"') == 3
    assert html.count('class="missed"') == 1
    assert html.count('class="sales"') > 5
    assert "Evidence of broken promises" not in html
    assert not re.search(r"<script|src=|https?:", html), "one file, without a network"


def test_the_page_shows_the_lines_of_the_history_that_prove_it(broken: Judgement) -> None:
    html = page(broken)
    assert "<b>Broken promise</b>" in html
    assert "1 time something happened that we promise not to happen" in html
    assert "&#34;event&#34;:&#34;told&#34;" in html


def test_the_page_says_what_could_not_be_decided() -> None:
    html = page(judge(events(), budget=10))
    assert "<b>Inconclusive</b>" in html
    assert "not decided in 10 steps" in html


def test_a_run_without_faults_and_with_one_purchase_has_a_page() -> None:
    tale = Tale(1).told("<b>", 10, 20, Reply.SOLD, 0).booked("<b>")
    html = page(judge(tale.audited(1)))
    assert "Nothing was broken." in html
    assert "&lt;b&gt;" in html


def test_until_buyers_are_answered_again_is_counted_from_the_mending() -> None:
    tale = Tale(9).broken(Kind.KILL, Part.WORKER, 100, 400)
    tale.told("a", 10, 20, Reply.SOLD, 8).told("b", 200, 380).told("c", 390, 650, Reply.SOLD, 6)
    tale.told("d", 500, 510, Reply.BUSY)
    [one] = measure_coverage(judge(tale.booked("a", "c").audited(7)).history)
    assert (one.fault.name, one.injected, one.hits) == ("a process dies", 1, 0)
    assert one.again
    assert one.again.median == pytest.approx(0.25)


def test_what_ended_with_its_round_says_nothing_of_recovery() -> None:
    tale = Tale(9, ends=500).broken(Kind.KILL, Part.WORKER, 100, 400)
    tale.told("a", 390, 450, Reply.SOLD, 8)
    [one] = measure_coverage(judge(tale.booked("a").audited(8)).history)
    assert one.again is None
