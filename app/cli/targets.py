"""The targets and options of `lastapple explore`, and the combinations that are refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from app.cli.user_code_errors import student
from app.explorer import targets
from app.explorer.student import Student
from app.service.catalogue import parse_way

if TYPE_CHECKING:
    from app.explorer.repairing import Repairing

# The options of a repair: all others are about a sale.
OF_A_REPAIR = {"TARGET", "--buyers", "--faults", "--all-findings", "--save", "--json"}


def check(target: str | None, per_buyer: int, holds: bool, again: bool) -> None:
    """Raise UsageError for options that do not fit the target, or each other."""
    elsewhere = bool(target) and (str(target).endswith(".py") or targets.in_sql(str(target)))
    for given, name in ((per_buyer, "--per-buyer"), (holds, "--holds")):
        if given and elsewhere:
            raise click.UsageError(f"{name} is for modes that sell from the store.")
    if holds and (per_buyer or again):
        other = "--per-buyer" if per_buyer else "--again"
        raise click.UsageError(f"--holds and {other} are explored apart: leave out one of the two.")


def sale(
    name: str, stock: int, quantity: int, resend: bool, per_buyer: int, holds: bool
) -> targets.Target | Student:
    """Return the target of a sale. Raises Invalid."""
    if name.endswith(".py"):
        return student(name, stock, quantity, resend)
    name = parse_way(name).name
    targets.check(name)
    if holds:
        from app.explorer.hold_target import Holding  # here, and below: most do without

        return Holding(name, stock, quantity, resend=resend)
    return targets.Target(name, stock, quantity, resend=resend, per_buyer=per_buyer)


def is_repair(name: str) -> bool:
    if not name.startswith("repair"):
        return False
    from app.explorer.repairing import REPAIRS

    return name in REPAIRS


def repair(name: str, buyers: int, given: set[str]) -> Repairing:
    """Return the target of a repair. Raises UsageError for an option in `given` that it lacks."""
    from app.explorer.repairing import MOST, Repairing

    if others := given - OF_A_REPAIR:
        raise click.UsageError(f"{name} sells nothing: leave out {', '.join(sorted(others))}.")
    if buyers > MOST:
        raise click.UsageError(f"{name} has {MOST} actors at the most.")
    return Repairing(name, accepts=buyers == MOST)
