"""State of a process: each actor has its own, or gets an error that says that it has none."""

from __future__ import annotations

import calendar
import importlib
import os
import random
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from badluck import BadCode, explore


def _environ(redis: Any) -> None:
    os.environ["SEEN"] = str(redis.get("n"))


def _forgets(_: Any) -> None:
    del os.environ["PATH"]


def _folder(_: Any) -> None:
    os.chdir("/usr")


@pytest.mark.parametrize("actor", [_environ, _forgets, _folder])
def test_what_a_process_has_for_itself_is_not_changed(actor: Any) -> None:
    name = actor.__name__
    with pytest.raises(BadCode, match=rf"test_own_process\.py, line \d+, in {name}: changes the "):
        explore(actors=[actor])


def test_a_handler_of_signals_is_its_own() -> None:
    """asyncio.run() sets a handler, too; Ctrl-C would no longer end a search."""

    def handles(redis: Any) -> None:
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
        assert signal.signal(signal.SIGTERM, lambda *_: redis.incr("stopped")) is signal.SIG_DFL
        redis.incr("n")

    async def runs(redis: Any) -> None:
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        await redis.incr("n")

    explore(actors=[handles, handles, runs]).assert_holds()


def test_an_environment_that_stays_as_it_is_or_is_a_librarys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = tmp_path / "site-packages"
    installed.mkdir()
    (installed / "sets_it.py").write_text("import os\nos.environ['ITS_OWN'] = '1'")
    monkeypatch.syspath_prepend(installed)
    monkeypatch.setenv("SAME", "1")

    def work(_: object) -> str:
        os.environ["SAME"] = "1"
        os.environ.pop("LACKING", None)
        importlib.import_module("sets_it")
        return os.environ["ITS_OWN"]

    explore(actors=[work]).assert_holds()


def test_all_that_tells_the_time_tells_the_actors() -> None:
    def work(redis: Any) -> str:
        now, shape = int(time.time()), "%Y-%m-%d %H:%M:%S"
        said = [
            calendar.timegm(time.gmtime()),
            int(time.mktime(time.localtime())),
            int(time.mktime(time.strptime(time.ctime()))),
            int(time.mktime(time.strptime(time.asctime()))),
            int(time.mktime(time.strptime(time.strftime(shape), shape))),
            int(time.clock_gettime(time.CLOCK_REALTIME)),
            time.clock_gettime_ns(time.CLOCK_REALTIME) // 1_000_000_000,
        ]
        assert said == [now] * len(said), (said, now)
        return ""

    assert abs(calendar.timegm(time.gmtime()) - time.time()) < 2
    explore(actors=[work]).assert_holds()


def in_its_window(redis: Any) -> None:
    """Allow two per window, by a clock that moves while all actors are paused."""
    first = calendar.timegm(time.gmtime())
    redis.get("n")
    if calendar.timegm(time.gmtime()) - first > 60:
        redis.set("late", 1)


def test_a_pause_is_seen_by_them() -> None:
    result = explore(
        actors=[in_its_window], at_end=lambda redis: not redis.exists("late"), faults="pause=1"
    )
    assert result.verdict == "fails"


def test_chance_without_a_seed_is_the_same_at_each_run() -> None:
    def draws(redis: Any) -> None:
        drawn = (random.Random().random(), random.SystemRandom().random())
        redis.rpush("drawn", *map(str, drawn), str(random.Random(1).random()))

    told = set()
    for _ in range(2):
        (finding,) = explore(actors=[draws], at_end=lambda _: False).report.findings
        told.add(str(finding.trace[-1].shown["drawn"]))
    assert len(told) == 1
    assert str(random.Random(1).random())[:8] in told.pop()
