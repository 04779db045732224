"""Let other sites' pages do nothing with the lab except link to it.

Such a page, open in the instructor's browser, could make it request pictures and frames by the
hundred, each of them some work. The browser says whose request it is if it trusts the address
(Fetch Metadata; it trusts 127.0.0.1). Beyond loopback such requests come without the token's
cookie.
"""

from __future__ import annotations

from flask import Flask, Response, abort, request

from app.text import Text

OURS = ("same-origin", "none")  # none: typed, a bookmark; other programs send no such header
LINK = ("GET", "navigate", "document")
REFUSED = Text("Only our own pages may ask for this. Others may link to it.")


def refuse(app: Flask) -> None:
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
