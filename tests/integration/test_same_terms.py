"""A program gets the same texts at a terminal and by HTTP, in the same terms."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from flask.testing import FlaskClient

from app.bootstrap import Services
from tests.support.command_line import environ_of, invoke

RUNS_ON = ["valkey"]
Told = Callable[..., Any]


@pytest.fixture
def terminal(services: Services) -> Told:
    def told(*words: str, **but: str) -> Any:
        done = invoke(*words, "--json", **environ_of(services.settings) | but)
        assert done.exit_code in (0, 3), done.output
        return json.loads(done.stdout)

    return told


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
