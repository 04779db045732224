"""What the words in a drawing say, for who reads another language than its author's.

The drawings stay as they are: tests play them, and their columns would not bear longer words.
"""

from __future__ import annotations

import re

from app.text import Text

HEADS = {
    "buyer": Text("buyer"),
    "stock": Text("stock"),
    "lock": Text("lock"),
    "line": Text("the line of who waits"),
    "fence": Text("the holder’s number"),
}
TOLD = [
    Text("waits"),
    Text("sold out"),
    Text("dies"),
    Text("no answer"),
    Text("error"),
    Text("it is there"),
    Text("waits for word"),
    Text("it was not mine any more"),
    Text("knows that it is lost"),
    Text("is called: watch, 100"),
    Text("is called: yours, fence-2"),
    Text("is refused, and nothing is written"),
    Text("is told that the node is gone"),
    Text("0.1 s go by: B has not taken the lock"),
    Text("1 s go by: A is at work, B's process is frozen"),
    Text("4 s go by: A is still at work"),
    Text("10 s go by: A is held up before it leaves"),
    Text("10 s go by: A is still at work, its lease is over"),
    Text("10 s go by: A's process is frozen"),
    Text("10 s go by: A's process is frozen, its renewal too"),
    Text("12 s go by: Z's stamp has passed"),
    Text("3600 s go by: the lock has no end"),
    Text("3600 s go by: the lock never got an end"),
    Text("8 s go by: A has left"),
    Text("10 s go by: nobody has released it"),
    Text("A seems to be dead, and somebody deletes the lock"),
    Text("has queued its sale, and goes"),
    Text("dies of a TypeError"),
    Text("A's process is frozen; after 4 s its session ends"),
    Text("B's process goes on"),
    Text("master 2 restarts and has forgotten its locks"),
    Text("EVERYBODY STANDS STILL for 10.0 s"),
    Text("FAILOVER: the new server has not heard of the last write"),
    Text("time passes: 10.0 s"),
    Text("X CRASHES, for ever"),
    Text("WHICH IS LOST"),
    Text("= told SOLD"),
    Text("= told ERROR"),
    Text("sold 0 of 1"),
    Text("sold 1 of 1"),
    Text("sold 1 of 2"),
    Text("sold 2 of 2"),
    Text("sold 2 of 1: OVERSOLD"),
    Text("sold 3 of 2: OVERSOLD"),
]
SAID = {str(text): text for text in TOLD}
CODE = {"nil", "ephemeral, sequential", "name, owner, until"}  # an answer, and arguments
# Between tildes stands what happens to all, in brackets what one does or is told.
NOTES = re.compile(r"~ (.+?) ~|\(([a-z][^)]+)\)|(X CRASHES, for ever|WHICH IS LOST|= told \w+)")


def narrated(drawing: str) -> list[tuple[str, Text]]:
    """What stands there and is no command, with what it says; each once, in order."""
    heads = re.findall(r"[a-z]+", drawing.partition("\n")[0])
    notes = ["".join(found) for found in NOTES.findall(drawing)]
    known = {name: HEADS[name] for name in heads if name in HEADS}
    return list((known | {note: SAID[note] for note in notes if note in SAID}).items())
