"""`lastapple up`: started, stopped, started again and used wrongly."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
import requests

from tests.support.command_line import invoke, run
from tests.support.servers import until
from tests.support.shop import Shop

ALL = 7  # children: store, three masters, fulfil, shop, lab


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """One shop for all tests that leave it running."""
    with Shop(tmp_path_factory.mktemp("shop"), SHOP_COMBINE="maybe") as shop:
        yield shop


@pytest.fixture
def own_shop(tmp_path: Path) -> Iterator[Shop]:
    with Shop(tmp_path) as shop:
        yield shop


def test_a_removed_setting_gets_one_line(shop: Shop) -> None:
    lines = [line for line in shop.said().splitlines() if "SHOP_COMBINE" in line]
    assert lines == [
        "SHOP_COMBINE is gone and changes nothing: remove it. For speed, use mode atomic."
    ]


@pytest.mark.parametrize("words", [["up"], ["run", "shop"]])
def test_a_removed_setting_that_is_empty_gets_the_line(words: list[str]) -> None:
    said = invoke(*words, SHOP_COMBINE="", SHOP_PORT="none").output
    assert said.count("SHOP_COMBINE is gone") == 1


def test_started_again_stock_and_orders_are_as_they_were(shop: Shop) -> None:
    with requests.Session() as session:
        order = shop.buy(session, quantity=4).json()["order"]
        left = shop_left(shop)
        assert shop.stop() == 0, "while a customer keeps his connection open"
    assert "Stopped. Stock and orders are kept." in shop.said()
    assert "was killed" not in shop.said()
    shop.start()
    assert "stocked" not in shop.said(), "a round that exists is left alone"
    assert shop_left(shop) == left
    kept = requests.get(f"{shop.url}/orders/{order}", timeout=5).json()
    assert (kept["state"], kept["quantity"]) == ("confirmed", 4)


def test_ctrl_c_under_load_leaves_nothing_acknowledged_behind(shop: Shop) -> None:
    """Stopped in the middle of purchases that think, wait and queue."""
    number = shop.round("lock:lease", 10_000, think_ms=20)["round"]
    client = subprocess.Popen(
        [sys.executable, "-c", CLIENT, shop.url], stdout=subprocess.PIPE, text=True
    )
    until(lambda: shop_left(shop) < 9_990)
    assert shop.stop() == 0
    acknowledged = set(client.communicate(timeout=60)[0].split())
    assert "was killed" not in shop.said(), shop.said()
    assert not shop.processes()
    shop.start()
    audit = shop.audit(number)
    assert audit["verdict"] == "exact"
    assert audit["orders"] >= len(acknowledged) > 9
    for order in acknowledged:
        assert requests.get(f"{shop.url}/orders/{order}", timeout=5).status_code == 200


CLIENT = """
import sys, threading, requests
def buy():
    with requests.Session() as session:
        try:
            while (answer := session.post(sys.argv[1] + "/buy/apple", json={}, timeout=9)).ok:
                sys.stdout.write(answer.json()["order"] + "\\n")  # one write: print makes two
        except requests.ConnectionError:
            pass
for _ in range(8):
    threading.Thread(target=buy).start()
"""


def shop_left(shop: Shop) -> int:
    return int(requests.get(f"{shop.lab}/rounds/apple", timeout=5).json()["left"])


def test_redlock_sells_on_the_masters_that_come_with_it(shop: Shop) -> None:
    """A killed one is started again, and remembers; meanwhile the others are a majority."""
    number = shop.round("lock:redlock", 100)["round"]
    killed = shop.child("redlock-1")
    killed.kill()
    with requests.Session() as session:
        assert [shop.buy(session).status_code for _ in range(10)] == [201] * 10
    until(lambda: "redlock-1 died" in shop.said())
    until(lambda: len(psutil.Process(shop.process.pid).children()) == ALL)
    assert shop.child("redlock-1").pid != killed.pid
    assert shop.audit(number)["verdict"] == "exact"
    assert requests.get(f"{shop.lab}/about", timeout=5).json()["masters"] == 3
    folder = Path(shop.environ["VAR_DIR"]) / "store" / "redlock-1"
    assert list(folder.rglob("*.aof")), "it writes its locks down"


def test_a_second_one_beside_it_says_so(shop: Shop) -> None:
    second = run("up", **shop.environ)
    assert second.returncode == 1
    assert "already running" in second.stderr
    assert str(shop.process.pid) in second.stderr
    assert requests.get(f"{shop.url}/healthz", timeout=5).ok, "the first one does not mind"


def test_a_port_in_use_is_named(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    with socket.create_server(("127.0.0.1", int(shop.environ["LAB_PORT"]))):
        refused = invoke("up", **shop.environ)
    assert refused.exit_code == 1
    assert refused.stderr.splitlines() == [
        f"Error: Port {shop.environ['LAB_PORT']} is in use by another program. "
        "Choose another: LAB_PORT=… make run"
    ]


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    refused = invoke("up", VAR_DIR=str(tmp_path / "file" / "var"))
    assert refused.exit_code == 1
    assert "Cannot write to" in refused.stderr
    assert "VAR_DIR=… make run" in refused.stderr


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("SHOP_PORT", "http", "SHOP_PORT is 'http'; it must be a whole number"),
        ("SHOP_THREADS", "0", "SHOP_THREADS is '0'"),
        ("DURABILITY", "sometimes", "choose fast, safe, replicated"),
        ("REDIS_URL", "localhost:6379", "REDIS_URL must begin with redis://"),
        ("DATABASE_URL", "orders.db", "DATABASE_URL must begin with sqlite:///"),
        ("LAB_PORT", "8000", "must differ from each other"),
        ("SHOP_HOST", "10.255.255.1", "Cannot listen on 10.255.255.1"),
        ("DEFAULT_MODE", "magic", "There is no mode 'magic'"),
        ("DEFAULT_MODE", "naive", "broken on purpose"),
    ],
)
def test_a_bad_setting_is_named(tmp_path: Path, name: str, value: str, said: str) -> None:
    refused = invoke("up", **{"VAR_DIR": str(tmp_path / "var"), name: value})
    assert refused.exit_code in (1, 2)
    assert said in refused.stderr
    assert "Traceback" not in refused.stderr


@pytest.mark.parametrize("name", ["store", "fulfil", "shop", "lab"])
def test_a_child_that_dies_is_started_again(shop: Shop, name: str) -> None:
    old = shop.child(name)
    old.kill()
    until(lambda: f"{name} died" in shop.said())
    until(lambda: len(psutil.Process(shop.process.pid).children()) == ALL)
    assert shop.child(name).pid != old.pid
    with requests.Session() as session:
        until(lambda: _sold(shop, session))
    shop.audit(1)


def _sold(shop: Shop, session: requests.Session) -> bool:
    try:
        return shop.buy(session).status_code == 201
    except requests.ConnectionError:
        return False


def test_who_is_down_or_does_not_answer_is_named_and_the_shop_sells_on(shop: Shop) -> None:
    """SIGSTOP: the system sees lab and fulfil as alive, but they answer no request.

    Meanwhile a master dies again and again (for its pauses see test_supervise.py).
    """
    until(lambda: checks(shop.url) == WELL, 20)
    lab, fulfil = shop.child("lab"), shop.child("fulfil")
    frozen = [fulfil, lab, *lab.children()]
    for process in frozen:
        process.suspend()
    try:
        for _ in range(4):
            deaths = shop.said().count("redlock-1 died")
            shop.child("redlock-1").kill()
            until(lambda: shop.said().count("redlock-1 died") > deaths)
        until(lambda: checks(shop.url).get("redlock-1") == "unwell")
        with requests.Session() as session:
            assert shop.buy(session).status_code == 201
        named = {"fulfil": "failing", "lab": "unwell"}
        until(lambda: named.items() <= checks(shop.url, 503).items(), 30)
        assert requests.get(f"{shop.url}/healthz", timeout=5).status_code == 200
    finally:
        for process in frozen:
            process.resume()
    until(lambda: checks(shop.lab) == WELL, 20)
    assert "lab answers again" in shop.said()
    assert shop.child("lab").pid == lab.pid, "HANG_LIMIT is off here"
    check = invoke("check", "fulfil", **shop.environ)
    assert check.exit_code == 0, check.stdout


WELL = dict.fromkeys(("store", "database", "orders", "dead_letters", "processes"), "ok")


def checks(url: str, status: int = 200) -> dict[str, str]:
    """Return its checks; none if it does not answer so, or was just killed and started."""
    try:
        answer = requests.get(f"{url}/readyz", timeout=5)
    except requests.ConnectionError:
        return {}
    if answer.status_code != status:
        return {}
    return {check["name"]: check["state"] for check in answer.json()["checks"]}


def test_the_children_do_not_outlive_a_killed_supervisor(own_shop: Shop) -> None:
    shop = own_shop
    children = psutil.Process(shop.process.pid).children()
    os.kill(shop.process.pid, signal.SIGKILL)
    gone, alive = psutil.wait_procs(children, 10)
    assert not alive
    assert len(gone) == ALL
    shop.process.wait()
    shop.start()


def test_the_commands_of_the_instructor(shop: Shop) -> None:
    started = run(*("round", "start", "apple", "--stock", "9", "--mode", "naive"), **shop.environ)
    assert started.returncode == 0
    assert "broken on purpose" in started.stdout
    shown = invoke("round", "show", "apple", **shop.environ)
    assert "9 stocked, 9 left" in shown.stdout
    audit = invoke("audit", "apple", "--json", **shop.environ)
    assert ('"verdict": "untouched"' in audit.stdout, audit.exit_code) == (True, 0)
    assert invoke("round", "end", "apple", **shop.environ).exit_code == 0
    again = invoke("round", "end", "apple", **shop.environ)
    assert (again.exit_code, again.stderr) == (1, "Error: No round of 'apple' is running.\n")
    kiwi = invoke(*("round", "start", "kiwi", "--stock", "1", "--mode", "watch"), **shop.environ)
    assert (kiwi.exit_code, "There is no item 'kiwi'" in kiwi.stderr) == (2, True)
    assert invoke("round", "end", "kiwi", **shop.environ).exit_code == 2


def test_without_a_shop_they_ask_for_one(tmp_path: Path) -> None:
    away = run("audit", **Shop(tmp_path).environ)
    assert away.returncode == 1
    assert "Is the shop up (make run)?" in away.stderr
    assert "Traceback" not in away.stderr
