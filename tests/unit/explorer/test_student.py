"""A user's own code under the search: its memory, its random numbers, its ownership of locks."""

from __future__ import annotations

import gc
import time
from pathlib import Path

import pytest
from badluck.actor.request import Done, Send
from badluck.actor.user_code_error import UserCodeError
from badluck.explorer import Explorer
from badluck.faults import Faults
from badluck.search.automaton import Automaton
from badluck.search.behaviour import ANY
from badluck.target import EPOCH

from app.explorer.student import Student

POLLS = 130  # more rounds than a loop is run to see whether it counts

WHILE_TAKEN = """
def sell(redis, buyer):
    {}
    while not redis.setnx("lock", buyer):
        {}
        if {} == 130:
            return None
    return True
"""
COUNTS = {
    "a global": "tries = 0" + WHILE_TAKEN.format("global tries", "tries += 1", "tries"),
    "an attribute of the function": WHILE_TAKEN.format(
        "sell.tries = 0", "sell.tries += 1", "sell.tries"
    ),
    "an attribute of a class": "class Of: tries = 0"
    + WHILE_TAKEN.format("", "Of.tries += 1", "Of.tries"),
    "a deque": "from collections import deque"
    + WHILE_TAKEN.format("tries = deque()", "tries.append(1)", "len(tries)"),
    "a kind of list": "class Tries(list): pass"
    + WHILE_TAKEN.format("tries = Tries()", "tries.append(1)", "len(tries)"),
    "an iterator": WHILE_TAKEN.format("of = iter(range(1, 999))", "tries = next(of)", "tries"),
    "an event": "import threading"
    + WHILE_TAKEN.format(
        "all = [threading.Event() for _ in range(130)]",
        "[e for e in all if not e.is_set()][0].set()",
        "sum(e.is_set() for e in all)",
    ),
}


def written(folder: Path, code: str) -> Student:
    file = folder / "my_sell.py"
    file.write_text(code)
    return Student(file)


@pytest.mark.parametrize("where", COUNTS)
def test_a_loop_that_counts_ends_wherever_it_counts(where: str, tmp_path: Path) -> None:
    student = written(tmp_path, COUNTS[where])
    with student.surroundings():
        automaton = Automaton("A", student.code, EPOCH)
        at = 0
        for _ in range(POLLS):
            at = automaton.move(at, 0, (0,), EPOCH).to
    assert automaton.nodes[at].requests == (Done("BUSY"),)


def test_a_loop_that_draws_and_sleeps_is_one_place(tmp_path: Path) -> None:
    student = written(
        tmp_path,
        "import random, secrets, time, uuid\n"
        "def sell(redis, buyer):\n"
        "    while True:\n"
        "        token = f'{uuid.uuid4()} {secrets.token_hex(8)} {random.random()}'\n"
        "        if redis.set('lock', token, nx=True):\n"
        "            return True\n"
        "        time.sleep(random.uniform(0.01, 0.02))\n",
    )
    tokens = []
    with student.surroundings():
        for name in ("A", "B", "A"):
            automaton = Automaton(name, student.code, EPOCH)
            assert automaton.move(0, 0, (None,), EPOCH).to == 0
            request = automaton.nodes[0].requests[0]
            assert isinstance(request, Send)
            tokens.append(request.commands[0][2])
    assert tokens[0] != tokens[1]
    assert tokens[0] == tokens[2]


def test_only_who_asks_for_the_time_is_told_it(tmp_path: Path) -> None:
    """redis-py reads the clock for its own figures, at every command."""
    code = (
        "import time\n"
        "def sell(redis, buyer):\n"
        "    redis.get('stock')\n"
        "    {}\n"
        "    redis.get('stock')\n"
    )
    looked = []
    for line in ("pass", "time.monotonic()"):
        student = Student(written(tmp_path, code.format(line)).path, resend=True)
        with student.surroundings():
            automaton = Automaton("A", student.code, EPOCH)
            automaton.move(0, 0, (b"1",), EPOCH)
        looked.append([answer.now for answer in automaton.nodes[0].moves])
    assert looked == [[ANY], [EPOCH]]


def test_a_lock_of_the_process_keeps_nobody_else_out(tmp_path: Path) -> None:
    """Each buyer is a process: a variable of one is not the others'."""
    student = written(
        tmp_path,
        "import threading\n"
        "lock = threading.Lock()\n"
        "def sell(redis, buyer):\n"
        "    with lock:\n"
        "        left = int(redis.get('stock'))\n"
        "        if left < 1:\n"
        "            return False\n"
        "        redis.set('stock', left - 1)\n"
        "        redis.rpush('orders', buyer)\n"
        "        return True\n",
    )
    report = Explorer(student, 2).explore(Faults())
    assert [(found.name, found.cost) for found in report.findings] == [("oversell", (0, 2, 6))]


@pytest.mark.usefixtures("small_heap")
def test_what_is_left_behind_does_nothing_when_it_is_collected(tmp_path: Path) -> None:
    """A collected pipeline that watches would send UNWATCH while any actor's code runs."""
    student = written(
        tmp_path,
        "def sell(redis, buyer):\n"
        "    pipe = redis.pipeline()\n"
        "    pipe.watch('stock')\n"
        "    pipe.itself = pipe\n"
        "    return False\n",
    )
    with student.surroundings():
        automaton = Automaton("A", student.code, EPOCH)
        assert automaton.nodes[automaton.move(0, 0, (b"OK",), EPOCH).to].outcome == "SOLD_OUT"
        gc.collect()
        automaton = Automaton("B", student.code, EPOCH)
        assert automaton.nodes[0].requests == (Send("0B1", ((b"WATCH", b"stock"),)),)


@pytest.mark.usefixtures("small_heap")
@pytest.mark.parametrize("collects", ["gc.collect()", "[[n] for n in range(100_000)]"])
def test_garbage_is_not_collected_in_an_actors_code(tmp_path: Path, collects: str) -> None:
    """A finalizer may read the clock: the actor would seem to have read it."""

    class AsksAtItsEnd:
        def __init__(self) -> None:
            self.itself = self

        def __del__(self) -> None:
            asked.append(time.time())

    asked: list[float] = []
    student = written(
        tmp_path,
        "import gc\n"
        "def sell(redis, buyer):\n"
        f"    {collects}\n"
        "    return redis.get('stock') > b'0'\n",
    )
    often = gc.get_threshold()
    gc.set_threshold(10_000)  # not before the actor's code runs
    try:
        with student.surroundings():
            AsksAtItsEnd()
            automaton = Automaton("A", student.code, EPOCH)
            assert not asked
            gc.collect()
    finally:
        gc.set_threshold(*often)
    assert asked
    assert automaton.nodes[0].requests == (Send("0A1", ((b"GET", b"stock"),)),)


def test_a_thread_does_not_see_what_is_anothers(tmp_path: Path) -> None:
    """So a watchdog cannot extend redis-py's lock, unless it is made with thread_local=False."""
    code = (
        "import threading\n"
        "def sell(redis, buyer):\n"
        "    lock = redis.lock('lock', timeout=10, thread_local={})\n"
        "    lock.acquire()\n"
        "    thread = threading.Thread(target=lambda: lock.extend(5))\n"
        "    thread.start()\n"
        "    thread.join()\n"
        "    return False\n"
    )
    student = written(tmp_path, code.format(True))
    with pytest.raises(UserCodeError, match=r"line 5, .* no attribute 'token'"):
        Explorer(student, 2).explore(Faults())
    student = written(tmp_path, code.format(False))
    with student.surroundings():
        automaton = Automaton("A", student.code, EPOCH)
        there = automaton.move(0, 0, (b"OK",), EPOCH).to
        assert isinstance(automaton.nodes[there].requests[1], Send)
        assert automaton.nodes[automaton.move(there, 1, (1,), EPOCH).to].outcome == "SOLD_OUT"


def test_what_the_client_raises_is_told_and_what_else_is_raised_is_wrong(tmp_path: Path) -> None:
    student = written(tmp_path, "def sell(redis, buyer):\n    with redis.lock('lock', 9): 1 / 0\n")
    with pytest.raises(UserCodeError, match=r"my_sell.py, line 2, in sell: ZeroDivisionError"):
        Explorer(student, 2).explore(Faults())
    student = written(
        tmp_path, "def sell(redis, buyer):\n    with redis.lock('lock', timeout=9): pass\n"
    )
    report = Explorer(student, 2).explore(Faults(pause=1))
    assert report.exhaustive
    assert [finding.name for finding in report.findings] == ["no sale"]


def test_what_nobody_reads_again_is_forgotten_beside_a_class_with_a_property(
    tmp_path: Path,
) -> None:
    student = written(
        tmp_path,
        """
class Shelf:
    @property
    def empty(self):
        return False

def sell(redis, buyer):
    redis.get("stock")
    redis.get("price")
    return Shelf().empty
""",
    )
    with student.surroundings():
        automaton = Automaton("A", student.code, EPOCH)
        one, other = (automaton.move(0, 0, (stock,), EPOCH).to for stock in (b"1", b"2"))
    assert one == other
