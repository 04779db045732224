"""Whole comparisons on a whole shop: to the end, stopped, killed, and with servers going away."""

from __future__ import annotations

import json
import sqlite3
import time
from pathlib import Path
from typing import Any

import pytest
import requests

from app.lab.stampede.heartbeat import LIFE_MS
from tests.integration.stampede.event_stream import follow
from tests.support.servers import StoreServer, until
from tests.support.shop import Shop

WANTED = {
    "item": "apple",
    "modes": ["atomic"],
    "reference": "naive",
    "stock": 20,
    "think_ms": 20,
    "buyers": 6,
    "seconds": 20,
    "repeats": 1,
}
ENDLESS = {**WANTED, "stock": 1_000_000}
OURS = ("run stampede", "run comparison", "loadtest.stampede")


def start(shop: Shop, **wanted: Any) -> str:
    answer = requests.post(f"{shop.lab}/comparisons", json=wanted, timeout=10)
    assert answer.status_code == 201, answer.text
    id: str = answer.json()["id"]
    return id


def find(shop: Shop, id: str) -> dict[str, Any]:
    found: dict[str, Any] = {}

    def answered() -> bool:
        """On a busy machine the store may be away for a moment."""
        answer = requests.get(f"{shop.lab}/comparisons/{id}", timeout=10)
        found.update(answer.json())
        return answer.ok

    until(answered, 30)
    return found


def selling(shop: Shop, id: str) -> str:
    """Return its first run, once it sells."""
    run = ""

    def sells() -> bool:
        nonlocal run
        run = find(shop, id)["run"]
        if not run:
            return False
        seen = requests.get(f"{shop.lab}/runs/{run}", timeout=10).json()["figures"]
        return bool(seen.get("sold"))

    until(sells, 60)
    return run


def test_one_run_after_the_other_to_the_end(shop: Shop) -> None:
    id = start(shop, **WANTED)
    events = follow(shop.lab, id, kind="comparisons")
    run = {name: WANTED[name] for name in ("stock", "buyers", "seconds")}
    for path, body in (("comparisons", WANTED), ("runs", {**run, "item": "fig", "mode": "naive"})):
        assert requests.post(f"{shop.lab}/{path}", json=body, timeout=5).status_code == 409
    assert [each.kind for each in events] == ["step"] * 4 + ["end"]
    seen = find(shop, id)
    assert (seen["running"], seen["how"], seen["run"]) == (False, "finished", None)
    runs = {run["mode"]: run for run in seen["runs"]}
    naive, atomic = runs["naive"], runs["atomic"]
    assert (naive["verdict"], naive["ratio"], naive["exhibit"]) == ("oversold", 1.0, True)
    assert (atomic["verdict"], atomic["sold"], atomic["exhibit"]) == ("exact", 20, False)
    assert atomic["ratio"] == pytest.approx(atomic["goodput"] / naive["goodput"], rel=0.01)
    first, second = (
        requests.get(f"{shop.lab}/runs/{each['run']}", timeout=5).json() for each in (naive, atomic)
    )
    assert first["comparison"] == second["comparison"] == id
    assert first["ended_at"] <= second["started_at"], "never two at once"
    until(lambda: not shop.processes(*OURS))


def test_killed_it_is_told_within_seconds(shop: Shop) -> None:
    id = start(shop, **ENDLESS)
    run = selling(shop, id)
    assert all(shop.processes(one) for one in OURS)
    [comparison] = shop.processes("run comparison")
    comparison.kill()
    *_, end = follow(shop.lab, id, kind="comparisons")
    assert (end.kind, find(shop, id)["how"]) == ("end", "crashed")
    until(lambda: not shop.processes(*OURS))
    said = requests.get(f"{shop.lab}/runs/{run}", timeout=5).json()
    assert said["how"] in ("interrupted", "crashed"), "its run went with it"
    again = start(shop, **ENDLESS)  # its item is free
    assert requests.post(f"{shop.lab}/comparisons/{again}/stop", json={}, timeout=5).ok
    until(lambda: not find(shop, again)["running"], 30)
    until(lambda: not shop.processes(*OURS))


def test_it_outlives_a_store_that_was_away_and_is_stopped(shop: Shop, store: StoreServer) -> None:
    id = start(shop, **ENDLESS)
    selling(shop, id)
    events = follow(shop.lab, id, kind="comparisons")
    assert next(events).kind == "step"
    store.kill()
    assert next(each for each in events if each.kind != "step").kind == "away"
    time.sleep(LIFE_MS / 1000)  # now it must beat again, and must not be marked as crashed
    store.start()
    assert find(shop, id)["running"]
    for _ in range(2):
        assert requests.post(f"{shop.lab}/comparisons/{id}/stop", json={}, timeout=5).ok
    *_, end = events
    assert end.kind == "end"
    seen = find(shop, id)
    assert (seen["how"], [each["how"] for each in seen["runs"]]) == ("stopped", ["stopped"])
    assert seen["runs"][0]["ratio"] is None
    assert not requests.get(f"{shop.lab}/rounds/apple", timeout=5).json()["running"]
    until(lambda: not shop.processes(*OURS))


def test_ctrl_c_in_the_middle_leaves_nothing(shop: Shop) -> None:
    """The last test: the shop is gone after it."""
    id = start(shop, **ENDLESS)
    selling(shop, id)
    assert shop.stop() == 0
    until(lambda: not shop.processes(*OURS), 5)
    with sqlite3.connect(Path(shop.environ["VAR_DIR"]) / "orders.db") as database:
        [[record]] = database.execute("SELECT record FROM comparisons WHERE id = ?", [id])
    database.close()
    assert json.loads(record)["how"] == "interrupted"
