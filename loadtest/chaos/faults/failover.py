"""A failover to a replica that has not heard of the last writes."""

from __future__ import annotations

from loadtest.chaos.fault_targeting import NO_TARGET, Effect, Targeting
from loadtest.chaos.plan import FaultStep
from loadtest.chaos.proxy import Conduct


def failover(targeting: Targeting, step: FaultStep) -> Effect:
    """The replica hears nothing for the step's seconds; then the primary dies, and it is it."""
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
            effect.happened = False  # another fault has come first: there is nobody to take over
        shop.proxies.heal(stores.hearing)

    effect.end = end
    return effect
