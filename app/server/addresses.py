"""Addresses as strangers send them: whatever stands in one, it is answered in words.

A part of a path that is a number is at most LARGEST: beyond that nothing can exist, and the address
is unknown (404). A Host that is no host's name, or none of ours, is a bad request (400), and the
page that says so has links all the same.
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
    """`<int:…>` in a route."""

    regex = "[0-9]{1,10}"

    def __init__(self, addresses: Map) -> None:
        super().__init__(addresses, max=LARGEST)


class Addressed(Flask):
    """A Flask whose templates stand beside the views: "shop/order.html" is app/shop/order.html."""

    def __init__(self) -> None:
        super().__init__("app", template_folder=".")
        self.url_map.converters["int"] = Whole

    def ensure_sync(self, func: Callable[..., Any]) -> Callable[..., Any]:
        """No function of ours is a coroutine. Flask would look at each of them for each request."""
        return func

    def request_context(self, environ: dict[str, Any]) -> RequestContext:
        """For a bad Host, Flask's has no map of our addresses, and no page could be drawn: each has
        links. It keeps the error that is to be answered."""
        context = super().request_context(environ)
        if context.url_adapter is None:
            context.request.host = ""  # who asks for it shall not be told of the same error again
            context.url_adapter = self.url_map.bind("localhost")
        return context


def host_in(address: str) -> str:
    """Host and port of the address in a header; "" when it has none, or is no address."""
    try:
        return urlsplit(address).netloc
    except ValueError:
        return ""
