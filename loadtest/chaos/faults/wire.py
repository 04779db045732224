"""What a proxy does to what comes by: replies lost, held back or cut, connections half open."""

from __future__ import annotations

from loadtest.chaos.faults.struck import MISSED, Struck
from loadtest.chaos.plan import Step
from loadtest.chaos.proxy import Conduct, Proxy
from loadtest.chaos.sight import Sight
from loadtest.chaos.words import Kind, Where

CONDUCT = {
    Kind.SWALLOW: Conduct.SWALLOW,
    Kind.DELAY: Conduct.DELAY,
    Kind.HALF_OPEN: Conduct.HALF_OPEN,
}


def strike(sight: Sight, step: Step) -> Struck:
    """On one of the ways. It met the requests of meanwhile, if anything of its own came by."""
    way = _way(sight, step)
    if way is None:
        return MISSED
    conduct = CONDUCT.get(step.kind) or (Conduct.SEVER if step.fate < 0.6 else Conduct.REFUSE)
    unbooked = sight.aim_at_a_sale() if step.where is Where.FULFIL else 0
    ops = sight.aim() if step.where is not Where.FULFIL else set()
    before = way.touched
    way.behave(conduct, step.delay)

    def late() -> set[int]:
        return sight.ops() if way.touched > before else set()

    told = f"{conduct.value} {step.delay:g} s" if conduct is Conduct.DELAY else conduct.value
    return Struck(told, ops, unbooked, lambda: sight.shop.proxies.heal(way), late)


def _way(sight: Sight, step: Step) -> Proxy | None:
    shop = sight.shop
    if step.where is Where.DATABASE:
        ways = shop.database.ways
        return ways[int(step.fate * 1000) % len(ways)] if ways else None
    return {Where.SHOP: shop.front, Where.STORE: shop.selling, Where.FULFIL: shop.moving}[
        step.where
    ]
