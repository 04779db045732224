"""Reading: a page for each mode and recipe, and two of them side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from badluck.faults import Faults
from flask import Blueprint, Response, request, url_for

from app.domain import DatabaseAway, UnknownWay, iso
from app.lab import sources as reading
from app.lab.comparison.bars import bars
from app.lab.comparison.comparisons import Comparisons
from app.lab.comparison.presentation import Way, way
from app.lab.round_form import MODES
from app.server.answers import describe, json, page, problem, see_other, wants_html
from app.server.contract.operation import Operation, leads, string
from app.service import catalogue
from app.text import Text


class Compared(Way):
    """A target's result in a comparison with its reference, `to`."""

    id: str
    started_at: str | None
    to: str


BETWEEN = "..."  # two names in one address, as in naive...watch


def blueprint(var: Path, comparisons: Comparisons) -> Blueprint:
    """Return the routes; `var` is the folder with the comparison of `make compare`."""
    read = Blueprint("read", __name__)

    @read.get("/read")
    @Operation(
        Text("All ways to sell"),
        answers={200: list[dict[str, Any]]},
        page=True,
        links={"first": leads("read.one", name="0/target")},
    )
    def index() -> Response:
        if not wants_html():
            entries = reading.ways().items()
            return json([{"target": target} | asdict(entry) for target, entry in entries])
        return page("lab/sources/index.html", ways=reading.ways())

    @read.get("/read/diff")
    @Operation(
        Text("Two side by side: where to"),
        answers={303: None},
        problems=(UnknownWay,),
        query={
            "left": string(Text("A way to sell, on the left."), "naive", MODES, required=True),
            "right": string(Text("A way to sell, on the right."), "watch", MODES, required=True),
        },
    )
    def pair() -> Response:
        """Redirect the form to an address that can be shared."""
        left, right = request.args.get("left", ""), request.args.get("right", "")
        reading.compare(left, right)
        return see_other(url_for("read.one", name=f"{left}{BETWEEN}{right}"))

    @read.get("/read/<name>")
    @Operation(
        Text("A way to sell, or two"),
        Text("Its source, timeline, faults and costs; of two the lines that differ."),
        {200: dict[str, Any]},
        page=True,
        problems=(UnknownWay,),
        path={
            "name": string(
                Text("A mode such as `watch`, or two modes to compare: `naive...watch`."),
                "watch",
                required=True,
            )
        },
    )
    def one(name: str) -> Response:
        return diff(*name.split(BETWEEN, 1)) if BETWEEN in name else alone(name)

    @read.errorhandler(UnknownWay)
    def unknown(error: UnknownWay) -> Response:
        status, title, detail, members = describe(error)
        if not wants_html():
            return problem(status, title, detail, **members)
        return page("lab/sources/unknown.html", status, ways=reading.ways(), name=error.name)

    def alone(name: str) -> Response:
        shown = reading.page(name, var)
        if not wants_html():
            return json({**view(shown), "compared": compared(name)})
        return page(
            "lab/sources/one.html",
            ways=reading.ways(),
            shown=shown,
            compared=compared(name),
            explorer=explorer,
        )

    def compared(target: str) -> Compared | None:
        """Return its result in the lab's newest comparison of it; None: in none, or unknown."""
        try:
            comparison = comparisons.newest_with(target)
        except DatabaseAway:
            return None
        if comparison is None:
            return None
        name = catalogue.parse_way(target).name
        [bar] = [bar for bar in bars(comparison) if bar.mode == name]
        started = iso(comparison.started)
        return {"id": comparison.id, "started_at": started, "to": comparison.reference, **way(bar)}

    def diff(left: str, right: str) -> Response:
        shown = reading.compare(left, right)
        if not wants_html():
            return json(view_pair(shown))
        return page("lab/sources/diff.html", ways=reading.ways(), shown=shown)

    return read


# The lock that two buyers do not break where three do.
CROWDED = "lock:del_takeover"


def explorer(target: str, finding: str, faults: Faults) -> str:
    """Return the address of the Explorer's page that plays a finding, with the fewest buyers."""
    query: dict[str, str | int] = {"finding": finding, **faults._asdict()}
    if target == CROWDED:
        query["buyers"] = 3
    return f"/explorer/{target}?{urlencode(query)}"


def view(shown: reading.Page) -> Mapping[str, object]:
    """Return a page for programs: texts instead of coloured pieces."""
    files = [{"path": file.path, "lines": file.text} for file in shown.files]
    part = shown.section
    section = part and {"path": part.path, "first": part.first, "lines": part.text}
    return vars(shown) | {"files": files, "section": section}


def view_pair(shown: reading.Comparison) -> Mapping[str, object]:
    """Return two side by side for programs: for each row the line numbers of both sides."""
    paths = [file.path for file in shown.files]
    rows = [
        {
            "left": [line.number for line in row.left],
            "right": [line.number for line in row.right],
            "same": row.same,
        }
        for row in shown.rows
    ]
    return {"left": shown.left, "right": shown.right, "files": paths, "rows": rows}
