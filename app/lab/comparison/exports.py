"""Export a comparison: one HTML file that needs nothing else, CSV, JSON."""

from __future__ import annotations

import csv
from dataclasses import asdict
from io import StringIO
from pathlib import Path

import orjson
from flask import Response, current_app, render_template
from markupsafe import Markup

from app.lab.comparison.presentation import document, shown
from app.lab.comparison.record import Comparison
from app.server.translation import dumps

STYLES = ("design.css", "lab/lab.css", "lab/compare.css")
COLUMNS = (
    *("comparison", "item", "mode", "exhibit", "reference", "repeat", "run", "how"),
    *("verdict", "ratio", "goodput", "lasted_s", "p50_ms", "p95_ms", "p99_ms", "stocked", "sold"),
    *("left", "oversold", "undersold", "busy", "errors", "generator_cpu", "generator_bound", "why"),
)


def as_html(comparison: Comparison) -> Response:
    """Return the HTML file in the visitor's language, without links."""
    styles = [Path(str(current_app.static_folder), name).read_text() for name in STYLES]
    text = render_template(
        "lab/comparison/export.html",
        **shown(comparison),
        styles=Markup("\n".join(styles)),  # noqa: S704  our own files
    )
    return _file(comparison, "html", text, "text/html")


def as_csv(comparison: Comparison) -> Response:
    """Return a row for each run; the comparison's settings are in the JSON."""
    exported, text = document(comparison), StringIO()
    writer = csv.DictWriter(text, COLUMNS, extrasaction="ignore")
    writer.writeheader()
    for run in exported["runs"]:
        more = {
            "comparison": comparison.id,
            "item": comparison.item,
            "stocked": comparison.stock,
            "exhibit": "yes" if run.exhibit else "no",
            "reference": comparison.reference,
            "generator_bound": "yes" if run.generator_bound else "no",
        }
        writer.writerow(asdict(run) | more)
    return _file(comparison, "csv", text.getvalue(), "text/csv")


def as_json(comparison: Comparison) -> Response:
    document_ = orjson.loads(dumps(document(comparison)))
    text = orjson.dumps(document_, option=orjson.OPT_INDENT_2) + b"\n"
    return _file(comparison, "json", text, "application/json")


def _file(comparison: Comparison, ending: str, content: str | bytes, kind: str) -> Response:
    answer = Response(content, mimetype=kind)
    answer.headers["Content-Disposition"] = f'attachment; filename="{comparison.id}.{ending}"'
    return answer


FORMS = {"html": as_html, "csv": as_csv, "json": as_json}
