"""The code that actors run, and what is to be known of it beforehand."""

from __future__ import annotations

from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING, NamedTuple

from badluck.actor.command_text import CommandText

if TYPE_CHECKING:
    from badluck.actor.actor import Actor


class Files(NamedTuple):
    """Whose lines are named where something is wrong with the code."""

    name: str  # of all of them
    own: Callable[[str], bool]  # is that the path of one?

    def innermost(self, frame: FrameType | None) -> FrameType | None:
        """Of these, the first from `frame` outward."""
        while frame and not self.own(frame.f_code.co_filename):
            frame = frame.f_back
        return frame


class Code(NamedTuple):
    """Modules are named by how their names begin: `app.modes.`"""

    work: Callable[[Actor], str]  # to its end; answers what the actor is told
    errors: tuple[type[BaseException], ...] = ()  # beside redis-py's: the actor is told ERROR
    section: str = ""  # the function that none but the lock's holder may be in
    shown: tuple[str, ...] = ()  # modules whose lines are shown; the first, where work begins
    harness: tuple[str, ...] = ()  # modules of whoever explores: what they hold decides nothing
    counters: tuple[type, ...] = ()  # nor what these hold, and it changes at every poll
    words: CommandText = CommandText()
    keys: tuple[bytes, ...] = ()  # beside those that the store has at first: no slips of the pen
    files: Files = Files("the code", lambda _: False)
