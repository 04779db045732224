"""make and the package say in one line, in the same words, which Pythons are supported."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).parents[2]
MAKE = ["make", "--no-print-directory"]  # a make within make prints its folder
OF_VERSION = """#!/bin/sh
[ "$1" = --version ] && {{ echo "Python {version}"; exit; }}
exec {python} -c "import sys; sys.version_info = {tuple}; exec(sys.argv[1])" "$2"
"""


def installed_with(version: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run `make install` in a folder of its own, with a Python that claims that version."""
    python = folder / "python"
    told = tuple(map(int, version.split(".")))
    python.write_text(OF_VERSION.format(version=version, python=sys.executable, tuple=told))
    python.chmod(0o755)
    (folder / "requirements").mkdir()
    (folder / "requirements" / "run.txt").touch()
    (folder / "pyproject.toml").touch()
    return subprocess.run(
        [*MAKE, "-f", TOP / "Makefile", "install", f"PYTHON={python}", "BIN=nowhere"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=30,
    )


@pytest.mark.parametrize("version", ["3.10.14", "3.14.0"])
def test_another_python_is_refused_in_one_line(version: str, tmp_path: Path) -> None:
    refused = installed_with(version, tmp_path)
    assert refused.returncode
    [said] = refused.stdout.splitlines()
    assert said.startswith(f"Last Apple needs Python 3.11, 3.12 or 3.13; {tmp_path}/python is")
    assert f"Python {version}" in said
    assert not (tmp_path / ".venv").exists()


@pytest.mark.parametrize("version", ["3.11.0", "3.13.9"])
def test_these_are_not(version: str, tmp_path: Path) -> None:
    assert "needs Python" not in installed_with(version, tmp_path).stdout


def test_the_package_says_the_same() -> None:
    [wanted] = re.findall(r'requires-python = "(.+?)"', (TOP / "pyproject.toml").read_text())
    assert wanted == ">=3.11,<3.14"
