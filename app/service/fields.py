"""What people call the fields of a purchase, a round, a stampede and a search."""

from __future__ import annotations

from app.domain.fault_words import FAULT_WORDS
from app.text import Text

FIELDS = {
    "item": Text("Item"),
    "quantity": Text("Quantity"),
    "buyer": Text("Buyer"),
    "key": Text("Key"),
    "mode": Text("Mode"),
    "recipe": Text("Recipe"),
    "stock": Text("Stock"),
    "think": Text("Think"),
    "lease": Text("Lease"),
    "wait": Text("Wait"),
    "attempts": Text("Attempts"),
    "limit": Text("Limit"),
    "per_buyer": Text("Limit of a buyer"),
    "delay": Text("Delay"),
    "hold": Text("Hold"),
    "buyers": Text("Buyers"),
    "seconds": Text("Seconds"),
    "modes": Text("Ways to sell"),
    "reference": Text("Reference"),
    "repeats": Text("Repeats"),
    **{kind: words.field for kind, words in FAULT_WORDS.items()},
}


def called(field: str) -> str:
    """A field's name in a sentence; the wire's names of times end in their unit."""
    name = field.removesuffix("_ms")
    return FIELDS.get(name, name.capitalize())
