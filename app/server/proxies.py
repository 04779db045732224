"""A proxy before the shop: what it says of the customer, and cookies that travel by https only.

The lab believes no proxy: on loopback it asks for no token, and a page elsewhere, whose name has
been made to lead there, may send what headers it likes.
"""

from __future__ import annotations

from flask import Flask, current_app, request
from werkzeug.middleware.proxy_fix import ProxyFix


def secure() -> bool:
    """Shall a cookie of this answer travel by https only?"""
    return bool(current_app.config["SESSION_COOKIE_SECURE"]) or request.is_secure


def believe(app: Flask, proxies: int) -> None:
    """What the last so many proxies say: the customer's address, scheme and Host."""
    if proxies:
        fix = ProxyFix(app.wsgi_app, x_for=proxies, x_proto=proxies, x_host=proxies)
        app.wsgi_app = fix  # type: ignore[method-assign]
