"""Limit how often one address may try to buy, where SHOP_RATE says so.

Each worker counts for itself, in its memory. This machine is never counted: stampedes and load
tests run on it.
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
    """Return the function to call in each request to buy: it raises TooOften above `rate`."""
    if not rate:
        return lambda: None
    from flask_limiter import Limiter, RateLimitExceeded  # a second, for a rare setting

    limits = Limiter(address, app=app, storage_uri="memory://", strategy="moving-window")

    @limits.limit(rate, exempt_when=lambda: _is_ours(request.remote_addr or ""))
    def count() -> None:
        """Do nothing except count."""

    def ask() -> None:
        try:
            count()
        except RateLimitExceeded:
            now = limits.current_limit
            raise TooOften(max(1, math.ceil(now.reset_at - time.time()) if now else 1)) from None

    return ask


def address() -> str:
    """Return the client's address by which a request is counted: of IPv6, its network."""
    remote = request.remote_addr or ""
    ip = _parsed(remote)
    if isinstance(ip, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((ip, NETWORK), strict=False))
    return str(ip or remote)


def _is_ours(said: str) -> bool:
    ip = _parsed(said)
    return ip is not None and ip.is_loopback


def _parsed(said: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Return the address; None if `said` is not one, as proxies may write anything."""
    try:
        ip = ipaddress.ip_address(said)
    except ValueError:
        return None
    return getattr(ip, "ipv4_mapped", None) or ip
