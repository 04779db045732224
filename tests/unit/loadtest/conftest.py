"""The real comparison, fresh for every test, since many change it."""

from __future__ import annotations

import pytest

from tests.unit.loadtest.real_comparison import Comparison, comparison


@pytest.fixture
def real() -> Comparison:
    return comparison()
