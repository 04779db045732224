"""Where phones find the shop: its addresses in the local network."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Iterable
from urllib.parse import urlsplit

import psutil

from app.config import EVERYWHERE, Settings, is_loopback

# No packet goes there (RFC 5737): it only makes the system choose the way out.
NOWHERE = ("192.0.2.1", 9)


def shop_addresses(settings: Settings) -> list[str]:
    """The shop's URLs for other machines, the likeliest first; none when it is on loopback.

    SHOP_URL says it when it is set; else it is the address that the shop listens on.
    """
    if settings.shop_url:
        host = urlsplit(settings.shop_url).hostname or ""
        return [] if is_loopback(host) else [settings.shop_url.rstrip("/")]
    return _urls(settings.shop_host, settings.shop_port)


def lab_addresses(settings: Settings) -> list[str]:
    """The lab's, likewise."""
    return _urls(settings.lab_host, settings.lab_port)


def _urls(host: str, port: int) -> list[str]:
    """Where others reach who listens there: on all addresses, each that this machine has."""
    if is_loopback(host):
        return []
    return [f"http://{each}:{port}" for each in (_here() if host == EVERYWHERE else [host])]


def _here() -> list[str]:
    """This machine's IPv4 addresses that others can reach."""
    up = {name for name, state in psutil.net_if_stats().items() if state.isup}
    reachable = [
        address.address
        for name, addresses in psutil.net_if_addrs().items()
        for address in addresses
        if name in up and address.family == socket.AF_INET
    ]
    return likeliest(reachable, _way_out())


def likeliest(hosts: Iterable[str], way_out: str) -> list[str]:
    """Without those that are nobody else's; that of the way out first.

    That is loopback, and what a machine gives itself when nobody gave it an address.
    """
    usable = [
        host
        for host in dict.fromkeys(hosts)
        if not (is_loopback(host) or ipaddress.ip_address(host).is_link_local)
    ]
    return sorted(usable, key=lambda host: host != way_out)


def _way_out() -> str:
    """Our address on the way to anywhere; "" without one."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(NOWHERE)
        except OSError:
            return ""
        host: str = probe.getsockname()[0]
        return host
