"""What a probe asks: does this process answer, and can the shop sell and book? On both servers."""

from __future__ import annotations

from flask import Blueprint, Response

from app.service.readiness import Readiness
from app.web.answers import RETRY_AFTER, json


def blueprint(readiness: Readiness) -> Blueprint:
    health = Blueprint("health", __name__)

    @health.get("/healthz")
    def alive() -> Response:
        """Touches nothing: restarting us for a bad answer would not repair a store."""
        return json({"status": "ok"})

    @health.get("/readyz")
    def ready() -> Response:
        found = readiness.look()
        answer = json({"ready": found.ready, "checks": found.checks}, 200 if found.ready else 503)
        if not found.ready:
            answer.headers["Retry-After"] = RETRY_AFTER
        return answer

    return health
