"""A running round as one worker knows it, and how its threads sell in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from app.domain import Order, Round, Sale
from app.modes import MODES, Mode, SellsAll
from app.service.round_clock import RoundClock
from app.store.combining import Combining
from app.store.keys import Keys
from app.store.servers import Servers


@dataclass(frozen=True, slots=True)
class Selling:
    round: Round
    mode: Mode
    clock: RoundClock
    keys: Keys
    sell: Callable[[Order], Sale]  # the mode's, or that of several threads together

    @classmethod
    def of(cls, round: Round, servers: Servers) -> Selling:
        clock = RoundClock()
        mode = MODES[round.mode.partition(":")[0]](servers, clock, round)
        sell = mode.sell
        # Who thinks between read and write does so alone: that is what such a round shows.
        if servers.settings.shop_combine == "on" and isinstance(mode, SellsAll) and not round.think:
            sell = Combining(mode.sell, mode.sell_all).sell
        return cls(round, mode, clock, Keys(round.item, round.number), sell)
