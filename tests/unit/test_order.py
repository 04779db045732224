"""An order as it is written and read: any other record is reported as unreadable."""

from __future__ import annotations

import orjson
import pytest

from app.domain import Order, Unreadable
from app.store.sql.orders import misfit

ORDER = Order("id", "apple", 1, 2, 60, "buyer", "key", 1_700_000_000_000)


def test_what_was_written_is_read() -> None:
    assert Order.decode(ORDER.encode()) == ORDER


@pytest.mark.parametrize("name", ["id", "item", "round", "quantity", "price", "buyer", "key", "at"])
@pytest.mark.parametrize("value", [None, True, 1.5, [], {}, "a text for a number", 7])
def test_no_member_of_another_type(name: str, value: object) -> None:
    members = orjson.loads(ORDER.encode())
    if type(members[name]) is type(value):  # as it should be
        return
    with pytest.raises(Unreadable, match=f"its {name} is of a wrong type"):
        Order.decode(orjson.dumps(members | {name: value}))


@pytest.mark.parametrize(
    "payload", [b"", b"null", b"7", b'"x"', b"[]", b"{}", b"{", b"\xff", b"[" * 9_999, b"NaN"]
)
def test_nothing_else_is_one(payload: bytes) -> None:
    with pytest.raises(Unreadable):
        Order.decode(payload)


def test_it_fits_every_database() -> None:
    assert misfit(ORDER) == ""
    limits = Order("i" * 36, "i" * 32, 2**31 - 1, 2**31 - 1, -(2**31) + 1, "b" * 36, "k" * 128, -1)
    assert misfit(limits) == ""
