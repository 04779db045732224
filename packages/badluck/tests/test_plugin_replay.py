"""`--badluck-replay`: a saved schedule on a real server, step by step."""

from __future__ import annotations

import re
from pathlib import Path

import badluck.plugin.fixture  # noqa: F401  once: pytester forgets what its runs import
import pytest
from servers.valkey import server_program

# Values of every kind are shown at the steps, more than a chart has room for.
TEST = """
def fill(redis):
    redis.set("n", 0)
    redis.rpush("list", "b", "a")
    redis.sadd("set", "b", "a")
    redis.zadd("ranks", {"b": 1})

def count_up(redis):
    with redis.lock("lock", timeout=10):
        redis.set("n", int(redis.get("n")) + 1)
        redis.sadd("set", "c")

def test_n(badluck):
    badluck.explore(
        setup=fill, actor=count_up, at_end=lambda redis: redis.get("n") == b"2", faults=FAULTS
    )
"""
SAVED = "badluck-schedules/test_it.test_n.json"


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    pytester.makepyfile(test_it=TEST.replace("FAULTS", "'pause=1'"))
    return pytester


def ran(project: pytest.Pytester, *words: str) -> tuple[int, str]:
    """Return how it ended, and all that it printed."""
    result = project.runpytest_inprocess("-p", "badluck", "-p", "no:cacheprovider", *words)
    return int(result.ret), "\n".join(result.outlines + result.errlines)


@pytest.mark.parametrize("fault", ["pause", "crash", "lost", "late", "failover"])
def test_a_real_server_does_the_same(project: pytest.Pytester, fault: str) -> None:
    project.makepyfile(test_it=TEST.replace("FAULTS", f"'{fault}=1'"))
    assert "1 fault, " in ran(project)[1]
    ended, printed = ran(
        project, f"--badluck-replay={SAVED}", f"--badluck-server={server_program()}"
    )
    assert ended == 1
    assert "valkey-server did the same in all " in printed or "redis-server did the" in printed
    assert "NOT THE SAME" not in printed


def test_a_real_server_does_the_same_while_somebody_sleeps(project: pytest.Pytester) -> None:
    project.makepyfile(
        test_it="""
import time

def works(redis, name):
    redis.set(name, int(time.time()))
    if redis.set("lock", name, nx=True, ex=3):
        time.sleep(5)
        return redis.get("lock") == name.encode()

def is_still_its_own(redis, answers):
    return False not in answers.values()

def test_n(badluck):
    badluck.explore(actor=works, count=2, at_end=is_still_its_own)
"""
    )
    printed = ran(project)[1]
    assert "BROKEN AT THE END, with no fault at all" in printed
    assert {"looks at the clock", "time passes", "has slept"} == set(
        re.findall("looks at the clock|time passes|has slept", printed)
    )
    ended, printed = ran(
        project, f"--badluck-replay={SAVED}", f"--badluck-server={server_program()}"
    )
    assert ended == 1
    assert "did the same in all " in printed
    assert "NOT THE SAME" not in printed


def test_a_lock_that_leaks_is_found_again_and_played(project: pytest.Pytester) -> None:
    """A leaked lock is found only by a look at all orders."""
    leak = """
def keeps_it(redis):
    if redis.set("door:lock", 1, nx=True):
        redis.incr("n")

def test_n(badluck):
    badluck.explore(actor=keeps_it)
"""
    project.makepyfile(test_it=leak)
    assert "LOCK LEAKED" in ran(project)[1]
    ended, printed = ran(project)
    assert ended == 1
    assert f"{SAVED} still breaks it" in printed
    ended, printed = ran(
        project, f"--badluck-replay={SAVED}", f"--badluck-server={server_program()}"
    )
    assert ended == 1
    assert "did the same in all 3 steps: LOCK LEAKED" in printed


def test_what_the_model_does_otherwise_is_said(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran(project)
    from badluck.model.server import ModelServer

    execute = ModelServer.execute

    def wrong(self: ModelServer, client: str, command: tuple[bytes, ...]) -> object:
        said = execute(self, client, command)
        return 7 if command == (b"SADD", b"set", b"c") and said == 1 else said

    monkeypatch.setattr(ModelServer, "execute", wrong)
    ended, printed = ran(
        project, f"--badluck-replay={SAVED}", f"--badluck-server={server_program()}"
    )
    assert ended == 1
    step, many = re.findall(r"did something else in step (\d+) of (\d+): the model of", printed)[0]
    assert int(step) < int(many)
    assert re.search(rf"^ +{step} . SADD set c -> 7: NOT THE SAME$", printed, re.MULTILINE)
    assert re.search(r"-server: . SADD set c -> 1$", printed, re.MULTILINE)


def test_a_server_too_old_for_a_command_is_not_the_models_mistake(
    project: pytest.Pytester, tmp_path: Path
) -> None:
    ran(project)
    old = tmp_path / "old-server"
    old.write_text(f'#!/bin/sh\nexec {server_program()} "$@" --rename-command EVALSHA ""\n')
    old.chmod(0o755)
    ended, printed = ran(project, f"--badluck-replay={SAVED}", f"--badluck-server={old}")
    assert ended == 1
    assert re.search(
        r"old-server does not know what step \d+ of \d+ asks: a newer one may", printed
    )


def test_code_that_was_mended_is_not_played(project: pytest.Pytester) -> None:
    ran(project)
    mended = TEST.replace('redis.set("n", int(redis.get("n")) + 1)', 'redis.incr("n")')
    project.makepyfile(test_it=mended.replace("FAULTS", "'none'"))
    ended, printed = ran(project, f"--badluck-replay={SAVED}")
    assert ended == 1
    assert "step 2 was GET n, and is INCRBY n 1. Nothing was played." in printed


def test_without_a_server(project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    ran(project)
    ended, printed = ran(project, f"--badluck-replay={SAVED}", "--badluck-server=nothing-such")
    assert ended == 1
    assert "nothing-such cannot be found to play a schedule on: install one" in printed
    monkeypatch.setenv("PATH", "")
    assert (
        "valkey-server or redis-server cannot be found"
        in ran(project, f"--badluck-replay={SAVED}")[1]
    )


def test_a_file_that_no_test_is_of(project: pytest.Pytester) -> None:
    ran(project)
    project.makepyfile(test_others="def test_other(badluck): pass\ndef test_no(): pass")
    ended, printed = ran(project, "test_others.py", f"--badluck-replay={SAVED}")
    assert ended == 4
    assert "no test that was run has" in printed
    (project.path / "test_it.py").rename(project.path / "test_renamed.py")
    ended, printed = ran(project, "test_renamed.py", f"--badluck-replay={SAVED}")
    assert ended == 4
    assert "1 skipped" in printed
    assert "to play, which is of test_it.py::test_n." in printed
    ended, printed = ran(project, "test_renamed.py", "--badluck-replay=nowhere.json")
    assert ended == 1
    assert "nowhere.json: No such file or directory." in printed
    assert "Delete it" not in printed
