"""The subcommands are loaded when they are used."""

from __future__ import annotations

import subprocess
import sys

import click
import pytest

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


def test_a_library_of_the_clone_that_is_missing_is_told_in_a_line() -> None:
    with pytest.raises(NotTheClone), its_libraries():
        raise ModuleNotFoundError(name="badluck.search")


def test_any_other_missing_module_is_an_error_of_ours() -> None:
    with pytest.raises(ModuleNotFoundError), its_libraries():
        raise ModuleNotFoundError(name="flask")
