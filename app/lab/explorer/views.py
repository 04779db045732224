"""The explorer: the shortest bad schedule step by step, and a game of finding one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from typing import Any

from flask import Blueprint, Response, request, url_for

from app.domain import Bound, Invalid
from app.domain.fault_words import FAULT_WORDS
from app.explorer.targets import explorable
from app.lab.bad_links import (
    BUSY,
    NOT_EXPLORED,
    NOT_POSSIBLE,
    NOTHING,
    no_such_finding,
    no_such_move,
    no_such_step,
)
from app.lab.explorer.searches import (
    BUYERS,
    MAX_FAULTS,
    OWN,
    USUAL,
    BadSell,
    Explored,
    Explorer,
    Unreachable,
    Wanted,
)
from app.lab.explorer.source_view import lit, marked, sources
from app.lab.sources.sentences import retold
from app.server.answers import json, page, problem, said, type_of, wants_html
from app.server.contract.operation import Answer, Field, Operation, leads, number, string
from app.service import catalogue
from app.service.catalogue import parse_way
from app.text import Text

SEARCHED_S = 1.0  # s a page waits for a search before it says that the search is running
GLANCE = 0.05  # s, for a page that has something else to show
AGAIN = 2  # s after which a page without scripts reloads
TARGET = {
    "name": string(
        Text("What is explored: `watch`, `lock:lease`."), "naive", explorable(), required=True
    )
}
ASKED = {
    "buyers": number(Text("Buyers at once."), Bound(*BUYERS, Text("buyers")), BUYERS[0]),
    **{
        kind: number(FAULT_WORDS[kind].field, Bound(0, MAX_FAULTS, Text("faults")), usual)
        for kind, usual in USUAL._asdict().items()
    },
}
MOVES = string(Text("A schedule: which buyer moves at each step, as the page's links write it."))
STEP = Field(Text("At which step to stand."), {"type": "integer", "minimum": 0})
FAILS = ("nothing-to-explore", "explorer-busy", "bad-sell", Invalid)
FOUND = {"found": leads("explorer.player", name="target")}
LOOKING = Answer(dict[str, Any], Text("The search is still running: ask again."), links=FOUND)


def blueprint(explorer: Explorer) -> Blueprint:
    lab = Blueprint("explorer", __name__, url_prefix="/explorer")
    lab.add_app_template_global(explorer.explorable, "explorable")
    lab.add_app_template_global(explorer.called, "called")
    lab.record(lambda made: made.app.jinja_env.globals.update(fault_words=FAULT_WORDS))

    @lab.get("")
    @Operation(
        Text("What can be explored"),
        answers={200: dict[str, list[str]]},
        page=True,
        links={"first": leads("explorer.player", name="targets/0")},
    )
    def index() -> Response:
        names = explorer.explorable()
        if not wants_html():
            return json({"targets": [OWN] * (explorer.own is not None) + names})
        targets = [
            {
                "name": name,
                "promise": catalogue.promises(name)[-1],
                "exhibit": parse_way(name).exhibit,
            }
            for name in names
        ]
        own = explorer.own.name if explorer.own else ""
        return page("lab/explorer/index.html", targets=targets, own=own)

    @lab.get("/<name>")
    @Operation(
        Text("The shortest schedule that goes wrong"),
        Text("Step by step, with every finding. The usual search is begun when it is needed."),
        {200: dict[str, Any], 202: LOOKING},
        page=True,
        links={"walk": leads("explorer.scheduler", name="target", moves="finding/moves")},
        problems=(*FAILS, "unknown-finding", "impossible"),
        path=TARGET,
        query=ASKED | {"finding": string(Text("Which finding to play.")), "step": STEP},
    )
    @in_words
    def player(name: str) -> Response:
        wanted = explorer.wanted(name, request.args)
        explored = explorer.seen(wanted, SEARCHED_S)
        if explored is None or explored.report is None:
            return _no_report(wanted, explored, explorer.unasked(wanted))
        report = explored.report
        names = [finding["name"] for finding in report["findings"]]
        chosen = request.args.get("finding", names[0] if names else "")
        if names and chosen not in names:
            return wrong(404, wanted, "finding", no_such_finding(wanted.target), names)
        shown: dict[str, Any] = {"report": report, "finding": None, "played": None, "at": 0}
        if names:
            finding = report["findings"][names.index(chosen)]
            played = explorer.play(wanted, finding["moves"])
            last = len(played["places"]) - 1
            at = request.args.get("step", "0")
            if not (at.isascii() and at.isdigit() and len(at) < 4 and int(at) <= last):
                return wrong(400, wanted, "step", no_such_step(last))
            shown |= {"finding": finding, "played": played, "at": int(at)}
        if not wants_html():
            return json({"target": wanted.target, "faults": wanted.faults._asdict()} | shown)
        return page("lab/explorer/player.html", **_common(wanted, shown["played"]), **shown)

    @lab.get("/<name>/scheduler")
    @Operation(
        Text("A schedule of one's own"),
        answers={200: dict[str, Any]},
        page=True,
        problems=(*FAILS, "impossible"),
        path=TARGET,
        query=ASKED | {"moves": MOVES},
    )
    @in_words
    def scheduler(name: str) -> Response:
        limits = explorer.wanted(name, request.args)
        moves = request.args.get("moves", "")
        played = explorer.play(limits, moves)
        if "impossible" in played:
            sentence = no_such_move(played["impossible"], played["move"])
            return wrong(400, limits, "moves", sentence)
        wanted = limits.with_faults(played["faults"])
        explored = explorer.seen(wanted, GLANCE)
        report = explored.report if explored else None
        shown: dict[str, Any] = {
            "played": played,
            "at": len(played["places"]) - 1,
            "report": report,
            "looking": explored is None,
            "unasked": explorer.unasked(wanted),
            "moves": moves,
            "undone": "".join(played["moves"][:-1]),
        }
        if not wants_html():
            return json({"target": wanted.target, "faults": wanted.faults._asdict()} | shown)
        shown["faults"] = wanted.faults._asdict()  # with those that were pulled
        return page("lab/explorer/scheduler.html", **_common(limits, played) | shown)

    return lab


def _common(wanted: Wanted, played: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return what both pages show: the sources, and the form with the current choice."""
    faults, budget = wanted.faults._asdict(), budget_of(wanted)
    own = wanted.target == OWN

    def link(endpoint: str, **more: Any) -> str:
        return url_for(f"explorer.{endpoint}", name=wanted.target, **budget, **more)

    return {
        "target": wanted.target,
        "own": own,
        "exhibit": not own and parse_way(wanted.target).exhibit,
        "buyers": wanted.buyers,
        "faults": faults,
        "budget": budget,
        "most_buyers": BUYERS[1],
        "most_faults": MAX_FAULTS,
        "promises": [] if own else catalogue.promises(wanted.target),
        "link": link,
        "again": AGAIN,
    } | (_retold(wanted.target, played) if played else {})


def _retold(target: str, played: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schedule in sentences, and the lines of the source at which the buyers are."""
    places: list[dict[str, Any]] = played["places"]
    return {
        "sentences": retold(places),
        "sources": sources(target, places, played.get("source")),
        "lit": lit(places),
        "marked": marked,
    }


def budget_of(wanted: Wanted) -> dict[str, Any]:
    """Return the fields of an address: all that differs from the default."""
    usual = {"buyers": BUYERS[0], **USUAL._asdict()}
    chosen = {"buyers": wanted.buyers, **wanted.faults._asdict()}
    return {name: value for name, value in chosen.items() if value != usual[name]}


def _no_report(wanted: Wanted, explored: Explored | None, unasked: bool) -> Response:
    shown = {"looking": explored is None, "unasked": unasked}
    if not wants_html():
        return json({"target": wanted.target, **shown, "report": None}, 202)
    return page("lab/explorer/looking.html", 200, **shown, **_common(wanted, None))


def wrong(
    status: int, wanted: Wanted, what: str, sentence: Text, names: Iterable[str] = ()
) -> Response:
    """Answer a link that cannot be followed: why, and where to go from there."""
    if not wants_html():
        kind = "unknown-finding" if status == 404 else "impossible"
        return problem(status, NOT_POSSIBLE, sentence, type=type_of(kind))
    shown = {"title": NOT_POSSIBLE, "sentence": sentence, "what": what, "names": names}
    return page("lab/explorer/wrong.html", status, **shown, **_common(wanted, None))


def in_words(view: Callable[[str], Response]) -> Callable[[str], Response]:
    """Wrap a view: an unknown target becomes 404, the user's own wrong code 422.

    If the explorer's process has no answer, the page says that it is no fault of shop, store or
    database.
    """

    @wraps(view)
    def answered(name: str) -> Response:
        try:
            return view(name)
        except Invalid as error:
            if not error.errors.keys() & {"mode", "target"}:
                raise  # buyers or faults out of range: 422
            if not wants_html():
                kind = type_of("nothing-to-explore")
                return problem(404, NOTHING, said(error), type=kind)
            return page("lab/explorer/unknown.html", 404, name=name)
        except Unreachable as error:
            if not wants_html():
                return problem(503, BUSY, said(error), type=type_of("explorer-busy"))
            return page("lab/explorer/away.html", 503)
        except BadSell as error:
            if not wants_html():
                return problem(422, NOT_EXPLORED, str(error), type=type_of("bad-sell"))
            return page("lab/explorer/bad_sell.html", 422, said=str(error))

    return answered
