"""What other sites' pages may do with the lab: link to it, and nothing else.

Such a page, open in the instructor's browser, could make it ask us for pictures and frames by the
hundred, each of them some work. The browser says whose request it is, if it trusts the address
(Fetch Metadata: 127.0.0.1 it does). Beyond loopback such requests come without the token's cookie.
"""

from __future__ import annotations

from flask import Flask, Response, abort, request

from app.text import Text

OURS = ("same-origin", "none")  # none: typed, a bookmark; what is no browser says nothing
LINK = ("GET", "navigate", "document")
REFUSED = Text("Only our own pages may ask for this. Others may link to it.")


def refuse(app: Flask) -> None:
    """403 for what another site's page embeds, fetches or loads before anybody has pressed."""

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
        """A window that another page has opened: it cannot be sent from one search to the next."""
        answer.headers["Cross-Origin-Opener-Policy"] = "same-origin"
        return answer
