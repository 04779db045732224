"""Whole stampedes on a whole shop: watched, stopped, killed, and with the store going away."""

from __future__ import annotations

import time
from typing import Any

import psutil
import pytest
import requests
from servers.family import command_line

from app.lab.stampede.heartbeat import LIFE_MS
from tests.integration.stampede.event_stream import Told, follow
from tests.support.servers import StoreServer, until
from tests.support.shop import Shop

WANTED = {"item": "apple", "mode": "naive", "stock": 20, "think_ms": 20, "buyers": 8, "seconds": 20}
ENDLESS = {**WANTED, "stock": 1_000_000, "buyers": 4}
OURS = ("run stampede", "loadtest.stampede")  # the driver and the buyers


def start(shop: Shop, **wanted: Any) -> str:
    answer = requests.post(f"{shop.lab}/runs", json=wanted, timeout=10)
    assert answer.status_code == 201, answer.text
    id: str = answer.json()["id"]
    return id


def stop(shop: Shop, id: str) -> None:
    assert requests.post(f"{shop.lab}/runs/{id}/stop", json={}, timeout=10).status_code == 202


def ended(shop: Shop, id: str) -> dict[str, Any]:
    run: dict[str, Any] = requests.get(f"{shop.lab}/runs/{id}", timeout=10).json()
    assert not run["running"]
    return run


def selling(shop: Shop, id: str) -> Told:
    """Return the first sample that has sales in it."""
    return next(each for each in follow(shop.lab, id) if each.data.get("answers", {}).get("SOLD"))


def process(mark: str, shop: Shop) -> psutil.Process:
    [found] = [each for each in shop.processes(*OURS) if mark in command_line(each)]
    return found


def test_naive_oversells_before_everybodys_eyes(shop: Shop) -> None:
    id = start(shop, **WANTED)
    told = list(follow(shop.lab, id))
    assert [each.kind for each in told] == ["sample"] * (len(told) - 1) + ["end"]
    phases = [each.data["phase"] for each in told[:-1]]
    assert phases == sorted(phases, key=["starting", "selling", "settling"].index)
    assert {"starting", "selling", "settling"} == set(phases)
    last = told[-1].data["figures"]
    assert (last["left"], last["answers"]["SOLD"]) == (0, last["sold"])
    assert last["sold"] > 20
    assert last["sales"] == last["overall"] > 0
    assert last["goodput"] * last["lasted_s"] == pytest.approx(20, rel=0.02), "who gets an apple"
    assert 20 < last["p50_ms"] <= last["p95_ms"] <= last["p99_ms"]
    run = ended(shop, id)
    assert (run["how"], run["audit"]["verdict"]) == ("finished", "oversold")
    assert run["audit"]["oversold"] == last["sold"] - 20
    assert list(follow(shop.lab, id)) == told, "a second screen sees the same"
    assert list(follow(shop.lab, id, told[3].id)) == told[4:]
    until(lambda: not shop.processes(*OURS))


def test_three_at_once_end_each_in_its_own_way(shop: Shop) -> None:
    """Killed, without buyers, and with another round begun. And the killed one's item is free."""
    killed = start(shop, **ENDLESS)
    deserted = start(shop, **{**ENDLESS, "item": "pear", "mode": "atomic"})
    overtaken = start(shop, **{**ENDLESS, "item": "plum"})
    for id in (killed, deserted, overtaken):
        selling(shop, id)
    buyers = process('"item": "apple"', shop)
    process('"item": "pear"', shop).kill()
    shop.round("atomic", 1_000_000, item="plum")
    process(killed, shop).kill()

    *_, end = follow(shop.lab, killed)
    assert (end.kind, end.data["how"]) == ("end", "crashed")
    assert end.data["figures"]["sold"] > 0
    assert requests.get(f"{shop.lab}/rounds/apple", timeout=5).json()["running"] is False
    buyers.wait(60)

    list(follow(shop.lab, deserted))
    run = ended(shop, deserted)
    assert (run["how"], run["why"]) == ("failed", "exit status -9")
    assert run["audit"]["verdict"] == "exact", "what they bought is counted all the same"

    list(follow(shop.lab, overtaken))
    assert ended(shop, overtaken)["how"] == "overtaken"
    assert requests.get(f"{shop.lab}/rounds/plum", timeout=5).json()["running"], "his goes on"

    id = start(shop, **{**ENDLESS, "mode": "lock:lease"})
    assert selling(shop, id).data["waiting"] is not None
    stop(shop, id)
    stop(shop, id)
    *_, end = follow(shop.lab, id)
    stop(shop, id)
    run = ended(shop, id)
    assert (run["how"], run["audit"]["verdict"]) == ("stopped", "exact")
    assert end.data["how"] == "stopped"
    assert not requests.get(f"{shop.lab}/rounds/apple", timeout=5).json()["running"]


def test_the_store_goes_away_and_comes_back(shop: Shop, store: StoreServer) -> None:
    id = start(shop, **{**ENDLESS, "mode": "atomic"})
    followed = follow(shop.lab, id)
    told = [next(each for each in followed if each.data.get("sold"))]
    store.kill()
    told.append(next(each for each in followed if each.kind == "away"))
    time.sleep(LIFE_MS / 1000)  # now it must beat again, and must not be marked as crashed
    store.start()
    told.append(next(each for each in followed if each.kind != "away"))
    assert told[-1].kind == "back"
    told.append(next(each for each in followed if each.kind == "sample"))
    stop(shop, id)
    told.extend(followed)
    run = ended(shop, id)
    assert (run["how"], run["audit"]["verdict"]) == ("stopped", "exact")
    ids = [each.id for each in told if each.id]
    assert len(ids) == len(set(ids)), "every sample once"
    assert run["figures"]["answers"]["ERROR"] > 0


def test_ctrl_c_in_the_middle_leaves_nothing(shop: Shop) -> None:
    """The last test: the shop is gone after it."""
    id = start(shop, **ENDLESS)
    followed = follow(shop.lab, id)
    next(each for each in followed if each.data.get("sold"))
    assert shop.stop() == 0
    assert "was killed" not in shop.said()
    until(lambda: not shop.processes(*OURS), 3)
