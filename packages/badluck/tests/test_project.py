"""A project of several files, with a package called `app`, explored from its own tests."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

FILES = {
    "app/__init__.py": "",
    "app/settings.py": "LEASE = 5\nKNOWN = {}\n",
    "app/tools.py": """
import functools

def traced(work):
    @functools.wraps(work)
    def inner(*args):
        return work(*args)
    return inner

def unnamed(work):
    return lambda *args: work(*args)
""",
    "app/shop/sales.py": """
from dataclasses import dataclass
from .. import settings
from ..tools import traced, unnamed

@dataclass
class Shelf:
    redis: object
    def left(self):
        if "left" not in settings.KNOWN:
            settings.KNOWN["left"] = int(self.redis.get("left"))
        return settings.KNOWN["left"]

@traced
def sell(redis):
    from app.shop import records
    shelf = Shelf(redis)
    if shelf.left() > 0:
        redis.decr("left")
        records.note(redis)
        return True
    return False

again = unnamed(sell)

def tries(redis):
    while not redis.set("lock", 1, nx=True):
        shelf = Shelf(redis)
        redis.exists("lock")
    redis.delete("lock")
""",
    "app/shop/records.py": """
sold = []
def note(redis):
    sold.append(1)
    redis.rpush("sold", len(sold))
""",
    "tests/test_sales.py": """
import pytest
from badluck import explore
from app.shop import records, sales
from app import settings

def sold(n):
    return lambda redis: redis.llen("sold") == n

def test_oversold():
    explore(
        setup=lambda redis: redis.set("left", 1),
        actors=[sales.sell, sales.again],
        at_end=lambda redis: redis.llen("sold") <= 1,
    ).assert_holds()

def test_what_one_remembers_no_other_knows():
    def sells(redis):
        assert not settings.KNOWN and not records.sold
        return sales.sell(redis)

    result = explore(
        setup=lambda redis: redis.set("left", 9),
        actors=[sells, sells],
        invariant=lambda redis: b"2" not in redis.lrange("sold", 0, -1),
        at_end=lambda redis: redis.llen("sold") == 2,
    )
    assert result.verdict == "holds", result
    assert not settings.KNOWN and not records.sold

def test_loops_with_objects_end():
    assert explore(actor=sales.tries).verdict == "holds"
""",
}


def test_a_project(tmp_path: Path) -> None:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    words = ("-m", "pytest", "-p", "no:cacheprovider", "-W", "error", "tests")
    done = subprocess.run(
        [sys.executable, *words],
        cwd=tmp_path,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert re.search(r"^=+ 1 failed, 2 passed in", done.stdout, re.MULTILINE), done.stdout
    assert "sell, <lambda>: BROKEN AT THE END, with no fault at all" in done.stdout
    assert re.search(r"^E +1 GET left -> b'1' .* sales.py:\d+ ", done.stdout, re.MULTILINE), (
        done.stdout
    )


def test_a_module_that_is_imported_anew_finds_the_files_beside_it(tmp_path: Path) -> None:
    files = {
        "words/__init__.py": """
from importlib.resources import files
TEXT = (files(__package__) / "words.txt").read_text()
""",
        "words/words.txt": "hello",
        "use.py": "import words\n\ndef say(redis):\n    redis.set('said', words.TEXT)\n",
        "look.py": """
from badluck import explore
from use import say
explore(actor=say, at_end=lambda redis: redis.get("said") == b"hello").assert_holds()
""",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    done = subprocess.run(
        [sys.executable, "look.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
