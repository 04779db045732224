"""Bytes taken for a text: redis.get("n") == "0" is never true, str(b"0") has four characters.

Python says so itself where it was started with -b.
"""

from __future__ import annotations

import warnings
from typing import Any

from badluck.actor.replaced import Replacement

SEEN: dict[tuple[str, int], str] = {}  # by file and line, in Python's words


def _note(
    message: Any, category: type[Warning], filename: str, lineno: int, *others: Any, **more: Any
) -> None:
    if issubclass(category, BytesWarning):
        SEEN[filename, lineno] = str(message)
    else:
        _shown(message, category, filename, lineno, *others, **more)


_shown = warnings.showwarning
NOTING: Replacement = (warnings, "showwarning", _note)
