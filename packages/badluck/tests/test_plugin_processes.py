"""The plugin in a pytest of its own: a project with a package `app`, Ctrl-C, and what it costs."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

PYTEST = (sys.executable, "-m", "pytest", "-p", "badluck", "-p", "no:cacheprovider")
ENVIRON = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "CI": ""}
PROJECT = {
    "app/__init__.py": "",
    "app/tools.py": """
import functools

def traced(work):
    @functools.wraps(work)
    def inner(*args, **named):
        return work(*args, **named)
    return inner
""",
    "app/shop/shelf.py": """
class Shelf:
    def __init__(self, redis):
        self.redis = redis

    def left(self):
        return int(self.redis.get("left"))

    def take(self):
        self.redis.decr("left")
""",
    "app/shop/sales.py": """
from ..tools import traced
from .shelf import Shelf

@traced
def sell(redis):
    shelf = Shelf(redis)
    if shelf.left() > 0:
        shelf.take()
        return True
    return False
""",
    "tests/conftest.py": """
import pytest

@pytest.fixture
def one_left():
    return lambda redis: redis.set("left", 1)
""",
    "tests/shop/test_sales.py": """
from app.shop import sales

class TestSales:
    def test_never_below_zero(self, badluck, one_left):
        badluck.explore(
            setup=one_left, actors=[sales.sell, sales.sell],
            invariant=lambda redis: int(redis.get("left")) >= 0,
        )

def test_one_alone(badluck, one_left):
    badluck.explore(
        setup=one_left, actor=sales.sell, count=1, at_end=lambda redis, answers: answers["A"]
    )
""",
}
FOR_EVER = """
def for_ever(redis):
    while redis.incr("n"):
        pass

def test_it(badluck):
    badluck.explore(actor=for_ever, seconds=60)
"""


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_a_project_with_a_package_called_app(tmp_path: Path) -> None:
    write(tmp_path, PROJECT)
    for said in ("schedules, ", "still breaks it"):
        done = subprocess.run(
            (*PYTEST, "-W", "error", "tests"),
            cwd=tmp_path,
            env={**ENVIRON, "GITHUB_ACTIONS": "true"},
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert re.search(r"^=+ 1 failed, 1 passed in", done.stdout, re.MULTILINE), done.stdout
        assert "sell: INVARIANT BROKEN, with no fault at all, 2 switches and 4" in done.stdout
        assert said in done.stdout
        assert "\n::error file=app/shop/shelf.py,line=10,title=badluck%3A test" in done.stdout
    [saved] = tmp_path.rglob("*.json")
    folder = tmp_path / "tests/shop/badluck-schedules"
    assert saved == folder / "test_sales.TestSales.test_never_below_zero.json"


def test_ctrl_c_ends_everything(tmp_path: Path) -> None:
    write(tmp_path, {"test_it.py": FOR_EVER})
    running = subprocess.Popen(
        (*PYTEST, "test_it.py"), cwd=tmp_path, env=ENVIRON, stdout=subprocess.PIPE, text=True
    )
    children = Path(f"/proc/{running.pid}/task/{running.pid}/children")
    deadline = time.monotonic() + 60
    while not (found := children.read_text().split()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    running.send_signal(signal.SIGINT)
    printed, _ = running.communicate(timeout=30)
    assert running.returncode == 2, printed
    assert "KeyboardInterrupt" in printed
    assert not any(Path(f"/proc/{child}").exists() for child in found)


def test_a_run_without_it_loads_nothing_of_it() -> None:
    code = "import badluck.plugin.hooks, sys; print('redis' in sys.modules, *sys.modules)"
    done = subprocess.run((sys.executable, "-c", code), capture_output=True, text=True, check=True)
    redis, *modules = done.stdout.split()
    assert redis == "False"
    ours = {name for name in modules if name.startswith("badluck")}
    assert ours == {"badluck", "badluck.plugin", "badluck.plugin.hooks"}
