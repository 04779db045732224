"""A power cut of the store's machine: only the synced part of its log is left."""

from __future__ import annotations

import os

from loadtest.chaos.fault_targeting import NO_TARGET, Effect, Targeting
from loadtest.chaos.plan import FaultStep


def store(targeting: Targeting, _: FaultStep) -> Effect:
    server = targeting.shop.stores.primary
    if server.synced is None:
        return NO_TARGET
    ops, unbooked = targeting.aim(), targeting.unbooked()
    server.process.kill()
    written, synced = server.log.stat().st_size, server.synced_length()
    if synced < written:
        os.truncate(server.log, synced)
    return Effect(f"{max(0, written - synced)} bytes lost", ops, unbooked, targeting.shop.revive)
