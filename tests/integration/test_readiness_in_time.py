"""/readyz while a server is frozen: a probe is answered, and soon."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil

from app import create_lab, create_shop
from app.bootstrap import Services
from app.config import Settings
from tests.support.servers import PostgresServer, StoreServer, free_port

RUNS_ON = ["valkey"]  # a frozen server gives no answer
HANG = 40.0  # s; two are usual, and without a limit it would take forever


def states(found: dict[str, Any]) -> dict[str, str]:
    return {check["name"]: check["state"] for check in found["checks"]}


def test_a_frozen_store_and_no_database_are_named_in_time(
    tmp_path: Path, store_server: StoreServer
) -> None:
    nowhere = f"postgresql://x:secret@127.0.0.1:{free_port()}/x"
    settings = Settings(
        redis_url=store_server.url, database_url=nowhere, var_dir=str(tmp_path), store_timeout=300
    )
    shop = create_shop(settings).test_client()
    store_server.freeze()
    try:
        start = time.monotonic()
        answer = shop.get("/readyz")
        assert time.monotonic() - start < HANG
        assert shop.get("/healthz").status_code == 200
    finally:
        store_server.thaw()
    assert answer.status_code == 503
    found = states(answer.get_json())
    assert found.pop("dead_letters") == "unwell"
    assert set(found.values()) == {"failing"}
    assert "secret" not in answer.text
    assert "127.0.0.1" not in answer.text, "what we run on is nobody's business"


def test_a_frozen_postgresql_is_named_in_time(
    services: Services, settings: Settings, own_postgres: PostgresServer
) -> None:
    there = replace(settings, database_url=own_postgres.database())
    theirs = Services(there)
    theirs.migrate()
    theirs.engine.dispose()
    lab = create_lab(there).test_client()
    postmaster = psutil.Process(own_postgres.server.get_pid())
    family = [postmaster, *postmaster.children(recursive=True)]
    for process in family:
        process.suspend()
    try:
        start = time.monotonic()
        answer = lab.get("/readyz")
        assert time.monotonic() - start < HANG
        found = states(answer.get_json())
        assert {name for name, state in found.items() if state != "ok"} == {"database"}
    finally:
        for process in family:
            process.resume()
