"""What these tests share: the shop's application, a disk, and connections with hands on them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from flask.testing import FlaskClient

from app import create_shop
from app.bootstrap import Services
from app.config import Settings
from app.store.redis import Metered
from tests import wire


@pytest.fixture
def shop(services: Services, settings: Settings) -> FlaskClient:
    """Over the shared store, selling ten apples."""
    services.rounds.start("apple", "watch", 10, {"limit": 10})
    return create_shop(settings).test_client()


@pytest.fixture
def wired(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets `wire.Handed` lay hands on the connections."""
    monkeypatch.setattr(Metered, "send_command", wire.send_command)
    monkeypatch.setattr(Metered, "pack_commands", wire.pack_commands)


@pytest.fixture
def disk() -> Iterator[Path]:
    """A folder on the disk; `tmp_path` may be in memory, where a sync takes no time."""
    var = Path(__file__).parents[2] / "var"
    var.mkdir(exist_ok=True)
    with TemporaryDirectory(prefix="test-", dir=var) as folder:
        yield Path(folder)
