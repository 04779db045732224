"""Places of the code of locks that keep connections or renew: who is elsewhere, who is gone."""

from __future__ import annotations

import gc

from badluck.actor.actor import Actor
from badluck.actor.request import Hear, Lost
from badluck.search.automaton import Automaton
from badluck.target import EPOCH

from app.explorer import surroundings
from app.explorer.targets import Target


def test_who_listens_on_another_connection_is_elsewhere() -> None:
    """Who has lost a reply subscribes again; on the first connection nobody speaks any more."""
    in_line, subscribed = ((0, 0, 100),), ((b"ssubscribe", b"waiter", 1),)
    listening = []
    with surroundings.of_their_own():
        automaton = Automaton("A", Target("lock:queue").code, EPOCH)
        for subscribing in ([subscribed], [Lost(), subscribed]):
            at = 0
            for answer in (in_line, *subscribing, in_line):
                at = automaton.move(at, 0, answer, EPOCH).to
            request = automaton.nodes[at].requests[0]
            assert isinstance(request, Hear)
            listening.append(request.connection)
    assert listening == ["0A2", "0A3"]


def test_who_is_dropped_is_gone() -> None:
    """Also where a renewal has not begun: watchdog_any keeps what would stop it, for ever."""

    def buyers() -> int:
        gc.collect()
        return sum(isinstance(one, Actor) for one in gc.get_objects())

    before = buyers()
    with surroundings.of_their_own():
        for _ in range(5):
            buyer = Actor("A", Target("lock:watchdog_any").code, EPOCH)
            buyer.go_on(0, (b"OK",), EPOCH)
            buyer.go_on(0, (b"OK",), EPOCH)
            assert len(buyer.fibers) == 2
            buyer.drop()
    del buyer
    assert buyers() == before
