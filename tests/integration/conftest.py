"""Shared by these tests: the shop's application, a disk, and connections with hooks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient

from app import create_lab, create_shop
from app.bootstrap import Services
from app.config import Settings
from app.store.clients.redis import Metered
from tests.support import command_hooks
from tests.support.servers import on_disk


@pytest.fixture
def shop(services: Services, settings: Settings) -> FlaskClient:
    """The shop over the shared store, selling ten apples."""
    services.rounds.start("apple", "watch", 10, {"limit": 10})
    return create_shop(settings).test_client()


@pytest.fixture
def lab(services: Services, settings: Settings) -> Iterator[FlaskClient]:
    app = create_lab(settings)
    yield app.test_client()
    for process in ("explorer", "recordings"):
        app.extensions[process].close()


@pytest.fixture(scope="session")
def explorer_lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Flask]:
    """The lab for the explorer's pages. No store is needed; tests share the results of searches."""
    app = create_lab(Settings(var_dir=str(tmp_path_factory.mktemp("var"))))
    yield app
    app.extensions["explorer"].close()


@pytest.fixture
def wired(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `command_hooks.Handed` intercept commands."""
    monkeypatch.setattr(Metered, "send_command", command_hooks.send_command)
    monkeypatch.setattr(Metered, "pack_commands", command_hooks.pack_commands)


@pytest.fixture
def disk() -> Iterator[Path]:
    with on_disk() as folder:
        yield folder
