"""Each phone's message about the sale that has ended."""

from __future__ import annotations

import pytest

from app.service.classroom.ending import Ending


@pytest.mark.parametrize(
    ("stock", "sold", "said"),
    [
        (3, 3, ["sold", "sold", "sold"]),
        (10, 3, ["sold", "sold", "sold"]),  # lost updates: there was enough all the same
        (2, 3, ["real", "real", "the-missing"]),
        (1, 3, ["real", "missing", "missing"]),
    ],
)
def test_who_came_first_has_what_there_was(stock: int, sold: int, said: list[str]) -> None:
    ending = Ending(7, stock, sold, ["a", "b", "c"])
    told = [ending.of(buyer) for buyer in "abc"]
    assert [each and each["said"] for each in told] == said
    assert {each["missing"] for each in told if each} == {max(0, sold - stock)}
    assert ending.of("somebody else") is None


def test_of_two_orders_of_one_phone_the_first_counts() -> None:
    """An exhibit may sell twice under one key."""
    ending = Ending(7, 1, 3, ["a", "a", "b"])
    told = [ending.of(buyer) for buyer in "ab"]
    assert [each and each["said"] for each in told] == ["real", "missing"]
