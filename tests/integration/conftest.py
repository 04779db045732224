"""The shop's application over the shared store, selling ten apples."""

from __future__ import annotations

import pytest
from flask.testing import FlaskClient

from app import Parts, create_shop
from app.config import Settings


@pytest.fixture
def shop(parts: Parts, settings: Settings) -> FlaskClient:
    parts.rounds.start("apple", "watch", 10, {"limit": 10})
    return create_shop(settings).test_client()
