"""The report of a judged run, for people and for programs."""

from __future__ import annotations

import re
from dataclasses import replace

import orjson
import pytest

from loadtest.chaos.fault_coverage import measure_coverage
from loadtest.chaos.history import Event, InjectedFault, Kind, Part, Reply, Response, RunStarted
from loadtest.chaos.judge.judge import Judgement, judge
from loadtest.chaos.report import Report
from tests.unit.chaos.simulated_shop import MS, Shop
from tests.unit.chaos.test_known_histories import WRONG
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
    said = orjson.loads(orjson.dumps(Report.of(kept).document()))
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
    report = Report.of(judged)
    html = re.sub(r"</?span>", "", report.page())
    assert report.command == f"lastapple {command} --modes atomic,lock:queue --holds"
    assert f"{report.command}</code>" in html
    assert html.index(command) < html.index("<figure>"), "it is above the drawing"
    said = Report.of(judged).document()
    assert (said["modes"], said["holds"]) == (("atomic", "lock:queue"), True)


def test_the_json_names_the_evidence(broken: Judgement) -> None:
    said = orjson.loads(orjson.dumps(Report.of(broken).document()))
    assert (said["linearizable"], said["verdict"]) == (False, "broken promise")
    [cause] = said["broken"]
    [found] = cause["findings"]
    assert (found["wrong"], found["item"], found["round"]) == ("impossible", "apple", 1)
    assert found["ops"]


def test_the_page_shows_what_was_tried_and_that_nothing_was_lost(kept: Judgement) -> None:
    html = Report.of(kept).page()
    assert "<b>As promised</b>" in html
    assert "faults: 4, of which 3 hit" in html
    assert html.count('class="hit"') == 3
    assert html.count('class="missed"') == 1
    assert html.count('class="sales"') > 5
    assert "<h2>Broken promises</h2>" not in html
    assert not re.search(r"<script|src=|https?:", html), "one file, without a network"


def test_the_page_shows_the_promise_and_the_timeline(broken: Judgement) -> None:
    html = Report.of(broken).page()
    assert "<b>Broken promise</b>" in html
    assert "<h3>impossible: 1; the page promises 0</h3>" in html
    assert "“The answers are linearizable.”" in html
    assert re.search(r"answers b\d+: HELD, order \S+, 12 units left", html)
    assert html.count('class="broken"') == 1, "its moment is in the drawing"


def test_the_terminal_ends_with_the_verdict_in_one_sentence(
    kept: Judgement, broken: Judgement
) -> None:
    *lines, last = Report.of(broken).lines()
    assert last == "Broken promise: impossible: 1; the page promises 0."
    assert any("--seed 1 --minutes 1" in line for line in lines)
    assert any("12 units left" in line for line in lines)
    assert list(Report.of(kept).lines())[-1] == "As promised: every promise was kept."


def test_findings_alike_are_one_cause_in_each_report() -> None:
    tale = Tale(20)
    for number in range(10):
        tale = tale.told(f"k{number}", 100 * number, 100 * number + 50, Reply.SOLD)
    tale.broken(Kind.FAILOVER, Part.STORE, 3_000, 3_100)
    report = Report.of(judge(tale.audited(20, marked=True)))
    said = orjson.loads(orjson.dumps(report.document()))
    [cause] = [each for each in said["broken"] if each["wrong"] == "lost"]
    assert (cause["count"], len(cause["findings"]), cause["mode"]) == (10, 10, "atomic")
    assert cause["promise"] == "Each buyer that got SOLD has an order"
    assert cause["timeline"][0] == {
        "at": 0.0,
        "actor": "operator",
        "text": "starts round 1: atomic, 20 units",
    }
    html = report.page()
    assert html.count("<h3>lost: 10; the page promises 0</h3>") == 1
    assert "Findings alike: 10." in html
    assert sum(line.startswith("! lost: 10") for line in report.lines()) == 1


@pytest.mark.parametrize("why", WRONG)
def test_each_known_finding_is_explained(why: str) -> None:
    report = Report.of(judge(WRONG[why][0]))
    html = report.page()
    for cause in report.broken:
        assert f"<h3>{cause.headline}</h3>" in html
        assert len(cause.moments) > 2
    assert orjson.dumps(report.document())
    assert list(report.lines())[-1] == report.sentence


def test_a_history_without_a_round_has_a_report() -> None:
    report = Report.of(judge([RunStarted(1, 1.0, "safe", "sqlite", planned=9)]))
    assert "only 0 of 9 planned acts were played" in report.page()
    assert report.sentence.startswith("Inconclusive: only 0 of 9 planned acts were played;")


def test_headings_stand_above_their_columns(kept: Judgement) -> None:
    html = Report.of(kept).page()
    assert '<th scope="col" class="text">what may be lost</th>' in html


def test_the_page_says_what_could_not_be_decided() -> None:
    report = Report.of(judge(events(), budget=10))
    html = report.page()
    assert "<b>Inconclusive</b>" in html
    assert "not decided in 10 steps" in html
    assert list(report.lines())[-1] == (
        "Inconclusive: apple 1 (atomic): not decided in 10 steps; the run proves nothing."
    )


def test_a_run_without_faults_and_with_one_purchase_has_a_page() -> None:
    tale = Tale(1).told("<b>", 10, 20, Reply.SOLD, 0).booked("<b>")
    html = Report.of(judge(tale.audited(1))).page()
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
