"""What a program is told at a terminal it is told by HTTP, in the same terms."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from click.testing import CliRunner
from flask.testing import FlaskClient

from app import create_lab
from app.bootstrap import Services
from app.cli import main
from app.config import Settings

RUNS_ON = ["valkey"]
Told = Callable[..., Any]


@pytest.fixture
def terminal(services: Services) -> Told:
    settings = services.settings
    environ = {"REDIS_URL": settings.redis_url, "VAR_DIR": settings.var_dir}

    def told(*words: str, **but: str) -> Any:
        done = CliRunner(env=environ | but).invoke(main, [*words, "--json"])
        assert done.exit_code in (0, 3), done.output
        return json.loads(done.stdout)

    return told


@pytest.fixture
def lab(settings: Settings) -> FlaskClient:
    return create_lab(settings).test_client()


def test_a_round(terminal: Told, lab: FlaskClient) -> None:
    started = terminal(
        "round", "start", "apple", "--stock", "7", "--mode", "lock", "--think-ms", "5"
    )
    assert (started["round"], started["think_ms"]) == (1, 5)
    assert terminal("round", "show", "apple") == lab.get("/rounds/apple").json
    assert terminal("round", "show", "--round", "1") == lab.get("/rounds/apple/1").json
    assert terminal("round", "end", "apple") == lab.get("/rounds/apple").json


def test_its_audit(services: Services, terminal: Told, lab: FlaskClient) -> None:
    services.rounds.start("apple", "atomic", 7, {})
    assert terminal("audit", "--round", "1") == lab.get("/rounds/apple/1/audit").json


def test_modes_and_recipes(services: Services, terminal: Told, lab: FlaskClient) -> None:
    about = lab.get("/about").json
    assert about is not None
    assert terminal("modes") == about["modes"]
    assert terminal("locks") == about["recipes"]


def test_a_round_has_a_mode_by_default(terminal: Told) -> None:
    assert terminal("round", "start", "pear", "--stock", "7")["mode"] == "atomic"
    other = terminal("round", "start", "pear", "--stock", "7", DEFAULT_MODE="watch")
    assert other["mode"] == "watch"
