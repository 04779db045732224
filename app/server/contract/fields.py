"""Parameters and headers that many operations have."""

from __future__ import annotations

from app.domain import ITEMS
from app.server.contract.operation import Field, Schema, string
from app.server.language import LANGUAGES
from app.server.parse import LARGEST
from app.service.purchase import LONGEST_KEY, MOST_UNITS
from app.service.selling import MARK
from app.text import Text

# Shorter and plainer than what we accept: every client can send it, and every log can show it.
KEY: Schema = {
    "type": "string",
    "maxLength": LONGEST_KEY,
    "pattern": f"^(?!{MARK})[!-~]([ -~]*[!-~])?$",
}
AN_ID = "0192f0c1-5d3e-7c41-9f10-2a6b8c9d0e1f"

ITEM = string(Text("An item of the catalogue."), next(iter(ITEMS)), ITEMS, required=True)
# Parts of a path that mean the same everywhere.
PATH = {
    "item": ITEM,
    "number": Field(
        Text("The number of a round; an item's first is 1."),
        {"type": "integer", "minimum": 0, "maximum": LARGEST},
        1,
        required=True,
    ),
    "filename": string(Text("One of the files that our pages load."), "design.css", required=True),
}
LANGUAGE = string(
    Text("The language of the answer; a cookie remembers it. Else the browser's is taken."),
    among=LANGUAGES,
)
# What a request may say in its head, by name.
REQUESTS = {
    "Idempotency-Key": Field(
        Text(
            "Makes a purchase of an item that is sent again the same order, for at least a day: "
            "one key has one order of each item. It alone proves whose order that is: make it "
            "random, and keep it secret."
        ),
        KEY,
        AN_ID,
    ),
    "Last-Event-ID": string(
        Text("The id of the last event that has come: those after it are sent.")
    ),
}


def _const(says: Text, const: str, required: bool = True) -> Field:
    return Field(says, {"const": const}, required=required)


# What an answer may say in its head.
ANSWERS = {
    "X-Request-Id": string(
        Text("The request's id, which the log has, too, and the order that it made."), required=True
    ),
    "Location": string(Text("Where to look next."), required=True),
    "Retry-After": Field(
        Text("How many seconds to wait before trying again."),
        {"type": "string", "pattern": "^[0-9]+$"},
        "1",
        required=True,
    ),
    "Set-Cookie": string(Text("The browser's signed cookie, by which its orders are found again.")),
    "Cache-Control": string(
        Text("An answer is of this moment, and is not to be kept; a file is asked for again."),
        required=True,
    ),
    "X-Content-Type-Options": _const(
        Text("A type is what it says, and is not to be guessed."), "nosniff"
    ),
    "Content-Disposition": string(Text("What to call the file."), required=True),
    "X-Accel-Buffering": _const(Text("A proxy must hand each event on at once."), "no"),
    "Cross-Origin-Opener-Policy": _const(
        Text("A window that another site has opened is not that site's any more."), "same-origin"
    ),
    # Of a page.
    "Content-Language": string(Text("The language of the page.")),
    "Content-Security-Policy": string(Text("What the page may load: only what comes from here.")),
    "Referrer-Policy": _const(
        Text("Other sites are not told where a link of the page was."), "same-origin", False
    ),
    "Vary": string(Text("What else the page depends on.")),
}
EVERY = ("X-Request-Id", "Cache-Control", "X-Content-Type-Options")
PAGES = ("Content-Language", "Content-Security-Policy", "Referrer-Policy", "Vary")
QUANTITY = Field(
    Text("How many units; a round may allow fewer in one order."),
    {"type": "integer", "minimum": 1, "maximum": MOST_UNITS, "default": 1},
    1,
    required_in_forms=True,
)
# An order in a path.
ORDER = {"id": Field(Text("An order's id."), {"type": "string", "format": "uuid"}, AN_ID, True)}
