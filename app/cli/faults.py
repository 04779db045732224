"""`--faults crash=1,pause=2`: how often each may happen."""

from __future__ import annotations

import click
from badluck.errors import BadluckError
from badluck.faults import Faults


class FaultsType(click.ParamType[Faults]):
    name = "faults"

    def convert(
        self, value: str | Faults, param: click.Parameter | None, ctx: click.Context | None
    ) -> Faults:
        if isinstance(value, Faults):
            return value
        try:
            return Faults.parse(value)
        except BadluckError as error:
            self.fail(str(error), param, ctx)
