"""Notes that a figure needs to be read correctly, each with gaps for its values."""

from __future__ import annotations

from typing import NamedTuple


class Remark(NamedTuple):
    """A template; `many` is used for all numbers `num` except 1.

    A page in several languages looks the templates up in a catalogue.
    """

    template: str
    many: str = ""

    def say(self, **values: object) -> str:
        """Return its English text, with commas in whole numbers from 1,000."""
        chosen = self.many if self.many and values["num"] != 1 else self.template
        texts = {
            name: f"{value:,}" if isinstance(value, int) else value
            for name, value in values.items()
        }
        return chosen % texts


def counted(template: str, many: str) -> Remark:
    """Make a remark with two forms; tools that collect texts recognise this function's name."""
    return Remark(template, many)


BOUND = Remark(
    "%(mode)s: the buyers' program itself was the limit in repeat %(repeats)s, so there is no "
    "ratio."
)
ERRORS = counted("%(mode)s: %(num)s answer was an error.", "%(mode)s: %(num)s answers were errors.")
BUSY = counted(
    "%(mode)s: %(num)s time a buyer was sent away (BUSY).",
    "%(mode)s: %(num)s times a buyer was sent away (BUSY).",
)
