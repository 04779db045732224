"""What an instructor should know of a round before the class finds out."""

from __future__ import annotations

from app.domain import Round
from app.modes import Way
from app.service import catalogue
from app.text import Text


def warnings(round: Round) -> list[str]:
    """Sentences, each a Text; none for a round that keeps what it promises."""
    said: list[str] = []
    way = Way.of(round.mode)
    if way.exhibit:
        breaks = catalogue.breaks(way)
        said.append(
            Text("%(mode)s is broken on purpose: %(breaks)s.", mode=round.mode, breaks=breaks)
        )
    if (expected := catalogue.outlived(way)) and round.think >= round.lease:
        said.append(
            Text(
                "The work (%(think)s s of thinking) will outlive the lease (%(lease)s s): "
                "expect %(expected)s.",
                think=round.think / 1000,
                lease=round.lease / 1000,
                expected=expected,
            )
        )
    if (why := way.mode.no_think) and round.think:
        said.append(why)
    return said
