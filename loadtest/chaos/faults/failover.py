"""A failover to a replica that has missed the last writes."""

from __future__ import annotations

from loadtest.chaos.fault_targeting import NO_TARGET, Effect, Targeting
from loadtest.chaos.plan import FaultStep
from loadtest.chaos.proxy import Conduct


def failover(targeting: Targeting, step: FaultStep) -> Effect:
    """Cut the replica off for the step's seconds, kill the primary, and promote the replica."""
    shop, stores = targeting.shop, targeting.shop.stores
    if not stores.in_step():
        return NO_TARGET
    stores.hearing.behave(Conduct.HALF_OPEN)
    effect = Effect(f"behind by {step.seconds:g} s", targeting.aim(), late=targeting.ops)

    def end() -> None:
        if stores.replica.serves():
            effect.unbooked = targeting.unbooked()
            stores.failover([shop.selling, shop.moving, shop.plain])
        else:
            effect.happened = False  # another fault came first: there is no replica to promote
        shop.proxies.heal(stores.hearing)

    effect.end = end
    return effect
