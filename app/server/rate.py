"""How often one address may ask to buy, where SHOP_RATE says so.

Each worker counts for itself, in its memory. This machine is never counted: stampedes and load
tests ask from here.
"""

from __future__ import annotations

import ipaddress
import math
import time
from collections.abc import Callable

from flask import Flask, request

from app.domain import TooOften

NETWORK = 64  # bits of an IPv6 address: one customer has all that begin with them


def limiter(app: Flask, rate: str) -> Callable[[], None]:
    """What to call in a request that asks to buy. It raises TooOften."""
    if not rate:
        return lambda: None
    from flask_limiter import Limiter, RateLimitExceeded  # a second, for a rare setting

    limits = Limiter(address, app=app, storage_uri="memory://", strategy="moving-window")

    @limits.limit(rate, exempt_when=lambda: _is_ours(request.remote_addr or ""))
    def count() -> None:
        """Nothing but counted."""

    def ask() -> None:
        try:
            count()
        except RateLimitExceeded:
            now = limits.current_limit
            raise TooOften(max(1, math.ceil(now.reset_at - time.time()) if now else 1)) from None

    return ask


def address() -> str:
    """Whom a request is counted for."""
    remote = request.remote_addr or ""
    ip = _parsed(remote)
    if isinstance(ip, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((ip, NETWORK), strict=False))
    return str(ip or remote)


def _is_ours(said: str) -> bool:
    ip = _parsed(said)
    return ip is not None and ip.is_loopback


def _parsed(said: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """None: it is none, as proxies may write what they like."""
    try:
        ip = ipaddress.ip_address(said)
    except ValueError:
        return None
    return getattr(ip, "ipv4_mapped", None) or ip
