"""Python's warnings about an actor's code: often the cause of a finding.

Bytes compared with a string: redis.get("n") == "0" is never true, and str(b"0") has four characters
(reported if Python was started with -b). And a coroutine that was never awaited: it has done
nothing.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from greenlet import getcurrent

from badluck.actor.actor import Fiber, here
from badluck.actor.patching import Replacement

SEEN: dict[tuple[str, int], str] = {}  # by file and line, in Python's words
FORGOTTEN = "was never awaited"


@contextmanager
def of_what_was_forgotten() -> Iterator[None]:
    """Note warnings even where they are errors: an error during collection would be lost."""
    with warnings.catch_warnings():
        warnings.filterwarnings("always", f".*{FORGOTTEN}", RuntimeWarning)
        yield


def _note(
    message: Any, category: type[Warning], filename: str, lineno: int, *others: Any, **more: Any
) -> None:
    if issubclass(category, BytesWarning):
        SEEN[filename, lineno] = str(message)
    elif FORGOTTEN in str(message):  # dropped with its actor: not the user's mistake
        if isinstance(getcurrent(), Fiber) and not here().actor.over:
            SEEN[filename, lineno] = str(message).partition("\n")[0]
    else:
        _shown(message, category, filename, lineno, *others, **more)


_shown = warnings.showwarning
NOTING: Replacement = (warnings, "showwarning", _note)
