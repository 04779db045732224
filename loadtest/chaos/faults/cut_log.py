"""The store's machine loses its power: of its log remains what was synced."""

from __future__ import annotations

import os

from loadtest.chaos.faults.struck import MISSED, Struck
from loadtest.chaos.plan import Step
from loadtest.chaos.sight import Sight


def store(sight: Sight, _: Step) -> Struck:
    server = sight.shop.stores.primary
    if server.synced is None:
        return MISSED
    ops, unbooked = sight.aim(), sight.unbooked()
    server.process.kill()
    written, synced = server.log.stat().st_size, server.synced_length()
    if 0 < synced < written:
        os.truncate(server.log, synced)
    lost = max(0, written - synced) if synced else 0
    return Struck(f"{lost} bytes lost", ops, unbooked, sight.shop.revive)
