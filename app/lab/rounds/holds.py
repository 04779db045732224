"""The holds of a round as they run out, for its page."""

from __future__ import annotations

from typing import TypedDict

from flask import Blueprint, Response

from app.domain import Lacking, UnknownItem, UnknownRound
from app.lab.contract import BOOKS
from app.server.answers import json
from app.server.contract.operation import Operation
from app.service.holds import Holds
from app.service.rounds import Rounds
from app.text import Text

MOST = 12  # on the page: what runs out next


def blueprint(rounds: Rounds, holds: Holds) -> Blueprint:
    lab = Blueprint("holds", __name__)

    @lab.get("/rounds/<item>/<int:number>/holds")
    @Operation(
        Text("The holds that run out next"),
        answers={200: AllDue},
        problems=(UnknownItem, UnknownRound, Lacking, *BOOKS),
    )
    def show(item: str, number: int) -> Response:
        expiring = holds.next_due(rounds.find(item, number), MOST)
        listed: list[Due] = [
            {"order": each.order.id, "quantity": each.order.quantity, "pay_in_ms": max(0, each.ms)}
            for each in expiring
        ]
        due: AllDue = {"holds": listed}
        return json(due)

    return lab


class Due(TypedDict):
    """One hold; `order` is its order's id."""

    order: str
    quantity: int
    pay_in_ms: int  # left to pay in


class AllDue(TypedDict):
    """Those that run out next, the first of them first."""

    holds: list[Due]
