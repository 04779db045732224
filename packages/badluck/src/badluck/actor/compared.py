"""Bytes compared with a text, which are never equal: redis.get("n") == "0".

Python says so itself where it was started with -b.
"""

from __future__ import annotations

import warnings
from typing import Any

from badluck.actor.replaced import Replacement

SEEN: dict[tuple[str, int], None] = {}  # files and lines


def _note(
    message: Any, category: type[Warning], filename: str, lineno: int, *others: Any, **more: Any
) -> None:
    if issubclass(category, BytesWarning):
        SEEN[filename, lineno] = None
    else:
        _shown(message, category, filename, lineno, *others, **more)


_shown = warnings.showwarning
NOTING: Replacement = (warnings, "showwarning", _note)
