"""The shop's addresses in the local network, for phones."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Iterable
from urllib.parse import urlsplit

import psutil

from app.config import EVERYWHERE, Settings, is_loopback

# No packet is sent there (RFC 5737): it only makes the system choose the way out.
NOWHERE = ("192.0.2.1", 9)


def shop_addresses(settings: Settings) -> list[str]:
    """Return the shop's URLs for other machines, the likeliest first; none on loopback.

    It is SHOP_URL if that is set; otherwise the address that the shop listens on.
    """
    if settings.shop_url:
        host = urlsplit(settings.shop_url).hostname or ""
        return [] if is_loopback(host) else [settings.shop_url.rstrip("/")]
    return _urls(settings.shop_host, settings.shop_port)


def lab_addresses(settings: Settings) -> list[str]:
    """Return the lab's URLs for other machines, the likeliest first; none on loopback."""
    return _urls(settings.lab_host, settings.lab_port)


def _urls(host: str, port: int) -> list[str]:
    """Return URLs of a server that listens on `host`; for 0.0.0.0, one for each address."""
    if is_loopback(host):
        return []
    return [f"http://{each}:{port}" for each in (_here() if host == EVERYWHERE else [host])]


def _here() -> list[str]:
    """Return this machine's IPv4 addresses that others can reach."""
    up = {name for name, state in psutil.net_if_stats().items() if state.isup}
    reachable = [
        address.address
        for name, addresses in psutil.net_if_addrs().items()
        for address in addresses
        if name in up and address.family == socket.AF_INET
    ]
    return likeliest(reachable, _way_out())


def likeliest(hosts: Iterable[str], way_out: str) -> list[str]:
    """Return the addresses that others can reach, the one of the way out first.

    Leaves out loopback, and addresses that a machine gives itself without a DHCP server.
    """
    usable = [
        host
        for host in dict.fromkeys(hosts)
        if not (is_loopback(host) or ipaddress.ip_address(host).is_link_local)
    ]
    return sorted(usable, key=lambda host: host != way_out)


def _way_out() -> str:
    """Return our address on the way to the internet; "" without one."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(NOWHERE)
        except OSError:
            return ""
        host: str = probe.getsockname()[0]
        return host
