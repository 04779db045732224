"""Code of first-year students: the cause is reported before its consequence."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest
from badluck.actor.user_code_error import UserCodeError
from badluck.explorer import Explorer
from badluck.faults import Faults
from badluck.report.chart import chart
from badluck.report.model_backend import ModelBackend
from badluck.report.report import Report
from badluck.sandbox import client

from app.explorer.saved_schedules import read, replay
from app.explorer.student import Student

RETURNS_NOTHING = """
    if int(redis.get("stock")) > 0:
        redis.decr("stock")
        redis.rpush("orders", buyer)
"""
GIVES_UP = """
    if not redis.setnx("lock", buyer):
        return
    sold = int(redis.get("stock")) > 0
    if sold:
        redis.decr("stock")
        redis.rpush("orders", buyer)
    redis.delete("lock")
    return sold
"""
MISSPELT = """
    if int(redis.get("stokc") or 0) < 1:
        return False
    return True
"""
CAPITAL = """
    if int(redis.get("stock")) < 1:
        return False
    redis.decr("Stock")
    redis.rpush("orders", buyer)
    return True
"""
OTHER_KEYS = """
    redis.get("shop")
    redis.set("stock2", 1)
    redis.get("a")
    return True
"""
BYTES = """
    if redis.get("stock") == "0":
        return False
    redis.decr("stock")
    redis.rpush("orders", buyer)
    return True
"""
RACE = """
    if not redis.exists("stock"):
        return False
    left = int(redis.getdel("stock"))
    redis.rpush("orders", buyer)
    return True
"""
NO_RECORD = """
    if redis.decr("stock") < 0:
        redis.incr("stock")
        return False
    return True
"""
KEEPS_LOCK = """
    while not redis.set("lock", buyer, nx=True):
        pass
    if int(redis.get("stock")) < 1:
        return False
    redis.decr("stock")
    redis.rpush("orders", buyer)
    redis.delete("lock")
    return True
"""
SETS_WITHOUT_NX = """
    redis.set("lock", buyer, ex=10)
    left = int(redis.get("stock"))
    redis.delete("lock")
    return None
"""
KEEPS_A_LEASE = """
    while not redis.set("door", buyer, nx=True, ex=10):
        pass
    if redis.decr("stock") < 0:
        redis.incr("stock")
        return False
    redis.rpush("orders", buyer)
    return True
"""
MARKS = """
    if not redis.set("door", buyer, nx=True, ex=10):
        return False
    redis.decr("stock")
    redis.rpush("orders", buyer)
    return True
"""


def written(folder: Path, body: str) -> Student:
    file = folder / "my_sell.py"
    file.write_text(f"def sell(redis, buyer):{body}")
    return Student(file)


def explored(folder: Path, body: str, faults: Faults = Faults()) -> Report:  # noqa: B008
    return Explorer(written(folder, body), 2).explore(faults)


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (RETURNS_NOTHING, "no answer"),
        (RACE, "exception"),
        (NO_RECORD, "order lost"),
        (KEEPS_LOCK, "lock leaked"),
        (SETS_WITHOUT_NX, "two holders"),
    ],
)
def test_the_first_that_is_found(body: str, found: str, tmp_path: Path) -> None:
    names = [finding.name for finding in explored(tmp_path, body).findings]
    assert found in names
    assert names[0] == ("no sale" if found == "two holders" else found)


def test_what_others_wait_for_is_a_lock_and_a_mark_is_none(tmp_path: Path) -> None:
    found = [[one.name for one in explored(tmp_path, it).findings] for it in (KEEPS_A_LEASE, MARKS)]
    assert found == [["lock left behind"], []]


def test_nothing_is_a_way_to_give_up(tmp_path: Path) -> None:
    report = explored(tmp_path, GIVES_UP)
    assert report.exhaustive
    assert report.findings == []


@pytest.mark.parametrize(
    ("body", "causes"),
    [
        (
            MISSPELT,
            'my_sell.py, line 2: `if int(redis.get("stokc") or 0) < 1:`: '
            "stokc is never there, unlike stock; is that meant?",
        ),
        (
            CAPITAL,
            'my_sell.py, line 4: `redis.decr("Stock")`: '
            "Stock is another key than stock; is that meant?",
        ),
        (OTHER_KEYS, "It is no race: it goes wrong when they come one after the other."),
    ],
)
def test_a_key_that_is_a_slip_of_the_pen(body: str, causes: str, tmp_path: Path) -> None:
    report = explored(tmp_path, body)
    assert report.findings
    assert "".join(report.causes) == causes


def test_bytes_compared_with_a_text(tmp_path: Path) -> None:
    report = client.explore(written(tmp_path, BYTES), 2, Faults())
    assert [*report.causes] == [
        'my_sell.py, line 2: `if redis.get("stock") == "0":`: '
        'bytes are compared with a text, and are never equal. Replies are bytes: b"0".'
    ]
    drawn = chart(report.findings[0].trace, "AB", 100, report.target.vocabulary)
    assert "GET stock -> b'0' " in drawn


def test_a_race_that_ends_in_an_exception_has_a_schedule(tmp_path: Path) -> None:
    (finding,) = explored(tmp_path, RACE).findings
    assert finding.cost == (0, 2, 4)
    assert [step.line for step in finding.trace][-1] == "my_sell.py:4"
    assert "my_sell.py, line 4, in sell: TypeError" in finding.trace[-1].outcome
    assert "after GETDEL stock -> nil" in finding.trace[-1].outcome
    assert "of the connection. my_sell.py, line 4, in sell: TypeError" in finding.explanation


def test_an_exception_that_needs_nobody_else_is_a_mistake(tmp_path: Path) -> None:
    body = '\n    redis.get("stok") + 1\n'
    with pytest.raises(UserCodeError) as wrong:
        explored(tmp_path, body, Faults(crash=1))
    assert "my_sell.py, line 2, in sell: TypeError" in str(wrong.value)
    assert "after GET stok -> nil" in str(wrong.value)
    assert "stok is never there, unlike stock" in str(wrong.value)


def test_what_needs_no_fault_comes_first(tmp_path: Path) -> None:
    costs = [one.cost.faults for one in explored(tmp_path, KEEPS_LOCK, Faults(crash=1)).findings]
    assert costs == sorted(costs)
    assert costs[0] < costs[-1]


def test_a_file_of_before_has_no_lines_and_is_played_all_the_same(tmp_path: Path) -> None:
    document = explored(tmp_path, RACE).document()
    steps = document["findings"][0]["trace"]
    assert [step.pop("line") for step in steps][-1] == "my_sell.py:4"
    for step in steps:
        step["said"] = [text.removeprefix("b'").removesuffix("'") for text in step["said"]]
    recorded = read(orjson.dumps(document))
    (trace,) = recorded.traces.values()
    played = replay(recorded.target, recorded.names, trace, ModelBackend())
    assert len(played) == len(trace)
    assert all(step.same for step in played)
