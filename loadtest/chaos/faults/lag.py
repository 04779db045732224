"""A failover to a replica that has not heard of the last writes."""

from __future__ import annotations

from loadtest.chaos.faults.struck import MISSED, Struck
from loadtest.chaos.plan import Step
from loadtest.chaos.proxy import Conduct
from loadtest.chaos.sight import Sight


def failover(sight: Sight, step: Step) -> Struck:
    """The replica hears nothing for the step's seconds; then the primary dies, and it is it."""
    shop, stores = sight.shop, sight.shop.stores
    if not stores.in_step():
        return MISSED
    stores.hearing.behave(Conduct.HALF_OPEN)
    struck = Struck(f"behind by {step.seconds:g} s", sight.aim(), late=sight.ops)

    def end() -> None:
        if stores.replica.serves():
            struck.unbooked = sight.unbooked()
            stores.failover([shop.selling, shop.moving, shop.plain])
        else:
            struck.happened = False  # another fault has come first: there is nobody to take over
        shop.proxies.heal(stores.hearing)

    struck.end = end
    return struck
