"""Explore every order of one SQL mode's statements, at each isolation level."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable

from badluck.report.report import Finding
from badluck.report.trace import Step
from badluck.rule import Answers, StateRule, View
from badluck.search.paths import ends, shortest
from badluck.search.state_table import TooMany

from app.explorer.book import Book
from app.explorer.findings import FINDINGS, RULES
from app.explorer.sql.database import database
from app.explorer.sql.orders import Orders
from app.explorer.sql.report import AtLevel, SqlReport
from app.explorer.sql.stage import Stage
from app.explorer.sql.statement import Level
from app.explorer.targets import Target
from app.modes import MODES
from app.store.sql import db


def wrong(book: Book, told: dict[str, str], target: Target) -> list[str]:
    """Return the names of FINDINGS that hold at the end; `told` is each buyer's outcome."""
    end = View(target, book, Answers(tuple(told.items()), inside=0, over=True))
    return [rule.name for rule in RULES if isinstance(rule, StateRule) and rule.wrong(end)]


MOST = 2_000  # runs at one level: some seconds


def explore(target: Target, stopped: Callable[[], bool]) -> SqlReport:
    """Explore on a PostgreSQL that is started for it.

    Raises KeyboardInterrupt soon after `stopped`, ShopError when the server fails.
    """
    began = time.perf_counter()
    levels = []
    with db.answering(), database() as url:
        for level in Level:
            with Stage(url, level, target, MODES[target.name]) as stage:
                server = stage.server()
                levels.append(at_level(stage, stopped))
    return SqlReport(target, server, time.perf_counter() - began, levels)


def at_level(
    stage: Stage, stopped: Callable[[], bool] = lambda: False, most: int = MOST
) -> AtLevel:
    """Explore all orders of the buyers of `stage`, in `most` runs at most."""
    orders = Orders(stage, most, stopped)
    try:
        orders.explore()
        exhaustive = True
    except TooMany:
        exhaustive = False
    outcomes: Counter[tuple[str, ...]] = Counter()
    for number, many in ((ends(orders) or {}) if exhaustive else {}).items():
        outcomes[tuple(sorted(orders.states[number].outcomes))] += many
    return AtLevel(
        stage.level,
        exhaustive,
        sum(outcomes.values()) if exhaustive else None,
        len(orders.states),
        orders.runs,
        outcomes,
        _findings(orders, stage.target),
        _blocks(orders),
    )


def _findings(orders: Orders, target: Target) -> list[Finding]:
    places: dict[str, set[int]] = {name: set() for name in FINDINGS}
    for number, state in enumerate(orders.states):
        if state.outcomes:
            for name in wrong(state.book, dict(zip("AB", state.outcomes, strict=True)), target):
                places[name].add(number)
    paths = shortest(orders, places)
    return [
        Finding(
            name,
            paths[name].cost,
            FINDINGS[name],
            [orders.rows[number, transition.actor] for number, transition in paths[name].edges],
        )
        for name in FINDINGS
        if name in paths
    ]


def _blocks(orders: Orders) -> list[Step]:
    """Return the shortest order in which a buyer waits; then each goes as far as it can."""
    waiting = {
        transition.to
        for transitions in orders.edges
        for transition in transitions
        if transition.kind == "blocks"
    }
    path = shortest(orders, {"blocks": waiting}).get("blocks")
    if path is None:
        return []
    rows = [orders.rows[number, transition.actor] for number, transition in path.edges]
    at, mover = path.edges[-1][1].to, path.edges[-1][1].actor
    while transitions := orders.edges[at]:
        transition = next(
            (transition for transition in transitions if transition.actor == mover), transitions[0]
        )
        rows.append(orders.rows[at, transition.actor])
        at, mover = transition.to, transition.actor
    return rows
