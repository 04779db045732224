"""Ids cannot be guessed from each other: a buyer that knows one may pay or cancel its order."""

from __future__ import annotations

import time
import uuid
from itertools import pairwise
from pathlib import Path

import pytest

from app.domain.ids import draw_id

IDS = 10_000
NEAR_HALF = range(IDS * 47 // 100, IDS * 53 // 100)  # six standard deviations to either side
RANDOM_BITS = 60


def test_ids_of_one_millisecond_have_enough_random_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Count the bits that are set as often as not, and that change as often as not."""
    monkeypatch.setattr(time, "time_ns", lambda: 1_790_000_000_123_456_789)
    ids = [uuid.UUID(draw_id()).int for _ in range(IDS)]
    assert len({id >> 80 for id in ids}) == 1  # one millisecond

    def is_random(bit: int) -> bool:
        values = [id >> bit & 1 for id in ids]
        changes = sum(one != other for one, other in pairwise(values))
        return sum(values) in NEAR_HALF and changes in NEAR_HALF

    assert sum(is_random(bit) for bit in range(80)) >= RANDOM_BITS


def test_ids_begin_with_the_time() -> None:
    """Rows of orders that are made one after the other stay next to each other."""
    before, id, after = time.time_ns(), uuid.UUID(draw_id()), time.time_ns()
    assert before // 1_000_000 <= id.int >> 80 <= after // 1_000_000
    assert id.version == 7


def test_all_of_the_shop_draws_its_ids_here() -> None:
    others = [
        str(file)
        for file in Path("app").rglob("*.py")
        if "uuid_utils" in file.read_text() and file.name != "ids.py"
    ]
    assert others == []
