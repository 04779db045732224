"""The README's results are what comes of its own files."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

README = (Path(__file__).parents[1] / "README.md").read_text()
NAMES = ("bank.py", "test_bank.py", "buy.py", "look.py")


@pytest.fixture
def files(tmp_path: Path) -> Path:
    texts = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    for name, text in zip(NAMES, texts, strict=True):
        (tmp_path / name).write_text(text)
    return tmp_path


def run(*words: str, folder: Path) -> str:
    command = [sys.executable, *words]
    environ = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(
        command, cwd=folder, env=environ, capture_output=True, text=True, timeout=60
    )
    assert done.stderr == ""
    return done.stdout


def shown(after: str) -> str:
    return README.partition(f"{after}\n\n```\n")[2].partition("```")[0]


def test_the_first_result(files: Path) -> None:
    printed = run("-m", "pytest", "-p", "no:cacheprovider", "test_bank.py", folder=files)
    said = textwrap.dedent("".join(re.findall(r"^E   (.*\n)", printed, re.MULTILINE)))
    said = re.sub(r"in \d\.\d\d s;", "in 0.00 s;", said)
    assert said == shown("`pytest test_bank.py` says, among other things:")


def test_rules_of_ones_own(files: Path) -> None:
    assert run("look.py", folder=files) == shown("`python look.py`:")
