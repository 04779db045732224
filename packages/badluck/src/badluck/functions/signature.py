"""The name of a function, and how many arguments it takes."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import suppress
from typing import Any

Function = Callable[..., object]


def function_name(function: Any) -> str:
    """Return `pay`; for a function without a name, its type's name."""
    return str(getattr(function, "__name__", type(function).__name__))


def count_arguments(function: Function) -> int:
    """Return one or two. Raises TypeError when it takes neither."""
    signature = inspect.signature(function)
    with suppress(TypeError):
        signature.bind(None)
        return 1
    signature.bind(None, None)
    return 2
