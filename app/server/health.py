"""What a probe asks: does this process answer, and can the shop sell and book? On both servers."""

from __future__ import annotations

from typing import Literal, TypedDict

from flask import Blueprint, Response

from app.ops.readiness import Check, Readiness
from app.server.answers import RETRY_AFTER, json


def blueprint(readiness: Readiness) -> Blueprint:
    health = Blueprint("health", __name__)

    @health.get("/healthz")
    def alive() -> Response:
        """Touches nothing: restarting us for a bad answer would not repair a store."""
        fine: Alive = {"status": "ok"}
        return json(fine)

    @health.get("/readyz")
    def ready() -> Response:
        found = readiness.look()
        stands: Ready = {"ready": found.ready, "checks": list(found.checks)}
        answer = json(stands, 200 if found.ready else 503)
        if not found.ready:
            answer.headers["Retry-After"] = RETRY_AFTER
        return answer

    return health


class Alive(TypedDict):
    """It answers."""

    status: Literal["ok"]


class Ready(TypedDict):
    """Whether the shop sells and books; each check with a sentence."""

    ready: bool
    checks: list[Check]
