"""Steps of an instructor, a phone and a screen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flask.testing import FlaskClient

from app.bootstrap import Services
from app.lab.classroom.events import Event, follow
from app.lab.classroom.views import document

HTML = {"Accept": "text/html"}
SALE = {"stock": 2, "mode": "watch", "think_ms": 0, "delay_ms": 0}

Phones = Callable[[str], FlaskClient]


def start(lab: FlaskClient, **changes: Any) -> int:
    answer = lab.post("/classroom/sale", json=SALE | changes)
    assert answer.status_code == 201, answer.text
    return int(answer.get_json()["round"])


def press(phone: FlaskClient, now: dict[str, Any]) -> Any:
    key = {"Idempotency-Key": now["key"]}
    return phone.post("/buy/apple", json={"quantity": 1}, headers=key)


def see(services: Services, after: str = "", most: int = 2) -> list[Event]:
    """Return the next events of a screen that last got `after`, until there is nothing new."""
    events = follow(services.class_sale, services.members, after, document)
    seen: list[Event] = []
    while (event := next(events)) is not None and len(seen) < most:
        seen.append(event)
    return seen


def running(services: Services) -> bool:
    """Is the class's sale still running after a look at it?"""
    services.class_sale.standing()
    round = services.class_sale.newest()
    return round is not None and round.running
