"""Health endpoints of both servers: does this process answer, and can the shop sell and book?"""

from __future__ import annotations

from typing import Literal, TypedDict

from flask import Blueprint, Response

from app.ops.readiness import Check, Readiness
from app.server.answers import RETRY_AFTER, json
from app.server.contract.operation import Answer, Operation
from app.text import Text


def blueprint(readiness: Readiness) -> Blueprint:
    health = Blueprint("health", __name__)

    @health.get("/healthz")
    @Operation(
        Text("Does it answer?"),
        Text("Touches nothing: not the store, not the database."),
        {200: Answer(Alive, Text("The process answers."), {"status": "ok"})},
    )
    def alive() -> Response:
        """Answer always: a restart because of a bad answer would not repair a store."""
        fine: Alive = {"status": "ok"}
        return json(fine)

    @health.get("/readyz")
    @Operation(
        Text("Can it sell and book?"),
        answers={
            200: Answer(Ready, Text("It can. A check may ask for a look.")),
            503: Answer(Ready, Text("It cannot.")),
        },
    )
    def ready() -> Response:
        report = readiness.look()
        stands: Ready = {"ready": report.ready, "checks": list(report.checks)}
        answer = json(stands, 200 if report.ready else 503)
        if not report.ready:
            answer.headers["Retry-After"] = RETRY_AFTER
        return answer

    return health


class Alive(TypedDict):
    """The answer of a process that runs."""

    status: Literal["ok"]


class Ready(TypedDict):
    """Whether the shop sells and books; each check with a sentence."""

    ready: bool
    checks: list[Check]
