"""The wheel alone, as `pip install .` leaves it: what cannot run there says why in one line."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from app.cli import COMMANDS
from app.cli.clone import BRINGS_UP_A_SHOP, LIBRARIES

TOP = Path(__file__).parents[3]
OURS = {each.parent.name for each in TOP.glob("packages/*/pyproject.toml")}
LINE = "Error: Last Apple runs from its clone only: git clone it, cd into it, make run.\n"
# As in an environment in which our libraries were never installed.
LASTAPPLE = (
    f"import sys; sys.modules.update(dict.fromkeys({sorted(OURS)})); "
    "from app.cli import main; main(prog_name='lastapple')"
)
QUIET = {"run": ("fulfil",), "bench": ("locks", "--help"), "transactions": ("--help",)}


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that holds what the wheel does, and nothing else."""
    source, built, folder = (tmp_path_factory.mktemp(name) for name in ("src", "whl", "site"))
    for name in ("app", "loadtest", "pyproject.toml", "README.md", "LICENSE"):
        there = TOP / name
        copy = shutil.copytree if there.is_dir() else shutil.copy
        copy(there, source / name)
    build = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation"]
    subprocess.run([*build, "--wheel-dir", built, source], check=True, timeout=100)
    [wheel] = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(folder)
    return folder


def lastapple(installed: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", LASTAPPLE, *words],
        cwd=installed,
        env={"PATH": "/usr/bin:/bin", "VAR_DIR": str(installed / "var")},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_each_library_of_ours_is_known_to_be_on_no_index() -> None:
    assert set(LIBRARIES) == OURS


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_works_or_says_what_to_do(installed: Path, name: str) -> None:
    done = lastapple(installed, name, *QUIET.get(name, ()))
    assert "Traceback" not in done.stdout + done.stderr
    if name in BRINGS_UP_A_SHOP or done.stderr == LINE:
        assert (done.returncode, done.stdout, done.stderr) == (2, "", LINE)


def test_what_needs_nothing_of_the_clone_works(installed: Path) -> None:
    assert "SHOP_PORT" in lastapple(installed, "settings").stdout
    assert "lastapple, version" in lastapple(installed, "--version").stdout
