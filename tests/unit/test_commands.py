"""The subcommands are loaded when they are used."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from app.cli import COMMANDS, main
from app.cli.clone import NotTheClone, its_libraries


@pytest.mark.parametrize("name", COMMANDS)
def test_each_is_there_by_its_name(name: str) -> None:
    command = main.get_command(click.Context(main), name)
    assert isinstance(command, click.Command)
    assert command.name == name
    assert command.get_short_help_str(100) == COMMANDS[name].says


@pytest.mark.parametrize(
    "does",
    [
        "app.cli.settings",
        "app.cli, click; app.cli.main.get_help(click.Context(app.cli.main))",
        "app.cli.explore, app.explorer.matrix; app.explorer.matrix.asked()",
    ],
)
def test_one_that_needs_no_database_does_not_wait_for_one(does: str) -> None:
    said = f"import sys, {does}; print('sqlalchemy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", said], capture_output=True, text=True, timeout=30)
    assert done.stdout == "False\n", done.stderr


@pytest.mark.parametrize(
    ("words", "close"),
    [
        ("exploer watch", "'explore'"),
        ("explore --buyer 3", "'--buyers'"),
        ("explore wach", "watch"),
        ("explore lock:leas", "lease"),
        ("round start aple --mode watch --stock 1", "apple"),
    ],
)
def test_a_misspelt_name_gets_the_closest_one(words: str, close: str) -> None:
    run = CliRunner().invoke(main, words.split())
    assert run.exit_code != 0
    assert re.search(rf"Did you mean (one of: )?{close}", run.stderr), run.stderr


def test_a_name_like_none_gets_them_all() -> None:
    assert "There are naive, read_before_watch" in CliRunner().invoke(main, ["explore", "q"]).stderr


def test_a_check_without_a_shop_says_first_how_to_start_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("VAR_DIR", str(tmp_path))
    assert "make run" in CliRunner().invoke(main, ["check"]).stdout.splitlines()[0]


def test_a_library_of_the_clone_that_is_missing_is_told_in_a_line() -> None:
    with pytest.raises(NotTheClone), its_libraries():
        raise ModuleNotFoundError(name="badluck.search")


def test_any_other_missing_module_is_an_error_of_ours() -> None:
    with pytest.raises(ModuleNotFoundError), its_libraries():
        raise ModuleNotFoundError(name="flask")
