"""`lastapple explore my_sell.py`: its findings in students' code, and its errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from tests.support.command_line import invoke, run

SELLS = Path(__file__).parent / "sells"


def lastapple(*words: str | Path) -> Result:
    """Run it in the tests' process; the code that it explores runs in another one all the same."""
    return invoke(*map(str, words), COLUMNS="100")


def explored(sell: str, *words: str) -> dict[str, Any]:
    done = lastapple("explore", SELLS / f"{sell}.py", *words, "--json", "-")
    assert done.exit_code in (0, 1), done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    assert document["exhaustive"]
    return document


def costs(document: dict[str, Any]) -> dict[str, list[int]]:
    return {finding["name"]: finding["cost"] for finding in document["findings"]}


def test_the_naive_way_is_drawn() -> None:
    done = run("explore", SELLS / "naive.py", COLUMNS="100")
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("naive.py: OVERSELL, with no fault at all, 2 switches and 6 step")
    assert "GET stock -> b'1'" in done.stdout
    assert "lock" not in done.stdout.splitlines()[3]  # there is none, so no column
    assert "20 s, 1 GiB of memory, no network" in done.stdout


@pytest.mark.parametrize(
    ("sell", "faults", "found"),
    [
        ("naive", "none", {"oversell": [0, 2, 6]}),
        ("coroutines", "none", {"oversell": [0, 2, 6]}),
        ("watch", "crash=1,pause=1", {}),
        ("script", "crash=1,pause=1", {}),
        ("setnx", "none", {}),
        ("setnx", "crash=1", {"stuck forever": [1, 0, 2]}),
        ("redis_lock", "crash=1", {}),
        ("redis_lock", "pause=1", {"oversell": [1, 3, 7], "phantom order": [1, 2, 5]}),
        ("bucket", "none", {}),
        ("bucket", "crash=1", {"undersell": [1, 3, 6], "no sale": [1, 3, 6]}),
        ("channel", "pause=1", {}),
        ("watchdog", "none", {}),
        ("watchdog", "pause=1", {"oversell": [1, 3, 9]}),
        ("deadline", "none", {}),
        (
            "deadline",
            "pause=1",
            {
                "oversell": [1, 3, 11],
                "negative stock": [1, 3, 14],
                "lock deleted by another": [1, 3, 10],
            },
        ),
    ],
)
def test_found(sell: str, faults: str, found: dict[str, list[int]]) -> None:
    document = explored(sell, "--faults", faults)
    assert costs(document) == found


def test_the_default_retries_sell_twice() -> None:
    found = costs(explored("naive", "--faults", "lost=1", "--retries", "default"))
    assert found["sold twice"] == [1, 0, 4]


def test_a_lock_has_a_column() -> None:
    done = lastapple("explore", SELLS / "redis_lock.py")
    assert done.exit_code == 1, done.stderr
    assert done.stdout.splitlines()[3].split()[-2:] == ["stock", "lock"]
    assert "aaaaaaaa0000" in done.stdout or "bbbbbbbb0000" in done.stdout


SELL = "def sell(redis, buyer):\n    "
BAD = [
    (SELL + "return redis.get('stok') + 1", "line 2, in sell: TypeError"),
    (SELL + "return redis.get('stok') + 1", "after GET stok -> nil"),
    (SELL + "return 'yes'", "it answers 'yes', and not True (sold), False (sold out) or None"),
    (SELL + "return 1", "it answers 1, and not True"),
    ("def buy(redis, buyer): pass", "has no function sell(redis, buyer)"),
    (SELL + "return (", "line 2: SyntaxError"),
    ("def sell(redis):\n    pass", "line 1, in sell: it cannot be called as sell(redis, buyer)"),
    ("async def sell(redis, buyer):\n    yield", "without yield"),
    ("import nowhere_at_all\n" + SELL + "pass", "line 1: ModuleNotFoundError"),
    (SELL + "exit()", "line 2, in sell: SystemExit"),
    (SELL + "redis.pfadd('p', 'a')", "line 2, in sell: PFADD is not supported"),
    (SELL + "redis.zrank('z', 'a', withscore=True)", "line 2, in sell: ZRANK with WITHSCORE"),
    (SELL + "redis.rpush('stock', 1)", "line 2, in sell: ResponseError: WRONGTYPE"),
    (SELL + "redis.rpush('orders', 'me')", "in orders stands b'me', who is no buyer"),
    (SELL + "redis.sadd('orders', buyer)", "orders must be a list"),
    (SELL + "redis.set('stock', 'few')", "the key stock must hold a whole number"),
    (SELL + "redis.eval('while true do end', 0)", "line 2, in sell: this script runs for"),
    (SELL + "redis.eval('while true do pcall(error) end', 0)", "line 2, in sell: this script"),
    (SELL + "while True: pass", "line 2, in sell: runs for 2 s"),
    (SELL + "input()", "line 2, in sell: waits for typed input"),
    ("import redis as r\n" + SELL + "r.Redis().get('stock')", "opens a connection of its own"),
    (SELL + "import os; os.system('true')", "line 2, in sell: starts a process"),
    (SELL + "import threading as t\n    while t.Lock().acquire(): pass", "line 3"),
    (
        SELL
        + "from _thread import allocate_lock as a\n    lock = a()\n    while lock.acquire(): pass",
        "line 4",
    ),
    (SELL + "import _thread; _thread.start_new_thread(print, ())", "threading.Thread"),
    (SELL + "x = bytearray(1 << 40)", "takes more memory than it may have"),
    (
        "import threading\ndef beside(): return 1 / 0\n"
        + SELL
        + "threading.Thread(target=beside).start()",
        "line 2, in beside: ZeroDivisionError",
    ),
]


@pytest.mark.parametrize(("code", "said"), BAD)
def test_what_is_wrong_with_the_code_is_said(code: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "my_sell.py"
    file.write_text(code + "\n")
    done = lastapple("explore", file)
    assert done.exit_code == 2, done.stdout
    assert done.stderr.startswith("Error: my_sell.py")
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_bare_excepts_do_not_keep_it_alive(tmp_path: Path) -> None:
    """Such code catches everything, also the request to end."""
    file = tmp_path / "my_sell.py"
    file.write_text(
        "def sell(redis, buyer):\n"
        "    while True:\n"
        "        try:\n"
        "            if not redis.setnx('lock', buyer):\n"
        "                continue\n"
        "            if redis.decr('stock') < 0:\n"
        "                return False\n"
        "            redis.rpush('orders', buyer)\n"
        "            return True\n"
        "        except:\n"
        "            pass\n"
    )
    done = lastapple("explore", file, "--faults", "lost=1", "--json", "-")
    assert done.exit_code == 1, done.stderr
    assert json.loads(done.stdout)["exhaustive"]


def test_who_only_sleeps_is_stuck(tmp_path: Path) -> None:
    file = tmp_path / "my_sell.py"
    file.write_text(SELL + "import time\n    while True: time.sleep(60)\n")
    done = lastapple("explore", file)
    assert done.exit_code == 1, done.stderr
    words = " ".join(done.stdout.split())
    assert "STUCK FOREVER, with no fault" in words
    assert "A and B wait in my_sell.py, line 3: `while True: time.sleep(60)`" in words
    assert "has slept" in words


def test_what_has_no_end_is_inconclusive(tmp_path: Path) -> None:
    """It counts, so that no two rounds are the same; after some seconds the search gives up."""
    file = tmp_path / "my_sell.py"
    file.write_text(SELL + "n = 0\n    while redis.get('stock'): n += 1\n")
    done = lastapple("explore", file, "--faults", "none", "--json", "-")
    assert done.exit_code == 3, done.stderr
    assert json.loads(done.stdout)["inconclusive"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nowhere.py",), "There is no file nowhere.py"),
        ((str(SELLS / "naive.py"), "--quantity", "2"), "sells one unit"),
    ],
)
def test_bad_input(words: tuple[str, ...], said: str) -> None:
    done = lastapple("explore", *words)
    assert done.exit_code == 2
    assert said in done.stderr


@pytest.mark.usefixtures("virtual_clock")
@pytest.mark.parametrize("sell", ["watchdog", "coroutines"])
def test_what_was_saved_is_played_again(sell: str, tmp_path: Path) -> None:
    own, trace = tmp_path / "my_sell.py", tmp_path / "trace.json"
    own.write_text((SELLS / f"{sell}.py").read_text())
    assert lastapple("explore", own, "--save", trace).exit_code == 1
    for on, where in (("server", "a real Valkey"), ("model", "the model")):
        done = lastapple("replay", trace, "--on", on)
        assert done.exit_code == 0, done.stdout + done.stderr
        assert f"of my_sell.py on {where}: 0 divergences" in done.stdout
        assert "has changed" not in done.stdout
    own.write_text((SELLS / "watch.py").read_text())
    done = lastapple("replay", trace, "--on", "model")
    assert done.exit_code == 1
    assert "my_sell.py has changed since" in done.stdout
    assert "DIVERGED at this step" in done.stdout
    own.unlink()
    done = lastapple("replay", trace, "--on", "model")
    assert done.exit_code == 2
    assert "is not there" in done.stderr
