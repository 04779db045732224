"""Replaced functions are restored, also after an exception."""

from __future__ import annotations

import random

import pytest
from badluck.actor.patching import replaced


class Owner:
    def method(self) -> str:
        return "its own"


def _fails() -> None:
    with replaced((random, "random", lambda: 2.0), (Owner, "method", lambda _: "ours")):
        assert (random.random(), Owner().method()) == (2.0, "ours")
        raise ZeroDivisionError


def test_a_functions_and_a_methods_place() -> None:
    before = random.random, vars(Owner)["method"]
    with pytest.raises(ZeroDivisionError):
        _fails()
    assert (random.random, vars(Owner)["method"]) == before
