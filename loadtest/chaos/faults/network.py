"""Faults of the network, by a proxy: lost, late or cut replies, half-open connections."""

from __future__ import annotations

from loadtest.chaos.fault_targeting import NO_TARGET, Effect, Targeting
from loadtest.chaos.history import Kind, Part
from loadtest.chaos.plan import FaultStep
from loadtest.chaos.proxy import Conduct, Proxy

CONDUCT = {
    Kind.SWALLOW: Conduct.SWALLOW,
    Kind.DELAY: Conduct.DELAY,
    Kind.HALF_OPEN: Conduct.HALF_OPEN,
}


def strike(targeting: Targeting, step: FaultStep) -> Effect:
    """Disturb one proxy. Hits are the requests meanwhile, if any of its own traffic passed."""
    proxy = _choose_proxy(targeting, step)
    if proxy is None:
        return NO_TARGET
    conduct = CONDUCT.get(step.kind) or (Conduct.SEVER if step.fate < 0.6 else Conduct.REFUSE)
    unbooked = targeting.aim_at_a_sale() if step.where is Part.FULFIL else 0
    ops = targeting.aim() if step.where is not Part.FULFIL else set()
    before = proxy.touched
    proxy.behave(conduct, step.delay)

    def late() -> set[int]:
        return targeting.ops() if proxy.touched > before else set()

    detail = f"{conduct.value} {step.delay:g} s" if conduct is Conduct.DELAY else conduct.value
    return Effect(detail, ops, unbooked, lambda: targeting.shop.proxies.heal(proxy), late)


def _choose_proxy(targeting: Targeting, step: FaultStep) -> Proxy | None:
    shop = targeting.shop
    if step.where is Part.DATABASE:
        proxies = shop.database.proxies
        return proxies[int(step.fate * 1000) % len(proxies)] if proxies else None
    return {Part.SHOP: shop.front, Part.STORE: shop.selling, Part.FULFIL: shop.moving}[step.where]
