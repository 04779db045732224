"""What `lastapple explore --save` wrote, of any target."""

from __future__ import annotations

from dataclasses import asdict

from badluck.report.checked_json import CheckedJson

from app.domain import ROUND_BOUNDS
from app.explorer import recorded
from app.explorer.hold_target import Holding
from app.explorer.recorded import Recorded
from app.explorer.repairing import REPAIRS, Repairing
from app.explorer.targets import Target


def read(text: bytes) -> Recorded:
    """Raises Invalid, with what is wrong, when it is nothing that we wrote."""
    return recorded.read(text, _of_this_room)


def _of_this_room(document: CheckedJson) -> Target | None:
    if document.members.get("target") in tuple(REPAIRS):
        accepts = bool(document.number("accepts", 0, 1))
        return Repairing(document.text("target"), accepts=accepts)
    if "hold_ms" not in document.members:
        return None
    usual, bound = recorded.mode_of(document), ROUND_BOUNDS["hold"]
    return Holding(**asdict(usual), hold=document.number("hold_ms", 1, bound.high))
