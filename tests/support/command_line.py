"""`lastapple` as a test calls it: in the test's process, or in another as its user does."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from app.cli import main
from app.config import SETTINGS, Settings

LONGEST = 600  # s; a command that takes so long hangs
LASTAPPLE = (sys.executable, "-m", "app.cli")
UNSET: dict[str, str | None] = {row.name.upper(): None for row in SETTINGS}


def environ_of(settings: Settings) -> dict[str, str]:
    return {row.name.upper(): str(getattr(settings, row.name)) for row in SETTINGS}


def full_environ(changes: Mapping[str, str]) -> dict[str, str]:
    """Return this process's environment without any setting of the shop's, and with `changes`."""
    return {name: value for name, value in os.environ.items() if name not in UNSET} | dict(changes)


def invoke(*words: str, typed: str = "", **environ: str) -> Result:
    """Call it in this process, which takes a tenth of the time."""
    return CliRunner(env=UNSET | environ).invoke(main, words, input=typed)


def run(*words: str | Path, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run it in a process of its own, to its end."""
    return subprocess.run(
        [*LASTAPPLE, *words],
        env=full_environ(environ),
        capture_output=True,
        text=True,
        timeout=LONGEST,
    )


def begin(*words: str | Path, **environ: str) -> subprocess.Popen[str]:
    """Start it in a process of its own; its output waits in pipes."""
    options: dict[str, Any] = dict.fromkeys(("stdout", "stderr"), subprocess.PIPE)
    return subprocess.Popen([*LASTAPPLE, *words], env=full_environ(environ), text=True, **options)
