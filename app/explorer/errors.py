"""What goes wrong with exploring, as the shop says it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from badluck.errors import BadCode, BadluckError

from app.domain import ShopError


class BadSell(ShopError):
    """Something is wrong with somebody's own `sell`."""


class Unreachable(ShopError):
    """No answer now: too many ask, or the process died twice."""


@contextmanager
def in_the_shops_words() -> Iterator[None]:
    """Raises ShopError, BadSell for somebody's own code."""
    try:
        yield
    except BadCode as error:
        raise BadSell(str(error)) from error
    except BadluckError as error:
        raise ShopError(str(error)) from error
