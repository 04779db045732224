"""The public matrix: its page shows the saved results, and a part of them is found again."""

from __future__ import annotations

import ast
import sys
from functools import partial
from pathlib import Path
from types import ModuleType

import pytest
from badluck.functions.function_target import FunctionTarget
from badluck.report.trace import Step
from matrix.__main__ import PAGE, results
from matrix.entry import MatrixEntry
from matrix.libraries import fairlock, python_redis_lock, redis_py
from matrix.page import page
from matrix.row import DOCUMENTED, FINDING, HOLDS, NOT_EXPLORED, run, servers, standing
from matrix.script import script
from matrix.shared_memory import kept

# Results of the libraries that are installed here: some hold, some have a finding.
SHARE = {
    "redis": (redis_py.ENTRIES[0], HOLDS),
    "redis, paused": (redis_py.ENTRIES[1], DOCUMENTED),
    "python-redis-lock": (python_redis_lock.ENTRIES[1], DOCUMENTED),
    "fairlock": (fairlock.ENTRIES[0] | {"faults": "crash=1"}, HOLDS),
}


def test_the_page_says_what_was_found() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(results())


def test_a_dozen_libraries_were_explored_and_ours_is_one_of_them() -> None:
    explored = {one.library for one in results() if one.verdict != NOT_EXPLORED}
    assert len(explored) >= 12
    assert "fairlock" in explored


def test_what_is_found_is_the_same_on_real_servers_and_findings_have_a_script() -> None:
    wrong = [one for one in results() if one.verdict in (FINDING, DOCUMENTED)]
    for one in wrong:
        assert set(one.replayed) == {"Valkey", "Redis"}, one.what
        assert all(one.replayed.values()), one.what
        assert one.reason, one.what
    assert all(one.script and one.shows for one in wrong if one.verdict == FINDING)


def test_a_script_is_python() -> None:
    entry, _ = SHARE["redis, paused"]
    steps = [Step("A", 0, "goes", 0, ["SET door 1"], ["OK"], "", {})]
    ast.parse(script(MatrixEntry(**entry), steps, "redis_work.py"))  # type: ignore[arg-type]


def test_a_quotation_that_does_not_stand_there_is_found_out() -> None:
    assert standing("redis", "A shared, distributed Lock.").endswith("lock.py")
    with pytest.raises(LookupError, match="does not say: It never fails"):
        standing("redis", "It never fails.")


@pytest.mark.parametrize(("entry", "verdict"), SHARE.values(), ids=SHARE)
def test_a_share_is_found_again(entry: dict[str, object], verdict: str, tmp_path: Path) -> None:
    found = run(MatrixEntry(**entry), tmp_path, servers())  # type: ignore[arg-type]
    assert found.verdict == verdict, found
    assert set(found.replayed) == (set(servers()) if verdict == DOCUMENTED else set())
    assert all(found.replayed.values())


class Library:
    kept = 0


def test_what_a_library_keeps_from_one_process_to_the_next_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    library = ModuleType("redis_lock.of_a_test")
    library.Library = Library  # type: ignore[attr-defined]
    monkeypatch.setattr(Library, "__module__", library.__name__)
    monkeypatch.setitem(sys.modules, library.__name__, library)
    keeping = partial(setattr, library.Library, "kept")
    target = FunctionTarget([lambda redis: keeping(redis.incr("n"))] * 2)
    assert kept("python-redis-lock", target) == ["redis_lock.of_a_test.Library.kept"]
