"""Parameters and headers that many operations have."""

from __future__ import annotations

from app.domain import ITEMS
from app.server.contract.parts import Field, Schema
from app.server.language import LANGUAGES
from app.server.parse import LARGEST
from app.service.purchase import LONGEST_KEY, MOST_UNITS
from app.service.selling import MARK
from app.text import Text

# Shorter and plainer than what is taken: every client can send it, and every log can show it.
KEY: Schema = {
    "type": "string",
    "maxLength": LONGEST_KEY,
    "pattern": f"^(?!{MARK})[!-~]([ -~]*[!-~])?$",
}
UUID: Schema = {"type": "string", "format": "uuid"}
AN_ID = "0192f0c1-5d3e-7c41-9f10-2a6b8c9d0e1f"

ITEM = Field(
    says=Text("An item of the catalogue."),
    schema={"type": "string", "enum": list(ITEMS)},
    example=next(iter(ITEMS)),
    required=True,
)
# Parts of a path that mean the same everywhere.
PATH: dict[str, Field] = {
    "item": ITEM,
    "number": Field(
        says=Text("The number of a round; an item's first is 1."),
        schema={"type": "integer", "minimum": 0, "maximum": LARGEST},
        example=1,
        required=True,
    ),
    "filename": Field(
        says=Text("One of the files that our pages load."),
        schema={"type": "string"},
        example="design.css",
        required=True,
    ),
}
LANGUAGE = Field(
    says=Text("The language of the answer; a cookie remembers it. Else the browser's is taken."),
    schema={"type": "string", "enum": list(LANGUAGES)},
)
# What a request may say in its head, by name.
REQUESTS: dict[str, Field] = {
    "Idempotency-Key": Field(
        says=Text(
            "Makes a purchase of an item that is sent again the same order, for at least a day: "
            "one key has one order of each item. It alone proves whose order that is: make it "
            "random, and keep it secret."
        ),
        schema=KEY,
        example=AN_ID,
    ),
    "Last-Event-ID": Field(
        says=Text("The id of the last event that has come: those after it are sent."),
        schema={"type": "string"},
    ),
    "Accept-Language": Field(
        says=Text("In which language to answer, if neither address nor cookie says."),
        schema={"type": "string"},
        example="zh-CN, en;q=0.5",
    ),
}
# What an answer may say in its head.
ANSWERS: dict[str, Field] = {
    "X-Request-Id": Field(
        says=Text("The request's id, which the log has, too, and the order that it made."),
        schema={"type": "string"},
        required=True,
    ),
    "Location": Field(says=Text("Where to look next."), schema={"type": "string"}, required=True),
    "Retry-After": Field(
        says=Text("How many seconds to wait before trying again."),
        schema={"type": "string", "pattern": "^[0-9]+$"},
        example="1",
        required=True,
    ),
    "Set-Cookie": Field(
        says=Text("The browser's signed cookie, by which its orders are found again."),
        schema={"type": "string"},
    ),
    "Cache-Control": Field(
        says=Text("An answer is of this moment, and is not to be kept; a file is asked for again."),
        schema={"type": "string"},
        required=True,
    ),
    "X-Content-Type-Options": Field(
        says=Text("A type is what it says, and is not to be guessed."),
        schema={"const": "nosniff"},
        required=True,
    ),
    "Content-Disposition": Field(
        says=Text("What to call the file."), schema={"type": "string"}, required=True
    ),
    "X-Accel-Buffering": Field(
        says=Text("A proxy must hand each event on at once."), schema={"const": "no"}, required=True
    ),
    "Cross-Origin-Opener-Policy": Field(
        says=Text("A window that another site has opened is not that site's any more."),
        schema={"const": "same-origin"},
        required=True,
    ),
    # Of a page.
    "Content-Language": Field(says=Text("The language of the page."), schema={"type": "string"}),
    "Content-Security-Policy": Field(
        says=Text("What the page may load: only what comes from here."), schema={"type": "string"}
    ),
    "Referrer-Policy": Field(
        says=Text("Other sites are not told where a link of the page was."),
        schema={"const": "same-origin"},
    ),
    "Content-Encoding": Field(
        says=Text("The lab's pages are packed for who takes that."), schema={"const": "gzip"}
    ),
    "Vary": Field(says=Text("What else the page depends on."), schema={"type": "string"}),
}
EVERY = ("X-Request-Id", "Cache-Control", "X-Content-Type-Options")
PAGES = ("Content-Language", "Content-Security-Policy", "Referrer-Policy", "Vary")
QUANTITY = Field(
    says=Text("How many units; a round may allow fewer in one order."),
    schema={"type": "integer", "minimum": 1, "maximum": MOST_UNITS, "default": 1},
    example=1,
)
