"""Files that `lastapple explore` saved when its keys were others are read, and played again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest
from badluck.explorer import Explorer
from badluck.faults import Faults
from badluck.report.report import Report
from badluck.report.trace import Step
from click.testing import CliRunner

from app.cli import main
from app.domain import Invalid
from app.explorer import apart
from app.explorer.recorded import read
from app.explorer.student import Student
from app.explorer.targets import Target
from tests.unit.explorer.as_before import NAIVE, as_before

SELLS = """
def sell(redis, buyer):
    if int(redis.get("stock")) <= 0:
        return False
    redis.decr("stock")
    redis.rpush("orders", buyer)
    return True
"""


def test_one_of_them() -> None:
    recorded = read(NAIVE)
    assert (recorded.target, recorded.names, recorded.again) == (Target("naive"), "AB", False)
    first, *_, last = recorded.traces["oversell"]
    lines, said = ["MGET stock key:key-A stock:ended"], ["[1, nil, nil]"]
    assert first == Step("A", 0, "goes", 0, lines, said, "", {"stock": 1, "lock": "", "sold": 0})
    assert last.shown == {"stock": 0, "lock": "", "sold": 2}


def reports(folder: Path) -> dict[str, Report]:
    own = folder / "my_sell.py"
    own.write_text(SELLS)
    lease = Explorer(Target("lock:lease"), 2)
    return {
        "pause": lease.explore(Faults(pause=1)),
        "again": lease.starve(),
        "renewal": Explorer(Target("lock:queue", think=15_000), 2).explore(Faults(failover=1)),
        "own": apart.explore(Student(own), 3, Faults(crash=1)),
    }


@pytest.mark.parametrize("which", ["pause", "again", "renewal", "own"])
def test_it_is_played_again(tmp_path: Path, which: str) -> None:
    report = reports(tmp_path)[which]
    file = tmp_path / "before.json"
    file.write_bytes(orjson.dumps(as_before(report)))
    assert read(file.read_bytes()).traces == {one.name: one.trace for one in report.findings}
    done = CliRunner().invoke(main, ["replay", str(file), "--on", "model"])
    assert done.exit_code == 0, done.output
    assert f"{len(report.findings)} schedule" in done.output
    assert " on the model: 0 divergences" in done.output


@pytest.mark.parametrize("findings", [None, 7, {}, [1], [{"trace": 1}], [{"trace": [1]}]])
def test_what_only_looks_like_one_of_them(findings: Any) -> None:
    with pytest.raises(Invalid, match="This is no file of"):
        read(orjson.dumps({"target": "naive", "buyers": 2, "findings": findings}))
