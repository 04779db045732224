"""The shop's words for a reader: its scripts by name, its keys without their prefix, its terms."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

from badluck.actor.command_text import CommandText, names_by_sha
from badluck.target import Vocabulary
from fairlock import scripts as fairlock

from app.store import lua

VOCABULARY = Vocabulary(
    actor="buyer",
    fiber_kind="renewal",
    charted=("stock", "lock"),
    refilled="the shelf is filled up",
    restored="to a full shelf",
)
PREFIX = re.compile(r"\{apple\}:(1:)?")  # of each key: there is only one item and one round
PROCESS = re.compile(r"(?<=process-)0{14}(4[1-4])[0-9a-f]{16}")  # fairlock's name of it: a UUID


def scripts() -> dict[str, str]:
    """Return the project's scripts by file name: a shop's store has them after some purchases."""
    names = [path.name for path in files(lua).iterdir() if path.name.endswith(".lua")]
    sources = {name: lua.source(name.removesuffix(".lua")) for name in names}
    for script in (fairlock.ACQUIRE, fairlock.TAKE, fairlock.RELEASE, fairlock.LEAVE):
        sources[f"queue/{script.name}.lua"] = script.text
    return sources


@cache
def script_names() -> dict[bytes, str]:
    return names_by_sha(scripts())


def _shorten(word: str) -> str:
    text = PROCESS.sub(lambda found: bytes.fromhex(found[1]).decode(), PREFIX.sub("", word))
    return "the-order" if text.startswith('{"id":') else text


WORDS = CommandText(script_names, _shorten)
OWN_WORDS = CommandText(script_names, _shorten, bytes_as_such=True)  # for the user's own code
