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

# A module that the test only imports fills a registry; an app does the same when it starts.
REGISTRY = {
    "shop/__init__.py": "",
    "shop/registry.py": """
HANDLERS = {}
def handles(kind):
    return lambda work: HANDLERS.setdefault(kind, work)
""",
    "shop/handlers.py": """
from .registry import handles
@handles("mail")
def mail(redis):
    redis.incr("mails")
""",
    "shop/worker.py": """
from .registry import HANDLERS
def work(redis):
    if kind := redis.lpop("jobs"):
        HANDLERS[kind.decode()](redis)
""",
    "shop/players.py": """
from dataclasses import dataclass
@dataclass
class Player:
    name: str
""",
    "test_shop.py": """
import pickle
import shop.handlers
from shop import worker
from shop.players import Player

NAMES = ["ann", "bob"]
TASKS = {}

def task(work):
    TASKS[work.__name__] = work

@task
def count(redis):
    redis.incr("n")

def fill(redis):
    from shop import players
    assert isinstance(Player("ann"), players.Player)
    redis.set("player", pickle.dumps(Player("ann")))
    redis.rpush("jobs", "mail", "mail")

def says_her_name(redis):
    return pickle.loads(redis.get("player")).name

def adds_all(redis):
    redis.sadd("names", *NAMES)
    for work in TASKS.values():
        work(redis)

def test_handlers_are_there(badluck):
    badluck.explore(
        setup=fill, actor=worker.work, at_end=lambda redis: redis.get("mails") == b"2"
    )

def test_setup_has_the_classes_of_the_test(badluck):
    badluck.explore(
        setup=fill, actor=says_her_name, at_end=lambda redis, answers: answers["A"] == "ann"
    )

def test_constants_of_the_test_may_be_read(badluck):
    badluck.explore(
        actor=adds_all,
        at_end=lambda redis: redis.scard("names") == 2 and redis.get("n") == b"2",
    )

def test_what_has_changed_since_is_refused(badluck):
    NAMES.append("cid")
    badluck.explore(actor=adds_all)
""",
}


def written(files: dict[str, str], folder: Path) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_what_a_test_imports_and_what_stands_in_it(tmp_path: Path) -> None:
    written(REGISTRY, tmp_path)
    words = ("-m", "pytest", "-p", "no:cacheprovider", "-q", "--tb=short")
    done = subprocess.run(
        [sys.executable, *words], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert re.search(r"^1 failed, 3 passed", done.stdout, re.MULTILINE), done.stdout
    assert "test_shop.NAMES has changed since its module was imported" in done.stdout


def test_a_project(tmp_path: Path) -> None:
    written(FILES, tmp_path)
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


def test_a_reimported_module_finds_the_files_next_to_it(tmp_path: Path) -> None:
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
    written(files, tmp_path)
    done = subprocess.run(
        [sys.executable, "look.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
