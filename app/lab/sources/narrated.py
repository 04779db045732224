"""What the words in a drawing say, for readers of another language than its author's.

The drawings stay as they are: tests play them, and their columns would not bear longer words.
"""

from __future__ import annotations

import re

from badluck.faults import FAULTS

from app.text import Text

HEADS = {
    "buyer": Text("buyer"),
    "stock": Text("stock"),
    "lock": Text("lock"),
    "line": Text("the line of who waits"),
    "fence": Text("the holder’s number"),
}
BEFALLS = "|".join(re.escape(fault.drawn) for fault in FAULTS.values())
# Between tildes stands what happens to all; in brackets, in a line of its own, what one does or is
# told, and a reply that is no value.
NOTES = re.compile(rf"~ (.+?) ~|(?:  |-> )\((?!nil)([a-z][^)]+)\)|({BEFALLS}|= told \w+)")


def notes(drawing: str) -> list[str]:
    """What stands there and is neither a command nor a value; each once, in order."""
    return list(dict.fromkeys("".join(note) for note in NOTES.findall(drawing)))


def narrated(drawing: str) -> list[tuple[str, Text]]:
    """Its columns' names and its notes, each with what it says."""
    heads = re.findall(r"[a-z]+", drawing.partition("\n")[0])
    known = {name: HEADS[name] for name in heads if name in HEADS}
    return list((known | {note: Text(note) for note in notes(drawing)}).items())
