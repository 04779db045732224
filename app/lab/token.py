"""Protect the lab by a token, for a projector on another machine.

The address printed at the start contains the token. The first visit leaves it in a cookie and
removes it from the address bar, which the whole class can read.
"""

from __future__ import annotations

import hmac
from urllib.parse import quote, urlencode

from flask import Flask, Response, abort, request

from app.server.answers import see_other
from app.text import Text

NAME = "token"  # of the query's field
COOKIE = "lab"
OPEN = ("static", "health.alive", "health.ready")  # endpoints that show nothing of the class
REFUSED = Text(
    "The lab is behind a token. Open the address with ?token=… that was printed where it was "
    "started; that is needed once."
)


def require(app: Flask, token: str) -> None:
    """Refuse (403) a client without `token`, in the address or in the cookie that it leaves."""

    def is_it(shown: str) -> bool:
        return hmac.compare_digest(shown.encode(), token.encode())  # in constant time

    @app.before_request
    def admit() -> Response | None:
        if request.endpoint in OPEN or is_it(request.cookies.get(COOKIE, "")):
            return None
        if is_it(request.headers.get("Authorization", "").removeprefix("Bearer ")):
            return None  # a program; a browser lets no page elsewhere send this without a preflight
        if request.method != "GET" or not is_it(request.args.get(NAME, "")):
            abort(403, REFUSED)
        rest = [pair for pair in request.args.items(multi=True) if pair[0] != NAME]
        path = quote(request.path)  # begins with one slash: two would lead to another host
        answer = see_other(f"{path}?{urlencode(rest)}" if rest else path)
        answer.set_cookie(COOKIE, token, httponly=True, samesite="Lax")
        return answer
