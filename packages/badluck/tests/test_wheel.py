"""What is built of this folder has all that it needs, beside Python the Lua and the C."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parents[1]
LOOK = """
import badluck
from importlib.resources import files
from badluck.simulated.server import Server
assert badluck.__file__.startswith({place!r}), badluck.__file__
assert Server(0).execute("a", (b"EVAL", b"return cjson.encode({{1}})", b"0")) == b"[1]"
print(*(name for name in ("real/clock.c", "py.typed") if (files(badluck) / name).is_file()))
"""


def test_the_wheel_has_it_all(tmp_path: Path) -> None:
    source, place = tmp_path / "source", tmp_path / "place"
    ignored = shutil.ignore_patterns("*.egg-info", "build", "__pycache__")
    shutil.copytree(FOLDER, source, ignore=ignored)
    pip = [sys.executable, "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
    options = ["--no-deps", "--no-build-isolation", "--no-index", "--target", str(place)]
    subprocess.run([*pip, *options, str(source)], check=True, timeout=120)
    done = subprocess.run(
        [sys.executable, "-c", LOOK.format(place=str(place))],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(place)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stderr == ""
    assert done.stdout.split() == ["real/clock.c", "py.typed"]
