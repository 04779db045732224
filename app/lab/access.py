"""Let other sites' pages only link to the lab, and other machines need a token.

A page of another site, open in the instructor's browser, could make it request pictures and frames
by the hundred, each of them some work. The browser says whose request it is if it trusts the
address (Fetch Metadata; it trusts 127.0.0.1). Beyond loopback such requests come without the
token's cookie.

A projector on another machine opens an address that contains the token, printed at the start. The
first visit leaves it in a cookie and removes it from the address bar, which the class can read.
"""

from __future__ import annotations

import hmac
from urllib.parse import quote, urlencode

from flask import Flask, Response, abort, request

from app.server.answers import see_other
from app.text import Text

OURS = ("same-origin", "none")  # none: typed, a bookmark; other programs send no such header
LINK = ("GET", "navigate", "document")
REFUSED = Text("Only our own pages may ask for this. Others may link to it.")


def refuse_other_sites(app: Flask) -> None:
    """Answer 403 to all that another site's page embeds, fetches or loads without a click."""

    @app.before_request
    def only_links() -> None:
        headers = request.headers
        if headers.get("Sec-Fetch-Site", "none") in OURS:
            return
        fetch = request.method, headers.get("Sec-Fetch-Mode"), headers.get("Sec-Fetch-Dest")
        if fetch != LINK or "Sec-Purpose" in headers:
            abort(403, REFUSED)

    @app.after_request
    def let_go(answer: Response) -> Response:
        """Isolate a window that another page has opened: that page cannot navigate it any more."""
        answer.headers["Cross-Origin-Opener-Policy"] = "same-origin"
        return answer


NAME = "token"  # of the query's field
COOKIE = "lab"
OPEN = ("static", "health.alive", "health.ready")  # endpoints that show nothing of the class
NO_TOKEN = Text(
    "The lab is behind a token. Open the address with ?token=… that was printed where it was "
    "started; that is needed once."
)


def require_token(app: Flask, token: str) -> None:
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
            abort(403, NO_TOKEN)
        rest = [pair for pair in request.args.items(multi=True) if pair[0] != NAME]
        path = quote(request.path)  # begins with one slash: two would lead to another host
        answer = see_other(f"{path}?{urlencode(rest)}" if rest else path)
        answer.set_cookie(COOKIE, token, httponly=True, samesite="Lax")
        return answer
