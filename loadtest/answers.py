"""The reading of one answer: the outcome in its body, checked against its status."""

from __future__ import annotations

import json
from typing import NamedTuple

# A body and a status that contradict each other are a fault of the shop, not an outcome.
STATUS = {"SOLD": 201, "SOLD_OUT": 409, "LIMIT": 409, "BUSY": 503, "NOOP": 200}

ERROR = "ERROR"


class ShopAnswer(NamedTuple):
    """One answer. `attempts`, `round_trips` and `commands` are the shop's own counts for it.

    `why` says what is wrong with an ERROR, in words that are equal for equal faults, so that
    Locust can count them together.
    """

    outcome: str
    attempts: int = 0
    round_trips: int = 0
    commands: int = 0
    why: str = ""


def read(status: int, body: bytes) -> ShopAnswer:
    """Read an answer to `POST /buy/<item>` or `POST /noop`.

    SOLD, SOLD_OUT, LIMIT, BUSY and NOOP are what a healthy shop says. Everything else is an ERROR:
    a body that is not JSON, an outcome under a wrong status, a problem without an outcome.
    """
    try:
        document = json.loads(body)
        outcome = document.get("outcome")
        if outcome is None:
            return ShopAnswer(
                ERROR, why=f"{status} {document.get('title', 'no outcome in the body')}"
            )
        if STATUS.get(outcome) != status:
            return ShopAnswer(ERROR, why=f"{outcome} with status {status}")
        if outcome == "NOOP":
            return ShopAnswer(outcome)
        return ShopAnswer(
            outcome, document["attempts"], document["round_trips"], document["commands"]
        )
    except (ValueError, AttributeError):
        return ShopAnswer(ERROR, why=f"{status} with a body that is no JSON object")
    except KeyError as missing:
        return ShopAnswer(ERROR, why=f"{status} with a body that lacks {missing}")
