"""Bad requests over every route of shop and lab: no 500, no hang.

`make test` sends a share of them, on both databases; with `--runs 20` 5,000 on each. The seed is
new each time, and printed.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from secrets import randbelow

import pytest
from flask import Flask
from werkzeug.test import run_wsgi_app

from app import create_lab, create_shop
from app.bootstrap import Services
from app.config import Settings
from app.store.sql import orders
from tests.support.malformed_requests import Bad, Spoiler
from tests.support.purchases import order

RUNS_ON = ["valkey"]
SHARE = 250  # requests of one run, to each database
SLOWEST = 10.0  # s; an audit waits for 0.75 s, and two cores are shared
PIECES = 2  # of a stream that never ends
# These may answer 503 although store and database are there: a lock is held, the explorer is full,
# or the shop is not ready, as no fulfil runs here and a sale has waited for too long.
BUSY = ("shop.buy", "explorer.player", "explorer.scheduler", "health.ready")


@pytest.fixture
def known(services: Services) -> dict[str, Sequence[str]]:
    """Return names that exist: rounds of two kinds, orders, a run, a comparison."""
    rounds = [services.rounds.start(item, mode, 1_000, {}) for item, mode in ROUNDS.items()]
    sold = [order(round) for round in [*rounds, replace(rounds[0], item="durian", number=99)]]
    with services.servers.sessions.begin() as session:
        orders.insert_missing(session, sold)
    times, crowd = {"think": 0}, {"buyers": 1, "seconds": 1}
    run = services.runs.start("plum", "watch", 3, times, crowd, lambda _: None)
    services.runs.mark_crashed(run)
    modes, crowd = ["naive", "watch"], crowd | {"repeats": 1}
    compared = services.comparisons.start("fig", modes, "watch", 3, times, crowd, lambda _: None)
    services.comparisons.mark_crashed(compared)
    return {
        "item": list(ROUNDS),
        "number": ["1", "2"],
        "id": [*(each.id for each in sold), run.id, compared.id],
        "form": ["json", "csv", "html"],
        "name": ["watch", "lock:lease", "naive...watch"],
        "filename": ["design.css", "shop/apple.svg"],
    }


ROUNDS = {"apple": "atomic", "pear": "sql"}


@pytest.fixture
def apps(
    settings: Settings, services: Services, monkeypatch: pytest.MonkeyPatch
) -> Iterator[list[Flask]]:
    theirs: list[Services] = []

    def noted(settings: Settings) -> Services:
        theirs.append(Services(settings))
        return theirs[-1]

    monkeypatch.setattr("app.bootstrap.Services", noted)
    made = [create_shop(settings), create_lab(settings)]
    yield made
    made[1].extensions["explorer"].close()
    made[1].extensions["recordings"].close()
    for each in theirs:
        each.engine.dispose()


class Refused:
    """Sends bad requests, and keeps those with a wrong answer."""

    def __init__(self) -> None:
        self.statuses: Counter[int] = Counter()
        self.wrong: list[str] = []

    def send(self, app: Flask, bad: Bad) -> None:
        began = time.monotonic()
        try:
            status = asked(app, bad)
        except Exception as error:  # noqa: BLE001  what the server would have to make a 500 of
            self.wrong.append(f"{type(error).__name__} {error}: {bad}")
            return
        self.statuses[status] += 1
        took = time.monotonic() - began
        fine = status < 500 or (status == 503 and bad.endpoint in BUSY)
        if not fine or took > SLOWEST:
            self.wrong.append(f"{status} after {took:.1f} s: {bad}")


def asked(app: Flask, bad: Bad) -> int:
    """Return the status. Of a stream, read as much as is there."""
    pieces, said, headers = run_wsgi_app(app, bad.environ())
    try:
        for count, _ in enumerate(pieces):
            if count == PIECES and headers.get("Content-Type", "").startswith("text/event-stream"):
                break
    finally:
        getattr(pieces, "close", lambda: None)()
    return int(said.split()[0])


@pytest.mark.soak
def test_no_bad_request_is_a_500(
    apps: list[Flask],
    known: Mapping[str, Sequence[str]],
    database_url: str,
    runs: int,
    caplog: pytest.LogCaptureFixture,
) -> None:
    seed = randbelow(1_000_000_000)
    print(f"seed {seed}, {SHARE * runs} requests")
    spoilers = [Spoiler(app, known, seed) for app in apps]
    refused = Refused()
    for turn in range(SHARE * runs):
        app, spoiler = (apps[turn % 2], spoilers[turn % 2])
        refused.send(app, spoiler.next())
    print(dict(sorted(refused.statuses.items())))
    assert not refused.wrong, f"seed {seed}, {len(refused.wrong)} of them:\n" + "\n".join(
        refused.wrong[:20]
    )
    traces = [record.getMessage() for record in caplog.records if record.exc_info]
    assert not traces, f"seed {seed}: unexpected errors, also those answered as in doubt"
