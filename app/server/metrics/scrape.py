"""Answer Prometheus: the workers' counts, fulfil's lag, and the last audits.

The lab does it: customers do not reach it, and it answers while all of the shop waits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from flask import Blueprint, Response
from prometheus_client import CollectorRegistry
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from app.domain import StoreAway
from app.ops.lag import Lag
from app.server.contract.operation import Answer, Operation
from app.server.metrics.audits import Audited, Audits
from app.service.metrics import places
from app.text import Text

UNITS = ("stocked", "left", "held", "sold", "oversold", "undersold")  # of an audit
Row = tuple[str, str, float]  # name without lastapple_, help text, value


class Metrics(Collector):
    """Collector of the shop's figures, read again for each scrape."""

    def __init__(self, folder: Path, lag: Callable[[], list[Lag]], audits: Audits) -> None:
        """`folder` is where the shop's workers write; it may be missing.

        `lag` returns fulfil's lag; it may raise StoreAway.
        """
        self.folder = folder
        self.lag = lag
        self.audits = audits

    def text(self) -> bytes:
        """Return the figures in CONTENT_TYPE_LATEST. A store that is away is a figure, no error."""
        registry = CollectorRegistry(auto_describe=False)
        registry.register(self)
        return generate_latest(registry)

    def collect(self) -> Iterator[Metric]:
        yield from MultiProcessCollector.merge(places.files(self.folder))
        yield from self._lag()
        yield from _by_item((each.audit.item, _audit(each)) for each in self.audits.known())

    def _lag(self) -> Iterator[Metric]:
        """Yield fulfil's lag by item, without items whose node is away."""
        try:
            lags = self.lag()
        except StoreAway:
            lags = []
        up = GaugeMetricFamily("lastapple_store_up", "1: the store answers.")
        up.add_metric([], float(bool(lags)))
        yield up
        yield from _by_item(
            (
                each.item,
                [
                    ("unbooked_sales", "Sales that are no order yet.", each.waiting),
                    (
                        "fulfil_lag_seconds",
                        "Age of the oldest sale that is no order yet.",
                        each.age / 1000,
                    ),
                    ("dead_letters", "Sales that could not be booked.", each.dead_letters),
                ],
            )
            for each in lags
            if not each.error
        )


def _audit(each: Audited) -> list[Row]:
    audit = each.audit
    return [
        ("audit_timestamp_seconds", "When the last audit of it was made.", each.at),
        ("audit_round", "The round that it read: the item's newest then.", audit.round),
        (
            "audit_settled",
            "1: nothing was under way. Judge nothing by the others else.",
            audit.settled,
        ),
        *((f"audit_{name}_units", f"Units {name}.", getattr(audit, name)) for name in UNITS),
        ("audit_not_booked", "Its sales that could not be booked.", audit.not_booked),
        ("audit_contradictions", "Sales and orders that contradict each other.", audit.broken),
    ]


def _by_item(rows: Iterable[tuple[str, list[Row]]]) -> list[Metric]:
    """Return a gauge for each name, with a sample for each item."""
    made: dict[str, GaugeMetricFamily] = {}
    for item, figures in rows:
        for name, about, value in figures:
            gauge = made.get(name)
            if gauge is None:
                gauge = GaugeMetricFamily(f"lastapple_{name}", about, labels=["item"])
                made[name] = gauge
            gauge.add_metric([item], float(value))
    return list(made.values())


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
