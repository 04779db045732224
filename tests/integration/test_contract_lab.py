"""The lab keeps its contract for every request: no 5xx except the documented 503, no hang, no
answer that the contract lacks, no unit gone, no round except those that it reported.

schemathesis makes requests from the contract, and follows links from a start to its end. What the
lab starts for them is small (short_jobs.py); the real jobs are tested at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from secrets import randbelow
from threading import Thread
from typing import Any

import psutil
import pytest
from flask import Flask
from werkzeug.serving import make_server
from werkzeug.test import TestResponse

from app import create_lab, create_shop
from app.bootstrap import Services
from app.config import Settings
from app.domain import ITEMS, Round
from app.lab.comparison import views as comparison_views
from app.lab.comparison.record import Comparison, Machine
from app.lab.stampede import views as stampede_views
from app.lab.stampede.record import How, Run
from app.lab.stampede.sample import Sample
from app.service.round_view import terms
from tests.support.contract import linked
from tests.support.fuzzer import Asked, ask
from tests.support.holds import LONG, added_up
from tests.support.purchases import fulfil_all, mode, order
from tests.support.servers import free_port, until
from tests.support.short_jobs import Soon, bound, play

RUNS_ON = ["valkey"]
SEED = 20_261_124
SHARE = 2  # requests of each operation, besides those that follow from the contract
CHAINS, STEPS = 12, 12  # of requests, some of which use an earlier answer
STOCK, BOUGHT = 1_000, 3
# An item's first round: its mode, and how long it is held.
BEFORE = {
    "pear": ("sql", 0),
    "plum": ("sql", LONG),
    "fig": ("atomic", LONG),
    "apple": ("atomic", 0),
}
# Each of these may always answer that there is one already.
ONE_AT_A_TIME = {"POST /runs", "POST /comparisons"}
STARTS = ("POST /rounds", "POST /runs", "POST /classroom/sale")
WORD = "only for teachers"
BEARER = {"Authorization": f"Bearer {WORD}"}
OPEN = ("GET /healthz", "GET /readyz")  # to clients that do not show the token


def children() -> set[int]:
    """Return the running child processes; those that have ended need not have been waited for."""
    found = psutil.Process().children(recursive=True)
    return {child.pid for child in found if child.is_running() and child.status() != "zombie"}


@pytest.fixture
def lab(services: Services, settings: Settings) -> Iterator[Callable[..., Flask]]:
    """Make the lab, with more settings; nothing that it has started may outlive it."""
    before, made = children(), list[Flask]()

    def make(**more: Any) -> Flask:
        made.append(create_lab(replace(settings, **more)))
        return made[-1]

    yield make
    for app in made:
        for each in ("explorer", "recordings"):
            app.extensions[each].close()
    until(lambda: children() <= before, 20, "a process is left running")


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return play(tmp_path_factory.mktemp("played"))


@pytest.fixture
def soon(services: Services, played: Path, monkeypatch: pytest.MonkeyPatch) -> Soon:
    return bound(services, played, monkeypatch)


@pytest.fixture
def before(services: Services) -> None:
    """Sell or hold some of the items, and make the contract's example run and comparison."""
    for item, (name, hold) in BEFORE.items():
        round = services.rounds.start(item, name, STOCK, {"hold": hold})
        mode(services, round).sell(order(round, BOUGHT))
    fulfil_all(services.fulfil)
    now, figures = services.rounds.now(), Sample(phase="settling", left=STOCK)
    services.runs.finish(
        Run(stampede_views.ID["id"].example, round, 4, 2, now, how=How.FINISHED, figures=figures)
    )
    machine = Machine.of(services.about())
    what = comparison_views.ID["id"].example, "fig", STOCK, dict[str, int](), 4, 2, 1
    compared = Comparison(*what, "sql", ["sql", "naive"], ["naive"], machine, now)
    services.comparisons.finish(replace(compared, how=How.STOPPED))


def rounds(services: Services) -> Iterator[Round]:
    """Yield all rounds."""
    for item in ITEMS:
        newest = services.rounds.newest(item)
        for number in range(1, newest.number + 1 if newest else 1):
            yield services.rounds.find(item, number)


def operations(app: Flask) -> set[str]:
    """Return all operations, without files and the contract itself."""
    paths = app.extensions["contract"]()["paths"].items()
    known = {f"{method.upper()} {path}" for path, methods in paths for method in methods}
    return known - {"GET /static/{filename}", "GET /openapi.json"}


def check_that_no_unit_is_gone(services: Services) -> None:
    """Check by each round's audit that left + held + sold = stocked, as it was before."""
    for round in rounds(services):
        audit = added_up(services, round)
        bought = BOUGHT if round.number == 1 and round.item in BEFORE else 0
        assert audit.sold + audit.held == bought, audit
        assert audit.left == round.stock - bought, audit


def check_that_rounds_are_as_told(services: Services, found: Asked, compared: int) -> None:
    for asked, answer in found.made:
        if asked in STARTS and answer.status_code == 201:
            told = answer.json()
            there = terms(services.rounds.find(told["item"], told["round"]))
            assert there == {name: told[name] for name in there}
    started = sum(asked in STARTS for asked, _ in found.made)
    assert started > len(STARTS), "nothing has been started: what was tested?"
    assert len(list(rounds(services))) == len(BEFORE) + started + compared


@pytest.mark.soak
@pytest.mark.timeout(1_200)  # some 80 s of the processor, which others may share
@pytest.mark.usefixtures("before")
@pytest.mark.parametrize("visitor", ["a program", "a browser, with the token"])
def test_the_lab_keeps_its_contract(
    lab: Callable[..., Flask], services: Services, soon: Soon, runs: int, visitor: str
) -> None:
    seed = SEED if runs == 1 else randbelow(1_000_000_000)
    share = SHARE if runs == 1 else SHARE * runs * 5
    app = lab() if visitor == "a program" else lab(lab_host="0.0.0.0", lab_token=WORD)
    accept = "application/json" if visitor == "a program" else "text/html"
    headers = {"Accept": accept, **({} if visitor == "a program" else BEARER)}
    chains = {"enabled": True, "generation": {"max-examples": CHAINS}, "max-steps": STEPS}
    phases = {
        "stateful": chains,
        # Requests that follow from the contract alone are the same for both: once is enough.
        "coverage": {"enabled": visitor == "a program" or runs > 1},
    }
    # schemathesis leaves files open, which is no fault of ours; see the shop's test for one.
    found = ask(app, seed, share, ("static",), BEARER, headers=headers, phases=phases)
    for more in range(1, runs):  # each ends early when the lab answers differently from before
        phases = {"enabled": False, "stateful": chains}
        asked = seed + more, share, ("static",), BEARER, found
        ask(app, *asked, headers=headers, phases=phases)
    soon.over()
    print(f"seed {seed}, {found.requests} requests, {found.led} by links: {found.answers()}")
    assert not found.wrong, f"seed {seed}: {found.wrong}"
    never = operations(app) - found.answered()
    assert never <= ONE_AT_A_TIME, f"asked only for what there was not: {never}"
    assert found.led, "no link was followed"
    assert services.runs.on() == []
    assert services.comparisons.on() is None
    check_that_no_unit_is_gone(services)
    check_that_rounds_are_as_told(services, found, soon.compared)


def test_who_does_not_show_the_token_is_told_nothing(
    lab: Callable[..., Flask], services: Services
) -> None:
    app = lab(lab_host="0.0.0.0", lab_token=WORD)
    phases = {"coverage": {"enabled": False}, "stateful": {"enabled": False}}
    found = ask(app, SEED, SHARE, ("static",), BEARER, phases=phases)
    assert not found.wrong, found.wrong
    assert {operation for operation, status in found.statuses if status != 403} == {*OPEN}
    assert list(rounds(services)) == []


def test_a_form_of_the_cases_may_be_too_large(lab: Callable[..., Flask]) -> None:
    answer = lab().test_client().post("/transactions", data={"case": "x" * 17_000})
    assert answer.status_code == 413


@pytest.fixture
def shop(settings: Settings, services: Services) -> Iterator[Settings]:
    """The shop serves at the address in these settings."""
    where = replace(settings, shop_port=free_port())
    server = make_server("127.0.0.1", where.shop_port, create_shop(where), threaded=True)
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield where
    server.shutdown()
    server.server_close()
    thread.join()


ENDLESS = {"item": "apple", "stock": 1_000_000, "buyers": 2, "seconds": 120}
STAMPEDE = ENDLESS | {"mode": "atomic"}
COMPARISON = ENDLESS | {"modes": ["watch"], "reference": "atomic", "repeats": 1}


@pytest.mark.parametrize(
    ("path", "body", "awaited"),
    [("/runs", STAMPEDE, b'"SOLD"'), ("/comparisons", COMPARISON, b"event: step")],
)
def test_what_it_really_starts_ends_by_its_links(
    lab: Callable[..., Flask],
    shop: Settings,
    services: Services,
    path: str,
    body: dict[str, Any],
    awaited: bytes,
) -> None:
    client = lab(**vars(shop)).test_client()
    document = client.get("/openapi.json").get_json()
    answer = client.post(path, json=body)
    assert answer.status_code == 201, answer.text
    links = document["paths"][path]["post"]["responses"]["201"]["links"]

    def follow(name: str) -> TestResponse:
        return linked(client, document, links[name], answer.get_json())

    with follow("watch") as events:
        assert any(awaited in event for event in events.iter_encoded())
    assert follow("stop").status_code == 202

    def over() -> bool:
        fulfil_all(services.fulfil)  # the audit waits for it
        return not follow("look").get_json()["running"]

    until(over, 60)
    assert follow("look").get_json()["how"] == "stopped"
    for round in rounds(services):
        assert not round.running
        added_up(services, round)
