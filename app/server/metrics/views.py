"""What Prometheus asks. No customer reaches the lab, and it answers while all of the shop waits."""

from __future__ import annotations

from flask import Blueprint, Response

from app.server.contract.operation import Answer, Operation
from app.server.metrics.scrape import CONTENT_TYPE_LATEST, Metrics
from app.text import Text


def blueprint(metrics: Metrics) -> Blueprint:
    lab = Blueprint("metrics", __name__)

    @lab.get("/metrics")
    @Operation(
        Text("Figures for Prometheus"),
        Text("With the lab's token in the header Authorization (Bearer), where it asks."),
        {200: Answer(None, Text("In Prometheus' text format."))},
        other=("text/plain",),
    )
    def scrape() -> Response:
        return Response(metrics.text(), content_type=CONTENT_TYPE_LATEST)

    return lab
