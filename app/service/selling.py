"""A running round as one worker knows it, and how it sells in it."""

from __future__ import annotations

from dataclasses import dataclass

from app.domain import Round
from app.modes import MODES, Mode
from app.service.round_clock import RoundClock
from app.store.keys import Keys
from app.store.servers import Servers


@dataclass(frozen=True, slots=True)
class Selling:
    round: Round
    mode: Mode
    clock: RoundClock
    keys: Keys

    @classmethod
    def of(cls, round: Round, servers: Servers) -> Selling:
        clock = RoundClock()
        mode = MODES[round.mode.partition(":")[0]](servers, clock, round)
        return cls(round, mode, clock, Keys(round.item, round.number))
