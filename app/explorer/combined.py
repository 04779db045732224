"""A mode that sells to several in one go: each actor is a worker that does so, for two buyers.

The first order of each has a key of its own. The second ones all have the same key, as a press has
that is sent again and meets another worker: they must come to one order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from badluck.actor.actor import Actor
from badluck.findings.rule import Ending, OfEnd, OfState, Rule, View

from app.domain import Order, Outcome, Round, Sale
from app.explorer.servers import GateServers
from app.explorer.targets import Target
from app.modes import MODES, SQL

BEHIND = ":combined"  # a mode's name
NAMES = [name + BEHIND for name in MODES if name not in SQL and hasattr(MODES[name], "sell_all")]
FIRST, AGAIN = "1", "2"  # behind a worker's name: its buyers


@dataclass(frozen=True)
class Combined(Target):
    @cached_property
    def round(self) -> Round:
        return replace(self.usual_round(), mode=self.name.removesuffix(BEHIND))

    @property
    def alike(self) -> bool:
        return False  # what a worker is told may name another one's order

    @property
    def rules(self) -> Sequence[Rule]:
        gravest, *others = map(_of_each_buyer, super().rules)
        return gravest, TWICE, *others

    @property
    def gave_up(self) -> str:
        return f"{Outcome.BUSY} {Outcome.BUSY}"

    @property
    def setting(self) -> str:
        return f"{super().setting}, two orders of each worker, their second ones under one key"

    def order(self, buyer: str) -> Order:
        order = super().order(buyer)
        return replace(order, key="key-again") if buyer.endswith(AGAIN) else order

    def _purchase(self, buyer: Actor) -> str:
        """Two words: the outcome, or whose order it is that was sold."""
        servers: Any = GateServers(self.resend)
        clock: Any = buyer.clock
        mode: Any = MODES[self.round.mode](servers, clock, self.round)
        orders = [self.order(buyer.name + which) for which in (FIRST, AGAIN)]
        return " ".join(map(_word, mode.sell_all(orders)))


def _word(sale: Sale) -> str:
    return sale.order.id if sale.order else sale.outcome


def _told(view: View) -> View:
    """With the words of each buyer, as if each had come by itself."""
    words: list[tuple[str, str]] = []
    for worker, said in view.told.words:
        for which, word in zip((FIRST, AGAIN), [*said.split(), said], strict=False):
            sold = word.startswith("order-")
            whose = word.removeprefix("order-") if sold else worker + which
            words.append((whose, Outcome.SOLD if sold else word))
    return view._replace(told=view.told._replace(words=tuple(dict.fromkeys(words))))


def _of_each_buyer(rule: Rule) -> Rule:
    if isinstance(rule, OfState):
        of_state: Callable[[View], bool] = rule.wrong
        return replace(rule, wrong=lambda view: of_state(_told(view)))
    if isinstance(rule, OfEnd):
        of_end: Callable[[Ending], bool] = rule.wrong
        return replace(rule, wrong=lambda end: of_end(end._replace(view=_told(end.view))))
    return rule


def _two_under_one_key(view: View) -> bool:
    return len({sale.id for sale in view.book.sales if sale.id.endswith(AGAIN)}) > 1


TWICE = OfState(
    "one key, two orders",
    "Two presses under one idempotency key were sold as two orders.",
    _two_under_one_key,
)
