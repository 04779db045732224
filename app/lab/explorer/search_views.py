"""Start a search of the explorer by a POST, which no other site's page can send.

A GET starts only the usual search of each target, and once. There are thousands of other searches,
each of up to half a minute, and any page can make a browser send a GET.
"""

from __future__ import annotations

from typing import Any

from flask import Blueprint, Response, request, url_for

from app.lab.bad_links import no_such_move
from app.lab.explorer.searches import Explorer, Wanted
from app.lab.explorer.views import (
    ASKED,
    FAILS,
    FOUND,
    LOOKING,
    MOVES,
    SEARCHED_S,
    TARGET,
    budget_of,
    in_words,
    wrong,
)
from app.server import parse
from app.server.answers import json, see_other, wants_html
from app.server.contract.operation import Answer, Operation
from app.text import Text

SEARCH = {200: Answer(dict[str, Any], Text("It is found.")), 202: LOOKING, 303: None}


def blueprint(explorer: Explorer) -> Blueprint:
    lab = Blueprint("search", __name__, url_prefix="/explorer")

    @lab.post("/<name>")
    @Operation(
        Text("Search all orders"),
        Text("With these buyers and faults; a search takes up to half a minute."),
        SEARCH,
        links=FOUND,
        problems=FAILS,
        path=TARGET,
        body=ASKED,
    )
    @in_words
    def player(name: str) -> Response:
        wanted = explorer.wanted(name, fields())
        return begun(wanted, url_for("explorer.player", name=name, **budget_of(wanted)))

    @lab.post("/<name>/scheduler")
    @Operation(
        Text("Search all orders from a schedule"),
        Text("The same, with the faults that the schedule has."),
        SEARCH,
        links=FOUND,
        problems=(*FAILS, "impossible"),
        path=TARGET,
        body=ASKED | {"moves": MOVES},
    )
    @in_words
    def scheduler(name: str) -> Response:
        wanted, moves = explorer.wanted(name, fields()), fields().get("moves", "")
        played = explorer.play(wanted, moves)
        if "impossible" in played:
            sentence = no_such_move(played["impossible"], played["move"])
            return wrong(400, wanted, "moves", sentence)
        here = url_for("explorer.scheduler", name=name, **budget_of(wanted), moves=moves)
        return begun(wanted.with_faults(played["faults"]), here)

    def begun(wanted: Wanted, here: str) -> Response:
        looking = explorer.explored(wanted, SEARCHED_S) is None
        if wants_html():
            return see_other(here)
        return json({"target": wanted.target, "looking": looking}, 202 if looking else 200)

    return lab


def fields() -> dict[str, str]:
    """Return the body's fields as they would be in an address."""
    return {name: str(value) for name, value in parse.body(request).items()}
