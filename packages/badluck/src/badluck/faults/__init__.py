"""Faults of a schedule, one file each, and how many of them a search allows."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from badluck.errors import BadluckError
from badluck.faults.crash import Crash
from badluck.faults.failover import Failover
from badluck.faults.fault import Fault
from badluck.faults.late_command import Late
from badluck.faults.lost_reply import LostReply
from badluck.faults.pause import Pause

__all__ = ["FAULTS", "Fault", "Faults"]

MAX_OF_A_KIND = 3  # of one kind
NONE = "none"


class Faults(NamedTuple):
    """How many faults of each kind may happen: the search's budget."""

    crash: int = 0
    pause: int = 0
    lost: int = 0
    late: int = 0
    failover: int = 0

    @classmethod
    def parse(cls, text: str) -> Faults:
        """Parse `crash=1,pause=2`, or `none`. Raises BadluckError for anything else."""
        counts: dict[str, int] = {}
        if text.strip() == NONE:
            return cls()
        for part in text.split(","):
            kind, _, count = (word.strip() for word in part.partition("="))
            if kind not in cls._fields:
                known = ", ".join(cls._fields)
                raise BadluckError(f"{kind!r} is not one of {known}; or all of it is {NONE!r}.")
            if kind in counts:
                raise BadluckError(f"{kind}= is there twice.")
            # Only plain digits: Python takes ² for one as well.
            if not (count.isascii() and count.isdigit()) or int(count) > MAX_OF_A_KIND:
                text = f"it needs a number, {kind}=1 (0 to {MAX_OF_A_KIND})"
                raise BadluckError(f"{part.strip()!r}: {text}.")
            counts[kind] = int(count)
        return cls(**counts)

    def less(self, name: str) -> Faults:
        return self._replace(**{name: getattr(self, name) - 1})

    def possible(self) -> tuple[tuple[Fault, Faults], ...]:
        """Return the faults that may happen, each with the budget after it."""
        return _possible(self)

    @property
    def forgets(self) -> bool:
        """May any of them lose the last write?"""
        return any(fault.forgets for fault, _ in self.possible())

    def spent_on_the_gone(self, start: Faults) -> bool:
        """Have all faults since `start` hit only actors that have crashed?"""
        return all(
            fault.ends_its_actor or getattr(self, name) == getattr(start, name)
            for name, fault in FAULTS.items()
        )


FAULTS: dict[str, Fault] = {
    fault.name: fault for fault in (Crash(), Pause(), LostReply(), Late(), Failover())
}


@cache
def _possible(faults: Faults) -> tuple[tuple[Fault, Faults], ...]:
    return tuple(
        (fault, faults.less(name)) for name, fault in FAULTS.items() if getattr(faults, name)
    )
