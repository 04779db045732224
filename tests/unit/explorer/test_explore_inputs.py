"""Input that `lastapple explore` and `replay` refuse: exit status 2 and a helpful sentence."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from app.cli import main


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("explore",), "Say what to explore"),
        (("explore", "magic"), "magic"),
        (("explore", "lock:db_unique"), "SQL database"),
        (("explore", "sql", "--buyers", "3"), "--buyers"),
        (("explore", "sql", "--faults", "none"), "--faults"),
        (("explore", "sql", "--again"), "--again"),
        (("explore", "sql", "--retries", "0"), "--retries"),
        (("explore", "sql", "--save", "trace.json"), "--save"),
        (("explore", "sql", "--matrix"), "--matrix"),
        (("explore", "sql", "--markdown"), "--markdown"),
        (("explore", "watch", "--markdown"), "--markdown is for --matrix"),
        (("explore", "sql", "--json", "/nowhere/at/all"), "/nowhere/at/all"),
        (("explore", "lock:zookeeper"), "ZooKeeper"),
        (("explore", "watch", "--faults", "fire=1"), "fire"),
        (("explore", "watch", "--faults", "crash=9"), "crash="),
        (("explore", "watch", "--faults", "crash"), "crash="),
        (("explore", "watch", "--faults", "nonecrash=1"), "'nonecrash' is not one of crash"),
        (("explore", "watch", "--faults", ""), "'' is not one of crash, pause"),
        (("explore", "watch", "--faults", "crash=1,"), "'' is not one of crash, pause"),
        (("explore", "watch", "--faults", "none,crash=1"), "or all of it is 'none'"),
        (("explore", "watch", "--faults", "crash=1,pause=1,crash=2"), "crash= is there twice"),
        (("explore", "watch", "--faults", "crash=²"), "it needs a number, crash=1 (0 to 3)"),
        (("explore", "watch", "--matrix"), "leave out TARGET"),
        (("explore", "--matrix", "--buyers", "3", "--json", "-"), "leave out --buyers, --json"),
        (("explore", "watch", "--again", "--faults", "none"), "--again is asked without faults"),
        (("explore", __file__, "--again"), "--again is for modes"),
        (("explore", "watch", "--buyers", "9"), "--buyers"),
        (("explore", "watch", "--save", "/nowhere/at/all"), "/nowhere/at/all"),
        (("replay", "/nowhere/at/all"), "/nowhere/at/all"),
    ],
)
def test_it_is_refused(words: tuple[str, ...], said: str) -> None:
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 2, result.exception
    assert said in result.stderr
