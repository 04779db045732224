"""Errors of the explorer, translated into the shop's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from badluck.errors import BadCode, BadluckError

from app.domain import ShopError


class BadSell(ShopError):
    """Raised when something is wrong with the user's own `sell`."""


class Unreachable(ShopError):
    """Raised when there is no answer now: too many questions, or the process died twice."""


@contextmanager
def in_the_shops_words() -> Iterator[None]:
    """Translate errors into ShopError; into BadSell for the user's own code."""
    try:
        yield
    except BadCode as error:
        raise BadSell(str(error)) from error
    except BadluckError as error:
        raise ShopError(str(error)) from error
