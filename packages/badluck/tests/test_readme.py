"""The README's results are those of its own files, run in the README's order."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from servers.valkey import server_program

README = (Path(__file__).parents[1] / "README.md").read_text()
NAMES = ("bank.py", "test_bank.py", "bank.py", "bank.py", "buy.py", "look.py")
FIRST, BY_A_LOCK, AT_ONCE = (0, 1), (2,), (3,)
RULES = (4, 5)
TEXTS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


def write(folder: Path, which: tuple[int, ...]) -> None:
    assert len(TEXTS) == len(NAMES)
    for nth in which:
        (folder / NAMES[nth]).write_text(TEXTS[nth])


def run(*words: str, folder: Path, ends: int = 0) -> str:
    environ = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "CI": ""}
    # Quicker than the resolution of file times: bank.py is written three times within a second.
    command = [sys.executable, "-B", *words]
    done = subprocess.run(
        command, cwd=folder, env=environ, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (ends, ""), done.stdout
    return re.sub(r"in \d+\.\d\d s;", "in 0.00 s;", done.stdout)


def by_pytest(folder: Path, *words: str, ends: int) -> str:
    plain = ("-m", "pytest", "-p", "badluck", "-p", "no:cacheprovider")
    return run(*plain, *words, folder=folder, ends=ends)


def shown(after: str) -> str:
    return README.partition(f"{after}\n\n```\n")[2].partition("```")[0]


@pytest.fixture
def server(tmp_path: Path) -> str:
    """Make the README's name of a server work."""
    (tmp_path / "servers").mkdir()
    link = tmp_path / "servers/redis-server"
    link.symlink_to(server_program())
    return str(link)


def test_from_a_first_schedule_to_what_holds(tmp_path: Path, server: str) -> None:
    write(tmp_path, FIRST)
    printed = by_pytest(tmp_path, "test_bank.py", ends=1)
    first = shown("`pytest test_bank.py` fails, and says:")
    assert first
    assert first in printed
    again = first.splitlines()[-1].partition(": pytest ")[2].split()
    replayed = shown("real server (Linux, a C compiler, and `valkey-server` or `redis-server`):")
    assert replayed
    assert replayed in by_pytest(tmp_path, *again, f"--badluck-server={server}", ends=1)
    write(tmp_path, BY_A_LOCK)
    second = shown("`pytest test_bank.py` fails once more:")
    assert second
    assert second in by_pytest(tmp_path, "test_bank.py", ends=1)
    write(tmp_path, AT_ONCE)
    assert " does not break it any more" in by_pytest(tmp_path, "test_bank.py", ends=0)


def test_rules_of_ones_own(tmp_path: Path) -> None:
    write(tmp_path, RULES)
    assert run("look.py", folder=tmp_path) == shown("`python look.py`:")
