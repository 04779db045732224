"""`--faults crash=1,pause=2`: how often each may happen."""

from __future__ import annotations

import click
from badluck.faults import Faults

MOST = 3  # of one kind
NONE = "none"


class FaultsType(click.ParamType[Faults]):
    name = "faults"

    def convert(
        self, value: str | Faults, param: click.Parameter | None, ctx: click.Context | None
    ) -> Faults:
        if isinstance(value, Faults):
            return value
        counts: dict[str, int] = {}
        if value.strip() == NONE:
            return Faults()
        for part in value.split(","):
            kind, _, count = (word.strip() for word in part.partition("="))
            if kind not in Faults._fields:
                known = ", ".join(Faults._fields)
                self.fail(f"{kind!r} is not one of {known}; {NONE} stands alone.", param, ctx)
            if kind in counts:
                self.fail(f"{kind}= is there twice.", param, ctx)
            # Only plain digits: to Python ² is one as well.
            if not (count.isascii() and count.isdigit()) or int(count) > MOST:
                self.fail(f"{part.strip()!r}: {kind}= needs 0 to {MOST}.", param, ctx)
            counts[kind] = int(count)
        return Faults(**counts)
