"""The libraries of packages/ as a user installs them: a wheel in an environment of its own."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator
from importlib.metadata import Distribution
from pathlib import Path
from typing import NamedTuple
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement

from tests.support.servers import StoreServer

PACKAGES = Path(__file__).parents[2] / "packages"


class Library(NamedTuple):
    """Its README's first result: scripts, of which the last is run, and what that prints."""

    name: str
    scripts: tuple[str, ...]
    prints: str  # a regular expression; the library's own tests compare with its README


LIBRARIES = [
    Library(
        "badluck",
        ("bank.py", "test_bank.py", "bank.py", "bank.py", "buy.py", "look.py"),
        r"buy\.py: OVERSOLD, .+\n  4 DECRBY apples 1 -> -1 .+",
    ),
    Library("fairlock", ("first.py",), "".join(f"{name} is served\n" for name in "ABCDE")),
    Library("figures", ("first.py",), r"Spread\(low=1210\.0, .+\n1,210–1,358\n<svg .+</svg>\n"),
    Library("servers", ("first.py",), "b'1'\n"),
]
EVERY_MODULE = """
import importlib, pkgutil, {name} as library
for module in pkgutil.walk_packages(library.__path__, "{name}."):
    if not module.name.startswith("badluck.plugin."):  # pytest's, who loads it
        importlib.import_module(module.name)
"""


class Installed(NamedTuple):
    library: Library
    folder: Path
    wheel: Path
    python: Path


def run(*command: str | Path, cwd: Path) -> str:
    ran = subprocess.run(command, cwd=cwd, capture_output=True, encoding="utf-8", timeout=120)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout + ran.stderr


def built(name: str, folder: Path) -> Path:
    """Build from a copy, since a build leaves its files next to the sources."""
    left_out = shutil.ignore_patterns("tests", "build", "*.egg-info", "__pycache__")
    shutil.copytree(PACKAGES / name, folder / name, ignore=left_out)
    pip = (sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation")
    run(*pip, "-w", "wheels", f"./{name}", cwd=folder)
    [wheel] = (folder / "wheels").glob("*.whl")
    return wheel


def alone(name: str, wheel: Path, folder: Path) -> Path:
    """Return a Python in an environment with the wheel, what it requires, and nothing else.

    Its requirements are linked from ours, so that no test waits for an index. pip checks whether
    that is all, in suitable versions.
    """
    venv.create(folder / "venv", with_pip=False)
    python = folder / "venv/bin/python"
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python)
    run(*pip, "install", "--no-deps", "--no-index", wheel, cwd=folder)
    [packages] = (folder / "venv/lib").glob("python*/site-packages")
    [itself] = Distribution.discover(name=name, path=[str(packages)])
    link(itself, packages)
    assert run(*pip, "check", cwd=folder) == "No broken requirements found.\n"
    return python


def link(wanted: Distribution, packages: Path) -> None:
    """Link it and its requirements from our environment into that one."""
    for distribution in (wanted, *required(wanted)):
        for file in distribution.files or ():
            top = packages / file.parts[0]
            if not top.exists() and ".." not in file.parts:
                top.symlink_to(Path(str(file.locate())).parents[len(file.parts) - 1] / top.name)


def required(distribution: Distribution) -> Iterator[Distribution]:
    """Yield what is needed on this Python, without extras."""
    for line in distribution.requires or ():
        needed = Requirement(line)
        if needed.marker is None or needed.marker.evaluate():
            found = Distribution.from_name(needed.name)
            yield found
            yield from required(found)


@pytest.fixture(scope="module", params=LIBRARIES, ids=lambda library: str(library.name))
def installed(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Installed:
    library: Library = request.param
    folder = tmp_path_factory.mktemp(library.name)
    wheel = built(library.name, folder)
    return Installed(library, folder, wheel, alone(library.name, wheel, folder))


def test_a_table_names_every_library() -> None:
    assert {library.name for library in LIBRARIES} == {path.name for path in PACKAGES.iterdir()}


def test_the_wheel_has_every_file_of_its_sources(installed: Installed) -> None:
    name = installed.library.name
    sources = PACKAGES / name / "src"
    files = (path for path in (sources / name).rglob("*") if path.is_file())
    own = {path.relative_to(sources).as_posix() for path in files if path.suffix != ".pyc"}
    assert f"{name}/py.typed" in own
    assert own <= set(ZipFile(installed.wheel).namelist())


def test_what_it_requires_is_all_that_its_modules_import(installed: Installed) -> None:
    every = EVERY_MODULE.format(name=installed.library.name)
    assert run(installed.python, "-Ic", every, cwd=installed.folder) == ""
    for stranger in ("app", "pytest", "flask"):
        found = f"import importlib.util; print(importlib.util.find_spec({stranger!r}))"
        assert run(installed.python, "-Ic", found, cwd=installed.folder) == "None\n"


def test_its_readmes_first_result(installed: Installed, valkey: StoreServer) -> None:
    name, scripts, prints = installed.library
    readme = (PACKAGES / name / "README.md").read_text()
    code = re.findall(r"^```python\n(.+?)^```", readme, re.MULTILINE | re.DOTALL)
    for script, text in zip(scripts, code, strict=False):
        text = text.replace(".Redis()", f".Redis(port={valkey.port})")
        text = text.replace("sleep(0.1)", "sleep(0.8)")  # a busy machine is slow to start a thread
        (installed.folder / script).write_text(text)
    printed = run(installed.python, "-I", scripts[-1], cwd=installed.folder)
    assert re.fullmatch(prints, printed, re.DOTALL), printed


BADLUCK = [library for library in LIBRARIES if library.name == "badluck"]


@pytest.mark.parametrize("installed", BADLUCK, indirect=True, ids=["badluck"])
def test_badlucks_model_runs_lua(installed: Installed) -> None:
    """No module and no first result uses the script that each script begins with."""
    script = (
        "from badluck.model.server import ModelServer;"
        "print(ModelServer(0).execute('a', (b'EVAL', b'return cjson.encode({1})', b'0')))"
    )
    assert run(installed.python, "-Ic", script, cwd=installed.folder) == "b'[1]'\n"


@pytest.mark.parametrize("installed", BADLUCK, indirect=True, ids=["badluck"])
def test_pytest_knows_badluck_when_it_is_installed(installed: Installed) -> None:
    """Its fixture and the page that it writes, by the first result of its README."""
    with_pytest(installed)
    code = re.findall(
        r"^```python\n(.+?)^```",
        (PACKAGES / "badluck/README.md").read_text(),
        re.MULTILINE | re.DOTALL,
    )
    for script, text in zip(installed.library.scripts[:2], code, strict=False):
        (installed.folder / script).write_text(text)
    pytests = (installed.python, "-m", "pytest", "-p", "no:cacheprovider", "test_bank.py")
    done = subprocess.run(
        pytests, cwd=installed.folder, capture_output=True, text=True, timeout=120
    )
    assert "pay, pay_back: INVARIANT BROKEN, with no fault at all" in done.stdout, done.stdout
    assert [path.suffix for path in sorted(installed.folder.glob("badluck-schedules/*"))] == [
        ".html",
        ".json",
    ]


def with_pytest(installed: Installed) -> None:
    [packages] = (installed.folder / "venv/lib").glob("python*/site-packages")
    link(Distribution.from_name("pytest"), packages)
