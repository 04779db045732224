"""Shops of a test's own, closed whatever becomes of the test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.shop import Shop


@pytest.fixture
def new_shop() -> Iterator[Callable[..., Shop]]:
    """Makes shops as Shop() does."""
    made: list[Shop] = []

    def make(folder: Path, **environ: str) -> Shop:
        made.append(Shop(folder, **environ))
        return made[-1]

    yield make
    for shop in made:
        shop.close()
