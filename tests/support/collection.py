"""The choice of tests, of their stores, and of how often they run."""

from __future__ import annotations

from typing import Any

import pytest

from app.locks import LOCKS
from app.modes import MODES
from tests.support.servers import STORES


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--runs", type=int, help="repetitions of each soak test (make soak: 20)")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that uses a store on each of the STORES, or on those of its module's RUNS_ON.

    A test that is marked `again` runs as often as the soak sets.
    """
    runs = metafunc.config.getoption("--runs")
    if runs and metafunc.definition.get_closest_marker("again"):
        metafunc.fixturenames.append("run")
        metafunc.parametrize("run", range(1, runs + 1))
    if "store_server" in metafunc.fixturenames:
        stores = getattr(metafunc.module, "RUNS_ON", STORES)
        metafunc.parametrize("store_server", stores, indirect=True, scope="session")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip repetitions that test nothing new.

    A mode that keeps its stock, or its lock, elsewhere uses each kind of store as `lock:lease`
    does: it runs on the first kind only. One that locks rows sells nothing on SQLite, the database
    of a test that names none.
    """
    kept: list[pytest.Item] = []
    left: list[pytest.Item] = []
    for item in items:
        known: dict[str, Any] = getattr(getattr(item, "callspec", None), "params", {})
        elsewhere = lives_in(str(known.get("name", ""))) != "store"
        again = known.get("store_server", "valkey") != "valkey"
        fixtures: list[str] = getattr(item, "fixturenames", [])
        sells = "store_server" in fixtures or "shop" in fixtures
        on_sqlite = sells and known.get("database_url") != "postgresql"
        refused = on_sqlite and lives_in(str(known.get("name", ""))) == "rows"
        (left if refused or (elsewhere and again) else kept).append(item)
    items[:] = kept
    config.hook.pytest_deselected(items=left)


def lives_in(name: str) -> str:
    """Return the part of `Servers` that a mode, a recipe or `lock:recipe` needs, by default the
    store.
    """
    mode, _, recipe = name.partition(":")
    known = LOCKS.get(recipe or mode) or MODES.get(mode)
    return known.needs if known else "store"
