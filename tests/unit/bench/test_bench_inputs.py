"""Options that `lastapple bench locks` takes and refuses: exit status 2 and a helpful sentence."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from click.testing import CliRunner, Result

from app.domain import Invalid
from app.locks import LOCKS
from loadtest.bench import rows
from loadtest.bench.__main__ import bench
from loadtest.bench.cell import Shape
from loadtest.bench.rows import DEFAULT, ROWS, LockRow, choose, missing
from loadtest.inputs import split


def run(*arguments: str) -> Result:
    """Run it without a ZooKeeper, whatever this machine has."""
    runner = CliRunner(env={"ZOOKEEPER_HOSTS": None})
    return runner.invoke(bench, ["locks", *arguments], prog_name="lastapple bench")


def without(package: str) -> Callable[[LockRow], str]:
    """Treat the package as not installed."""
    return lambda row: f"no {package}" if row.package == package else ""


def test_help_names_the_locks_and_the_defaults() -> None:
    result = run("--help")
    assert result.exit_code == 0
    text = " ".join(result.output.split())
    for word in ("pottery", "[default: 2x4,2x16]", "[default: 2;", "three minutes"):
        assert word in text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--only", ""), "'--only': give them with a comma between"),
        (("--only", "lease,,pottery"), "'--only': give them with a comma between"),
        (("--only", "lease,lease"), "lease is there twice"),
        (("--only", "lease,magic"), "there is no lock magic; known: "),
        (("--base", "magic"), "--base: there is no lock magic"),
        (("--base", ""), "--base: there is no lock"),
        (("--only", "lease,zookeeper"), "ZOOKEEPER_HOSTS is not set"),
        (("--base", "zookeeper"), "ZOOKEEPER_HOSTS is not set"),
        (("--shapes", ""), "'--shapes': give them with a comma between"),
        (("--shapes", "2"), "'2' is no shape like 2x16"),
        (("--shapes", "2x4x8"), "'2x4x8' is no shape"),
        (("--shapes", "٢x4"), "is no shape"),
        (("--shapes", "2x4,2x4"), "2x4 is there twice"),
        (("--shapes", "2x4,2x04"), "'2x04' is no shape"),
        (("--shapes", "0x4"), "0x4 is out of bounds: 1 to 64 processes"),
        (("--shapes", "65x1"), "out of bounds"),
        (("--shapes", "1x129"), "out of bounds"),
        (("--seconds", "0"), "--seconds"),
        (("--seconds", "1.5"), "--seconds"),
        (("--repeats", "51"), "--repeats"),
        (("--json", "nowhere/at/all.json"), "no folder nowhere/at"),
        (("lease",), "unexpected extra argument"),
    ],
)
def test_bad_input_is_refused_before_anything_starts(arguments: tuple[str, ...], said: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert said in result.output
    errors = result.output.partition("Error: ")[2]
    assert errors.count("\n") == 1, "one line"


def test_lists_and_shapes() -> None:
    assert split("lease, redis-py", "") == ["lease", "redis-py"]
    assert Shape.parse("32x1") == (32, 1)


def test_the_base_is_measured_too() -> None:
    choice = choose(["lease"], None)
    assert [row.name for row in choice.rows] == ["lease", "python-redis-lock"]
    assert choice.base is choice.rows[1]
    assert choice.remarks == ["python-redis-lock is measured too: the ratios are against it."]
    assert choose(["lease"], "lease").rows == choose(["lease"], "lease").rows[:1]


def test_a_peer_that_is_not_installed_is_left_out_and_said() -> None:
    choice = choose(None, None, without("pottery"))
    assert [row.name for row in choice.rows] == [name for name in DEFAULT if name != "pottery"]
    assert choice.remarks == ["no pottery"]


def test_why_a_row_cannot_run_here(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [name for name, row in ROWS.items() if missing(row, "zoo:2181")] == []
    assert [name for name, row in ROWS.items() if missing(row)] == ["zookeeper"]
    monkeypatch.setattr(rows, "find_spec", lambda _module: None)
    assert missing(ROWS["pottery"]) == "pottery is not installed: pip install pottery."


def test_every_recipe_has_a_row_and_those_that_need_more_servers_are_asked_for() -> None:
    assert set(LOCKS) < set(ROWS)
    assert {ROWS[name].needs for name in DEFAULT} == {"store"}


def test_without_the_usual_base_the_first_row_is_it() -> None:
    choice = choose(None, None, lambda row: f"no {row.package}" if row.package else "")
    assert choice.rows[0] is choice.base
    assert "Ratios are against lease instead." in choice.remarks[-1]


@pytest.mark.parametrize(("only", "base"), [(["pottery"], None), (None, "pottery")])
def test_an_absent_peer_that_was_named_is_an_error(
    only: list[str] | None, base: str | None
) -> None:
    with pytest.raises(Invalid, match="no pottery"):
        choose(only, base, without("pottery"))
