"""What came of one purchase."""

from __future__ import annotations

from dataclasses import dataclass

from app.domain import Hold, Round, Sale
from app.store.redis import Wire


@dataclass(frozen=True, slots=True)
class Answer:
    """A sale, the round it was tried in, what it cost on the wire; the hold that it is, if any."""

    sale: Sale
    round: Round
    wire: Wire
    hold: Hold | None = None
