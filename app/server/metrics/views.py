"""What Prometheus asks. No customer reaches the lab, and it answers while all of the shop waits."""

from __future__ import annotations

from flask import Blueprint, Response

from app.server.metrics.scrape import CONTENT_TYPE_LATEST, Metrics


def blueprint(metrics: Metrics) -> Blueprint:
    lab = Blueprint("metrics", __name__)

    @lab.get("/metrics")
    def scrape() -> Response:
        return Response(metrics.text(), content_type=CONTENT_TYPE_LATEST)

    return lab
