"""Fixtures of the class tests: the lab, and phones at the shop."""

from __future__ import annotations

import pytest
from flask.testing import FlaskClient

from app import create_shop
from app.bootstrap import Services
from app.config import Settings
from tests.integration.classroom.lesson import Phones


@pytest.fixture
def phone(services: Services, settings: Settings) -> Phones:
    """Make phones of one class, each with a cookie of its own."""
    app = create_shop(settings)

    def make(name: str) -> FlaskClient:
        client = app.test_client()
        assert client.post("/class/name", json={"name": name}).status_code == 201
        return client

    return make
