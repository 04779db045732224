"""The locustfiles as Locust runs them, in processes of their own: importing locust patches sockets
and threads for gevent, which must not happen to other tests.
"""

from __future__ import annotations

import json
import subprocess
import sys

from servers.ports import free_port

TICKS = """
import json
from argparse import Namespace
from loadtest.shapes import FlashSale

class Runner:
    class environment:
        parsed_options = Namespace(num_users={users})

shape = FlashSale()
shape.runner = Runner
begin = shape.start_time
said = []
for second in (0, 9, 10.5, 29, 31, 59, 60.5):
    shape.get_run_time = lambda second=second: second
    said.append(shape.tick())
print(json.dumps(said))
"""


def ticks(users: int | None) -> list[list[int] | None]:
    command = [sys.executable, "-c", TICKS.format(users=users)]
    shape = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    said: list[list[int] | None] = json.loads(shape.stdout)
    return said


def test_a_flash_sale_is_a_trickle_then_everybody_at_once_then_a_tail() -> None:
    assert ticks(200) == [
        [10, 200],
        [10, 200],
        [200, 200],
        [200, 200],
        [20, 200],
        [20, 200],
        None,
    ]


def test_even_the_smallest_sale_has_an_early_bird() -> None:
    assert ticks(1) == [[1, 1]] * 6 + [None]


def test_without_users_the_rush_is_larger_than_the_default_shop() -> None:
    assert ticks(None)[2] == [100, 100]


def test_buyers_call_a_dead_shop_an_error_and_fail() -> None:
    port = free_port()
    command = [sys.executable, "-m", "locust", "-f", "loadtest/buyers.py,loadtest/shapes.py"]
    command += ["--list"]
    listed = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert listed.stdout.split() == ["Available", "Users:", "Buyer"]

    command = [sys.executable, "-m", "locust", "-f", "loadtest/buyers.py", "--headless", "--json"]
    command += ["--users", "1", "--run-time", "5s", "--host", f"http://127.0.0.1:{port}"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60)
    (row,) = json.loads(run.stdout)
    assert (row["name"], row["method"]) == ("ERROR", "POST")
    assert row["num_failures"] == row["num_requests"] > 0
    assert run.returncode == 1
    assert "no answer: ConnectionRefusedError" in run.stderr
