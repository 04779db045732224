"""/healthz and /readyz: alive is one thing, ready to sell and to write orders another."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from flask.testing import FlaskClient

from app import create_lab, create_shop
from app.bootstrap import Services
from app.config import Settings
from app.ops import process_status, readiness
from app.ops.lag import lag
from app.ops.process_status import ProcessState, ProcessStatus
from app.store.keys import Keys
from tests.support.purchases import fulfil_all, mode, order
from tests.support.servers import free_port

HTML = {"Accept": "text/html"}


@pytest.fixture(params=[create_shop, create_lab])
def server(request: pytest.FixtureRequest, services: Services, settings: Settings) -> FlaskClient:
    """Shop and lab give the same answers."""
    client: FlaskClient = request.param(settings).test_client()
    return client


@pytest.fixture
def always_fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """No answer is cached."""
    monkeypatch.setattr(readiness, "FRESH", 0.0)


@pytest.fixture
def full(services: Services) -> Iterator[None]:
    """Fill the store's memory."""
    services.store.config_set("maxmemory", "1")
    yield
    services.store.config_set("maxmemory", "0")


def states(found: dict[str, Any]) -> dict[str, str]:
    return {check["name"]: check["state"] for check in found["checks"]}


WELL = {"store": "ok", "database": "ok", "orders": "ok", "dead_letters": "ok"}


def test_all_is_well(server: FlaskClient) -> None:
    assert server.get("/healthz").get_json() == {"status": "ok"}
    answer = server.get("/readyz")
    assert (answer.status_code, states(answer.get_json())) == (200, WELL)
    assert server.get("/health").status_code == 404


@pytest.mark.usefixtures("full")
def test_a_store_without_memory_sells_nothing(server: FlaskClient) -> None:
    assert server.get("/healthz").status_code == 200
    answer = server.get("/readyz")
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "1")
    found = answer.get_json()
    assert states(found) == WELL | {"store": "failing"}
    assert found["checks"][0]["sentence"] == "The store is out of memory and takes no writes."


def test_a_replica_sells_nothing(services: Services, server: FlaskClient) -> None:
    services.store.replicaof("127.0.0.1", str(free_port()))
    try:
        answer = server.get("/readyz")
        assert answer.status_code == 503
        assert answer.get_json()["checks"][0]["sentence"] == "The store is read-only."
    finally:
        services.store.replicaof("NO", "ONE")


@pytest.mark.usefixtures("always_fresh")
def test_a_sale_that_waits_for_long(services: Services, server: FlaskClient) -> None:
    round = services.rounds.start("fig", "atomic", 10, {})
    mode(services, round).sell(order(round))
    assert server.get("/readyz").status_code == 200, "fulfil may take a moment"
    longest = readiness.LONGEST_LAG
    _sold_before(services, round.item, round.number, longest + 1_000)
    answer = server.get("/readyz")
    assert (answer.status_code, states(answer.get_json())) == (503, WELL | {"orders": "failing"})
    said = answer.get_json()["checks"][2]["sentence"]
    assert said == "Sales wait to become orders, one for 31 s (fig)."
    fulfil_all(services.fulfil)
    assert not any(each.waiting for each in lag(services.store))
    assert server.get("/readyz").status_code == 200


def _sold_before(services: Services, item: str, number: int, ms: int) -> None:
    """Put a sale into the stream as if it had been there for so long."""
    sales = Keys(item, number).sales
    fields: Any = services.store.xrange(sales)[0][1]  # type: ignore[index]
    services.store.delete(sales)
    seconds, micros = services.store.time()
    services.store.xgroup_create(sales, "fulfil", id="0", mkstream=True)
    services.store.xadd(sales, fields, id=f"{seconds * 1000 + micros // 1000 - ms}-0")


def test_what_fulfil_has_read_and_not_booked_waits_too(services: Services) -> None:
    round = services.rounds.start("fig", "atomic", 10, {})
    mode(services, round).sell(order(round))
    sales = Keys("fig", round.number).sales
    services.store.xreadgroup("fulfil", "somebody", {sales: ">"})
    [fig] = [each for each in lag(services.store) if each.item == "fig"]
    assert (fig.waiting, fig.age < 10_000) == (1, True)


@pytest.mark.usefixtures("always_fresh")
def test_the_processes_of_up_are_named(settings: Settings, server: FlaskClient) -> None:
    def told(**rows: ProcessState) -> tuple[int, dict[str, str]]:
        each = [
            ProcessStatus(name, name in ("fulfil", "store"), state, 3, 12.3)
            for name, state in rows.items()
        ]
        process_status.write(settings.standings, each)
        answer = server.get("/readyz")
        return answer.status_code, states(answer.get_json())

    state = ProcessState
    assert told(store=state.RUNNING) == (200, WELL | {"processes": "ok"})
    assert told(lab=state.HUNG, plain=state.DOWN) == (
        200,
        WELL | {"lab": "unwell", "plain": "unwell"},
    )
    assert told(fulfil=state.STARTING) == (200, WELL | {"fulfil": "unwell"})
    assert told(fulfil=state.DOWN, lab=state.RUNNING) == (503, WELL | {"fulfil": "failing"})
    assert told(fulfil=state.HUNG) == (503, WELL | {"fulfil": "failing"})


@pytest.mark.usefixtures("always_fresh")
def test_a_supervisor_that_says_nothing_is_named(
    settings: Settings, server: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    process_status.write(settings.standings, [])
    monkeypatch.setattr(readiness, "SILENT", -1.0)
    answer = server.get("/readyz")
    assert (answer.status_code, states(answer.get_json())) == (200, WELL | {"processes": "unwell"})
    settings.standings.write_text('{"at": 1, "processes": [{"name": "of a newer version"}]}')
    assert states(server.get("/readyz").get_json()) == WELL


def test_a_storm_of_probes_asks_once(services: Services) -> None:
    asked = []
    go = Event()
    ready = services.readiness

    def slow() -> tuple[readiness.Check, ...]:
        asked.append(1)
        go.wait(10)
        return ()

    ready._checks = slow  # type: ignore[method-assign]
    with ThreadPoolExecutor(16) as pool:
        storm = [pool.submit(ready.look) for _ in range(100)]
        go.set()
        assert len({found.result(10).at for found in storm}) == 1
    assert len(asked) == 1
    go.clear()
    ready._found = replace(ready._found, at=ready._found.at - 2 * readiness.FRESH)
    with ThreadPoolExecutor(1) as pool:
        anew = pool.submit(ready.look)
        while len(asked) < 2:
            time.sleep(0.01)
        before = ready.look().at
        assert before == ready._found.at, "others wait for nobody"
        go.set()
        assert anew.result(10).at > before + readiness.FRESH


@pytest.mark.parametrize(
    ("language", "said"),
    [("en", "redlock-1 has died 3 times in a row"), ("zh", "redlock-1 已连续崩溃 3 次")],
)
def test_the_lab_says_what_is_not_well(
    services: Services, settings: Settings, language: str, said: str
) -> None:
    lab = create_lab(settings).test_client()
    process_status.write(
        settings.standings, [ProcessStatus("redlock-1", False, ProcessState.DOWN, 3, 0.0)]
    )
    page = lab.get("/", headers=HTML | {"Accept-Language": language}).text
    assert 'class="notice warn"' in page
    assert said in page


def test_the_lab_says_nothing_when_all_is_well(services: Services, settings: Settings) -> None:
    assert "not-well" not in create_lab(settings).test_client().get("/", headers=HTML).text


def test_with_the_store_away_the_lab_says_so_instead_of_its_page(tmp_path: Path) -> None:
    nowhere = Settings(redis_url=f"redis://127.0.0.1:{free_port()}/0", var_dir=str(tmp_path))
    answer = create_lab(nowhere).test_client().get("/", headers=HTML)
    assert answer.status_code == 503
    assert "The store does not answer." in answer.text


@pytest.mark.usefixtures("always_fresh")
def test_what_could_not_be_booked_is_named_and_stops_nothing(
    services: Services, server: FlaskClient
) -> None:
    round = services.rounds.start("fig", "atomic", 10, {})
    services.store.xadd(Keys("fig", round.number).sales, {"sale": b'{"id":"x"}'})
    fulfil_all(services.fulfil)
    answer = server.get("/readyz")
    assert (answer.status_code, states(answer.get_json())) == (
        200,
        WELL | {"dead_letters": "unwell"},
    )
    assert answer.get_json()["checks"][3]["sentence"].startswith("1 sale could not be booked")
