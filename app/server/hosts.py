"""The host names that a server answers to: its own, and those of ALLOWED_HOSTS.

A page elsewhere could let a name of its own lead to us, and would then be of our origin: it could
buy in a visitor's name (DNS rebinding). No page can do that with a number for a name.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Iterable
from functools import lru_cache

from flask import Flask, abort, request

from app.text import Text

HOST = re.compile(r"(\[[^]]*\]|[^:]*)(:\d*)?")  # and its port
SEEN = 1_000  # Host headers whose verdict is kept; a shop has a handful
REFUSED = Text(
    "This server does not know the host name in this request (its Host header). If the name is "
    "yours, add it to the setting ALLOWED_HOSTS."
)


def refuse_others(app: Flask, bound: str, others: Iterable[str]) -> None:
    """Answer 400 for a Host that is none of ours. `bound` is the address the server listens on.

    A request without a Host is answered: no browser sends one.
    """
    names = Names(bound, others)
    ours = lru_cache(SEEN)(names.have)

    @app.before_request
    def only_ours() -> None:
        host = request.environ.get("HTTP_HOST")
        if host is not None and not ours(host):
            abort(400, REFUSED)


class Names:
    def __init__(self, bound: str, others: Iterable[str]) -> None:
        """`others` as in ALLOWED_HOSTS."""
        address = _address(bound)
        self.anywhere = address is not None and address.is_unspecified
        machine = socket.gethostname().lower()
        local = [machine, f"{machine.partition('.')[0]}.local"] if self.anywhere else []
        named = [name.lower() for name in others]
        self.exact = {"localhost", bound.lower(), *local, *named}
        self.below = tuple(name for name in named if name.startswith("."))
        self.any = "*" in named

    def have(self, host: str) -> bool:
        """Return whether this Host header is one of ours.

        The port is ignored: a proxy has its own.
        """
        match = HOST.fullmatch(host)
        if match is None or not match[1]:
            return False
        name = match[1].lower().removesuffix(".")
        if self.any or name in self.exact or f".{name}".endswith(self.below or ("\0",)):
            return True
        address = _address(name.strip("[]"))
        return address is not None and (self.anywhere or address.is_loopback)


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None
