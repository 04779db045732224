"""Actors exchange their names in what badluck makes for them, and where their target says so."""

from __future__ import annotations

from uuid import UUID

from badluck.actor.request import Send
from badluck.search.names import renaming

AMONG_THREE = (1, 2, 0)  # A is B now, B is C, and C is A


def a_uuid(name: str) -> bytes:
    return UUID(int=(ord(name) << 64) + 7).hex.encode()


def test_what_badluck_makes() -> None:
    rename = renaming()
    words = (b"token-A1", b"token-B12", b"token-C3:token-A1", a_uuid("A"), b"ch:%s-1" % a_uuid("C"))
    assert rename(words, AMONG_THREE) == (
        *(b"token-B1", b"token-C12", b"token-A3:token-B1"),
        *(a_uuid("B"), b"ch:%s-1" % a_uuid("A")),
    )
    assert rename(Send("0A1", ((b"GET", b"token-A1"),)), AMONG_THREE) == Send(
        "0B1", ((b"GET", b"token-B1"),)
    )
    assert rename({b"A"}, AMONG_THREE) == {b"A"}, "nothing that is no message"
    assert rename(frozenset({b"token-A1"}), AMONG_THREE) == {b"token-B1"}


def test_what_a_target_makes() -> None:
    words = (b"order-A", b'{"who":"C"}', b"A", b"disorder", b"*.A")
    assert renaming()(words, AMONG_THREE) == words
    renamed = (b"order-B", b'{"who":"A"}', b"A", b"disorder", b"*.B")
    assert renaming((b"order-", b'"who":"', b"*."))(words, AMONG_THREE) == renamed


def test_each_change_of_names_is_another_one() -> None:
    rename = renaming((b"order-",))
    assert rename(b"order-A", (1, 0)) == b"order-B"
    assert rename(b"order-A", AMONG_THREE) == b"order-B"
    assert rename(b"order-B", (1, 0)) == b"order-A"
    assert rename(b"order-B", AMONG_THREE) == b"order-C"
