"""Proxies before the shop: their headers about the customer, and cookies that need https.

The lab trusts no proxy. On loopback it asks for no token, and a page elsewhere, whose name leads to
this machine, may send any headers.
"""

from __future__ import annotations

from flask import Flask, current_app, request
from werkzeug.middleware.proxy_fix import ProxyFix


def secure() -> bool:
    """Return whether a cookie of this answer must travel by https only."""
    return bool(current_app.config["SESSION_COOKIE_SECURE"]) or request.is_secure


def believe(app: Flask, proxies: int) -> None:
    """Trust the headers of the last `proxies` proxies: the customer's address, scheme and Host."""
    if proxies:
        fix = ProxyFix(app.wsgi_app, x_for=proxies, x_proto=proxies, x_host=proxies)
        app.wsgi_app = fix  # type: ignore[method-assign]  # as Flask documents it
