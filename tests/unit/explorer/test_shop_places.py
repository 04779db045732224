"""States of locks' code that keeps connections or renews: on another connection, or dropped."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest
from badluck.actor.actor import Actor
from badluck.actor.request import Hear, Lost
from badluck.search.automaton import Automaton
from badluck.target import EPOCH

from app.explorer.targets import Target


def test_who_listens_on_another_connection_is_elsewhere() -> None:
    """After a lost reply a waiter subscribes again, and gets no message on the first connection."""
    in_line, subscribed = ((0, 0, 100),), ((b"ssubscribe", b"waiter", 1),)
    listening = []
    target = Target("lock:queue")
    with target.surroundings():
        automaton = Automaton("A", target.code, EPOCH)
        for subscribing in ([subscribed], [Lost(), subscribed]):
            at = 0
            for answer in (in_line, *subscribing, in_line):
                at = automaton.move(at, 0, answer, EPOCH).to
            request = automaton.nodes[at].requests[0]
            assert isinstance(request, Hear)
            listening.append(request.connection)
    assert listening == ["0A2", "0A3"]


@pytest.mark.parametrize(
    ("name", "answers"), [("watchdog_any", [(b"OK",), (b"OK",)]), ("queue", [((1, b"7"),)])]
)
def test_who_is_dropped_is_gone(name: str, answers: list[Any]) -> None:
    """Also where a renewal has not begun: watchdog_any keeps its stop function forever.

    And where a library keeps a thread's connections, as fairlock does.
    """
    target = Target(f"lock:{name}")

    dropped = []
    with target.surroundings():
        for _ in range(5):
            buyer = Actor("A", target.code, EPOCH)
            for answer in answers:
                buyer.go_on(0, answer, EPOCH)
            assert len(buyer.fibers) == 2
            buyer.drop()
            dropped.append(weakref.ref(buyer))
    del buyer
    gc.collect()
    assert [buyer() for buyer in dropped] == [None] * 5
