"""The libraries of packages/, as a stranger has them: a wheel in an environment of its own."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import venv
from importlib.metadata import distribution
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.servers import StoreServer

PACKAGES = Path(__file__).parents[2] / "packages"


class Library(NamedTuple):
    name: str
    prints: str  # what the first script of its README says


LIBRARIES = [
    Library("fairlock", "".join(f"{name} is served\n" for name in "ABCDE")),
]


def run(*command: str | Path, cwd: Path) -> str:
    ran = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout + ran.stderr


def built(name: str, folder: Path) -> Path:
    """From a copy: a build leaves its files beside the sources."""
    left_out = shutil.ignore_patterns("tests", "build", "*.egg-info", "__pycache__")
    shutil.copytree(PACKAGES / name, folder / name, ignore=left_out)
    pip = (sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation")
    run(*pip, "-w", "wheels", f"./{name}", cwd=folder)
    [wheel] = (folder / "wheels").glob("*.whl")
    return wheel


def empty(folder: Path, wheel: Path) -> Path:
    """Python in an environment that has the wheel, what it requires, and nothing else.

    What it requires is linked from ours: a test shall not wait for an index.
    """
    venv.create(folder / "venv", with_pip=False)
    python = folder / "venv/bin/python"
    pip = (sys.executable, "-m", "pip", "--python", python)
    run(*pip, "install", "--no-deps", "--no-index", wheel, cwd=folder)
    [packages] = (folder / "venv/lib").glob("python*/site-packages")
    for required in distribution(wheel.name.partition("-")[0]).requires or ():
        for file in distribution(re.split(r"[^\w.-]", required)[0]).files or ():
            top = packages / file.parts[0]
            if not top.exists() and ".." not in file.parts:
                top.symlink_to(Path(str(file.locate())).parents[len(file.parts) - 1] / top.name)
    return python


@pytest.mark.parametrize("library", LIBRARIES, ids=lambda library: library.name)
def test_its_readmes_first_script_runs_where_nothing_else_is(
    library: Library, tmp_path: Path, valkey: StoreServer
) -> None:
    python = empty(tmp_path, built(library.name, tmp_path))
    readme = (PACKAGES / library.name / "README.md").read_text()
    first = re.findall(r"^```python\n(.+?)^```", readme, re.MULTILINE | re.DOTALL)[0]
    (tmp_path / "first.py").write_text(
        first.replace("redis.Redis()", f"redis.Redis(port={valkey.port})")
    )
    assert run(python, "-I", "first.py", cwd=tmp_path) == library.prints
    for stranger in ("app", "pytest", "orjson"):
        found = f"import importlib.util; print(importlib.util.find_spec({stranger!r}))"
        assert run(python, "-Ic", found, cwd=tmp_path) == "None\n"
