"""A saved file that was edited: replayed as it is, or refused in one line."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from random import Random
from secrets import randbelow
from typing import Any

import orjson
import pytest
from badluck.explorer import Explorer
from badluck.faults import Faults
from badluck.report.model_backend import ModelBackend
from badluck.report.report import Report

from app.domain import Invalid, ShopError
from app.explorer.saved_schedules import read, replay
from app.explorer.student import Student
from app.explorer.targets import Target

VALUES: list[Any] = [
    *(None, True, False, 0, 1, 2, -1, 99, 1 << 31, 1 << 62, 1.5, 1e300),
    *("", "A", "Z", "\0", "x" * 99, "starved", "default"),
    *("goes", "lost", "crash", "late", "arrives", "again", "time", "failover"),
    *("watch", "watch:lease", "lock", "lock:magic", "sql", "lock:zookeeper"),
    *([], [None], [1], ["A", "B"], [[]], {}, {"name": "oversell"}),
]
Place = tuple[str | int, ...]
TRIES = 250  # with each file


def everything() -> Iterator[Report]:
    """Yield reports with every kind of step."""
    yield Explorer(Target("lock:lease"), 2).explore(Faults(pause=1))
    yield Explorer(Target("lock:setnx"), 2).explore(Faults(crash=1, lost=1))
    yield Explorer(Target("lock:lease"), 2).explore(Faults(late=1))
    yield Explorer(Target("lock:watchdog", think=15_000), 2).explore(Faults(failover=1))
    yield Explorer(Target("lock:lease"), 2).starve()


def members(value: Any, path: Place = ()) -> Iterator[Place]:
    yield path
    parts: Any = ()
    if isinstance(value, dict):
        parts = value.items()
    elif isinstance(value, list):
        parts = enumerate(value)
    for name, one in parts:
        yield from members(one, (*path, name))


def changed(document: Any, path: Place, value: Any) -> Any:
    if not path:
        return value
    copied = copy.deepcopy(document)
    holder = copied
    for name in path[:-1]:
        holder = holder[name]
    holder[path[-1]] = value
    return copied


def played(document: Any) -> None:
    """Raises Invalid, or ShopError for a schedule that cannot be played."""
    recorded = read(orjson.dumps(document))
    assert isinstance(recorded.target, Target)
    for steps in recorded.traces.values():
        replay(recorded.target, recorded.names, steps, ModelBackend())


def test_no_value_that_was_changed_ends_in_a_traceback() -> None:
    """A share of some 20,000, all of which have been tried once; the seed is new each time."""
    seed = randbelow(1_000_000_000)
    print(f"seed {seed}")
    draw = Random(seed)
    refused, said = 0, set[str]()
    for document in map(saved, everything()):
        document["findings"] = document["findings"][:2]
        played(document)
        paths = list(members(document))
        for _ in range(TRIES):
            path, value = draw.choice(paths), draw.choice(VALUES)
            try:
                played(changed(document, path, value))
            except Invalid as error:
                refused += 1
                said.add(str(error))
            except ShopError:
                pass
    assert refused > TRIES
    assert not [text for text in said if "\n" in text]


def saved(report: Report) -> Any:
    return orjson.loads(orjson.dumps(report.document()))


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (("target",), "magic", "There is no 'magic' to be explored"),
        (("target",), "watch:lease", "There is no 'watch:lease'"),
        (("target",), "sql", "SQL database"),
        (("actors",), 0, "'actors' is 0, and no whole number of 2 to 4"),
        (("actors",), 99, "'actors' is 99"),
        (("stock",), -1, "'stock' is -1"),
        (("stock",), 10**12, "'stock' is 1000000000000"),
        (("stock",), True, "'stock' is True"),
        (("again",), 1, "'again' is 1, and not False or True"),
        (("findings", 0, "trace", 2, "at"), "soon", "finding 1: step 3: 'at' is 'soon'"),
        (("findings", 0, "trace", 2, "at"), 10**15, "finding 1: step 3: 'at' is 1000000000000000"),
        (("findings", 0, "trace", 6, "at"), 0, "step 7: 'at' is earlier"),
        (("findings", 0, "trace", 2, "lines"), [], "does not say how long it takes"),
        (("findings", 0, "trace", 0, "actor"), "C", "'actor' is 'C', and not 'A' or 'B'"),
        (("findings", 0, "trace", 0, "fiber"), -1, "'fiber' is -1, and no whole number of 0"),
        (("findings", 0, "trace", 2, "shown"), 7, "step 3: shown: no JSON object"),
        (("findings", 0, "trace", 2, "shown", "stock"), "1", "step 3: shown: 'stock' is '1'"),
        (("findings", 0, "trace", 2, "shown", "lock"), 1, "shown: 'lock' is 1, and no text"),
        (("findings", 0, "trace", 0, "does"), "again", "'does' is 'again'"),
    ],
)
def test_what_is_wrong_is_said(path: Place, value: Any, said: str) -> None:
    document = saved(Explorer(Target("lock:lease"), 2).explore(Faults(pause=1)))
    with pytest.raises(Invalid) as error:
        read(orjson.dumps(changed(document, path, value)))
    assert said in str(error.value)


def test_what_was_asked_is_told_apart() -> None:
    explorer = Explorer(Target("lock:queue"), 2)
    for report, again in ((explorer.explore(Faults()), False), (explorer.starve(), True)):
        assert read(orjson.dumps(saved(report))).again is again


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    own = tmp_path / "my_sell.py"
    own.write_text("def sell(redis, buyer):\n    return None\n")
    document = {
        **Student(own).identity(),
        **{"actors": 2, "stock": 1, "retries": 0, "again": False, "findings": []},
    }
    assert not read(orjson.dumps(document)).changed
    own.write_text("def sell(redis, buyer):\n    return False\n")
    assert read(orjson.dumps(document)).changed
    for file in (str(tmp_path / "gone.py"), str(tmp_path), "\0", "x" * 99_999):
        with pytest.raises(Invalid, match="is not there"):
            read(orjson.dumps(document | {"file": file}))
    with pytest.raises(Invalid, match="'file' is 7, and no text"):
        read(orjson.dumps(document | {"file": 7}))
    with pytest.raises(Invalid, match="starved"):
        read(orjson.dumps(document | {"again": True}))


def test_who_has_crashed_does_nothing_more() -> None:
    document = saved(Explorer(Target("lock:lease"), 2).explore(Faults(pause=1)))
    document["findings"][0]["trace"][0]["does"] = "crash"
    recorded = read(orjson.dumps(document))
    assert isinstance(recorded.target, Target)
    replayed = replay(recorded.target, "AB", recorded.traces["oversell"], ModelBackend())
    assert [step.same for step in replayed] == [False]
    document["findings"][0]["trace"][0]["shown"]["lock"] = ""
    recorded = read(orjson.dumps(document))
    assert isinstance(recorded.target, Target)
    replayed = replay(recorded.target, "AB", recorded.traces["oversell"], ModelBackend())
    assert replayed[-1].got.lines == ["it has crashed"]
