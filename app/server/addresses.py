"""Addresses in requests: any address from a client gets an answer in words.

A number in a path is at most LARGEST: nothing can exist beyond that, so such an address is unknown
(404). A Host that is no host name, or none of ours, is a bad request (400), and the page that says
so has links all the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from flask import Flask
from flask.ctx import RequestContext
from werkzeug.routing import IntegerConverter, Map

from app.server.parse import LARGEST


class Whole(IntegerConverter):
    """Converter of `<int:…>` in a route: 0 to LARGEST."""

    regex = "[0-9]{1,10}"

    def __init__(self, addresses: Map) -> None:
        super().__init__(addresses, max=LARGEST)


class Addressed(Flask):
    """A Flask whose templates are next to the views: "shop/order.html" is app/shop/order.html."""

    def __init__(self) -> None:
        super().__init__("app", template_folder=".")
        self.url_map.converters["int"] = Whole

    def ensure_sync(self, func: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function: none is a coroutine, and Flask would check that at each request."""
        return func

    def request_context(self, environ: dict[str, Any]) -> RequestContext:
        """Return the request's context; for a bad Host, with a map of our addresses.

        Flask's context has none then, and no page could be drawn, as each page has links. The
        context keeps the error that is to be answered.
        """
        context = super().request_context(environ)
        if context.url_adapter is None:
            context.request.host = ""  # else reading it would raise the same error again
            context.url_adapter = self.url_map.bind("localhost")
        return context


def host_in(address: str) -> str:
    """Return host and port of the address in a header; "" when it has none, or is no address."""
    try:
        return urlsplit(address).netloc
    except ValueError:
        return ""
