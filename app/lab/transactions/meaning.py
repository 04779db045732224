"""Sentences that explain replies to a reader who sees them for the first time."""

from __future__ import annotations

import re
from collections.abc import Iterable

from app.lab.transactions.sides import ServerStep
from app.text import Text

DONE_UNSEEN = Text("Done at once, but other clients do not see it yet.")
# (statement, reply, meaning); the first that fits counts. Both are patterns for a beginning.
MEANINGS = tuple(
    (re.compile(statement), re.compile(reply, re.DOTALL), words)
    for statement, reply, words in [
        ("BEGIN", "", Text("A transaction begins.")),
        ("MULTI", "OK", Text("What follows is queued.")),
        ("", "QUEUED", Text("Queued: nothing is done yet.")),
        ("EXEC", r"\(nil\)", Text("Refused: another client has written what was watched.")),
        ("EXEC", r"\(error\)", Text("Refused as a whole: nothing of it is done.")),
        ("EXEC", r".*\(error\)", Text("One of them failed, and all the others are done.")),
        ("EXEC", "", Text("All of it is done, and no other client came in between.")),
        ("WATCH", "OK", Text("From now on EXEC asks whether anybody has written it.")),
        ("UNWATCH", "OK", Text("Nothing is watched any more.")),
        ("DISCARD", "OK", Text("What was queued is forgotten.")),
        ("DISCARD", r"\(error\)", Text("Nothing is queued any more, and what is done stays.")),
        ("", r"\(error\) ERR unknown command", Text("It cannot even be queued.")),
        ("ROLLBACK", "ROLLBACK", Text("All that it did is undone, and its locks are gone.")),
        ("COMMIT", "ROLLBACK", Text("All that it did is undone: ROLLBACK is the answer.")),
        ("COMMIT", "COMMIT", Text("From now on all others see it.")),
        ("", "ERROR: +current", Text("Refused, whatever it is, until the transaction ends.")),
        ("", "ERROR: +canceling", Text("It had to wait for the other one, and gave up.")),
        (
            "",
            "ERROR: +could not",
            Text("Refused: another transaction has written since this one began."),
        ),
        ("", "ERROR", Text("With this, the whole transaction is lost.")),
        (".*FOR UPDATE", "", Text("From now on all others who want to write it must wait.")),
    ]
)


def meanings(steps: Iterable[ServerStep]) -> list[str]:
    """Return one sentence for each step; "" if the reply needs none."""
    begun: set[str] = set()  # clients that are in a transaction of SQL
    sentences: list[str] = []
    for step in steps:
        if step.statement.startswith("BEGIN"):
            begun.add(step.client)
        if step.reply.startswith("UPDATE") and step.client in begun:
            sentences.append(DONE_UNSEEN)
        else:
            sentences.append(_meaning(step))
        if step.statement in ("COMMIT", "ROLLBACK"):
            begun.discard(step.client)
    return sentences


def _meaning(step: ServerStep) -> str:
    for statement, reply, words in MEANINGS:
        if statement.match(step.statement) and reply.match(step.reply):
            return words
    return ""
