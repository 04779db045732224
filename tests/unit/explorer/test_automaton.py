"""A loop that polls is one place of the code; a loop that counts is not, wherever it counts."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from typing import cast

import pytest
import redis

from app.explorer import surroundings
from app.explorer.automaton import Automaton
from app.explorer.buyer import Buyer
from app.explorer.called import keeps_nothing_unseen
from app.explorer.request import Done, Hear, Lost, Send
from app.explorer.targets import EPOCH, GateServers, Target
from app.store.redis import NEVER_RESEND

POLLS = 30


def polling(store: redis.Redis) -> str:
    while True:
        if store.setnx("lock", "me"):
            return "SOLD"


def counting(store: redis.Redis) -> str:
    tries = 0
    while not store.setnx("lock", "me"):
        tries += 1
        if tries == POLLS:
            return "BUSY"
    return "SOLD"


def counting_unseen(store: redis.Redis) -> str:
    """No variable shows how far the loop is."""
    for _ in [None] * POLLS:
        if store.setnx("lock", "me"):
            return "SOLD"
    return "BUSY"


def counting_in_a_range(store: redis.Redis) -> str:
    for _ in range(POLLS):
        if store.setnx("lock", "me"):
            return "SOLD"
    return "BUSY"


class Patient:
    def __init__(self) -> None:
        self.tries: list[None] = []


def counting_elsewhere(store: redis.Redis) -> str:
    patient = Patient()
    while not store.setnx("lock", "me"):
        patient.tries.append(None)
        if len(patient.tries) == POLLS:
            return "BUSY"
    return "SOLD"


def poll(sell: Callable[[redis.Redis], str]) -> tuple[Automaton, int]:
    """The buyer's code, and where it is after as many vain polls."""
    automaton = Automaton("A", lambda _: sell(GateServers(NEVER_RESEND).store), EPOCH)
    at = 0
    for _ in range(POLLS):
        at = automaton.move(at, 0, (0,), EPOCH).to
    return automaton, at


def test_a_loop_that_polls_is_one_place() -> None:
    automaton, at = poll(polling)
    assert at == 0
    assert len(automaton.nodes) == 1


@pytest.mark.parametrize(
    "sell", [counting, counting_unseen, counting_in_a_range, counting_elsewhere]
)
def test_a_loop_that_counts_ends(sell: Callable[[redis.Redis], str]) -> None:
    automaton, at = poll(sell)
    assert automaton.nodes[at].requests == (Done("BUSY"),)


def test_what_loops_leave_on_the_stack_is_known_where_it_shows() -> None:
    def in_a_range(store: redis.Redis) -> None:
        for _ in range(2):
            store.get("stock")

    def enumerated(store: redis.Redis) -> None:
        for nth, pause in enumerate((0.1, POLLS)):
            store.expire("stock", nth + int(pause))

    def in_a_list(store: redis.Redis) -> None:
        for _ in [None] * POLLS:
            store.get("stock")

    def in_somebodys_list(store: redis.Redis) -> None:
        for nth, _ in enumerate(store.lrange("all", 0, -1)):
            store.get(f"stock-{nth}")

    def in_a_range_of_an_argument(store: redis.Redis, most: int = 2) -> None:
        for _ in range(1, most + 1):
            store.get("stock")

    def in_a_range_that_was_read(store: redis.Redis) -> None:
        for _ in range(len(store.lrange("all", 0, -1))):
            store.get("stock")

    def in_a_range_of_what_changes(store: redis.Redis) -> None:
        most = POLLS
        for _ in range(most):
            most = 0
            store.get("stock")

    def where_the_variable_does_not_show_it(store: redis.Redis) -> None:
        for nth in range(POLLS):
            nth = 0
            store.get(f"stock-{nth}")

    def after_a_loop(store: redis.Redis) -> None:
        for _ in [None] * POLLS:
            pass
        store.get("stock")

    assert [
        _known_at(sell, call)
        for sell, call in (
            (in_a_range, "get"),
            (in_a_range_of_an_argument, "get"),
            (in_a_range_that_was_read, "get"),
            (in_a_range_of_what_changes, "get"),
            (where_the_variable_does_not_show_it, "get"),
            (enumerated, "expire"),
            (in_a_list, "get"),
            (in_somebodys_list, "get"),
            (after_a_loop, "get"),
        )
    ] == [True, True, False, False, False, True, False, False, True]


def _known_at(sell: Callable[[redis.Redis], None], call: str) -> bool:
    """Is all known that `sell` keeps while it calls that method?"""
    seen: list[bool] = []

    class Store:
        def __getattr__(self, name: str) -> Callable[..., object]:
            def called(*_: object) -> object:
                if name == call:
                    frame = sys._getframe(1)
                    seen.append(keeps_nothing_unseen(frame, None))
                return [1, 2]

            return called

    sell(cast(redis.Redis, Store()))
    return seen[0]


def _places(sell: Callable[[redis.Redis], object]) -> int:
    """In how many places is who was told OK first, or nil?"""
    automaton = Automaton("A", lambda _: str(sell(GateServers(NEVER_RESEND).store)), EPOCH)
    return len({automaton.move(0, 0, (said,), EPOCH).to for said in (b"1", None)})


def test_who_forgets_what_he_was_told_is_in_one_place() -> None:
    def forgets(store: redis.Redis) -> object:
        said = store.get("first")
        said = store.get("second")
        return bool(said)

    def remembers(store: redis.Redis) -> object:
        said = store.get("first")
        store.get("second")
        return said

    def remembers_when_it_goes_wrong(store: redis.Redis) -> object:
        said = store.get("first")
        try:
            return store.get("second")
        except redis.ConnectionError:
            return said

    def has_it_at_hand(store: redis.Redis) -> object:
        said = store.get("first")
        return said, store.get("second")

    def has_it_in_a_function(store: redis.Redis) -> object:
        said = store.get("first")
        return (lambda: (store.get("second"), said))()

    def looks_it_up(store: redis.Redis) -> object:
        said = store.get("first")
        store.get("second")
        return locals()["said"]

    assert _places(forgets) == 1
    assert _places(remembers) == 2
    assert _places(remembers_when_it_goes_wrong) == 2
    assert _places(has_it_at_hand) == 2
    assert _places(has_it_in_a_function) == 2
    assert _places(looks_it_up) == 2


def test_what_a_function_in_c_keeps_is_told_apart() -> None:
    """The generator forgets each value; `sum`, `sorted` and `join` do not."""

    def sums(store: redis.Redis) -> object:
        return sum(bool(store.get(key)) for key in ("first", "second"))

    def sorts(store: redis.Redis) -> object:
        return sorted(("first", "second"), key=lambda key: bool(store.get(key)))

    def joins(store: redis.Redis) -> object:
        return "".join(str(store.get(key)) for key in ("first", "second"))

    def asks_for_the_next(store: redis.Redis) -> object:
        asked = (store.get(key) for key in ("first", "second"))
        first = bool(next(asked))
        return first, next(asked)

    assert [_places(sell) for sell in (sums, sorts, joins, asks_for_the_next)] == [2] * 4


def test_what_a_return_brings_along_is_told_apart() -> None:
    """Two buyers stand in the same `finally`; what they will return is on no variable."""

    def sell(store: redis.Redis) -> str:
        try:
            return "SOLD" if store.get("stock") == b"1" else "SOLD_OUT"
        finally:
            store.delete("lock")

    automaton = Automaton("A", lambda _: sell(GateServers(NEVER_RESEND).store), EPOCH)
    told = []
    for stock in (b"1", b"0"):
        there = automaton.move(0, 0, (stock,), EPOCH).to
        assert isinstance(automaton.nodes[there].requests[0], Send)
        told.append(automaton.nodes[automaton.move(there, 0, (1,), EPOCH).to].told)
    assert told == ["SOLD", "SOLD_OUT"]


def test_the_order_of_a_renewal_and_the_work_is_forgotten() -> None:
    """What both have been told is the same, so it is one place."""

    def work(buyer: Buyer) -> str:
        store = GateServers(NEVER_RESEND).store
        stop = buyer.clock.every(1.0, lambda: bool(store.pexpire("lock", 1000)))
        store.get("stock")
        store.get("price")
        stop()
        return "SOLD"

    with surroundings.of_their_own():
        automaton = Automaton("A", work, EPOCH)
        woken = automaton.move(0, 1, None, EPOCH + 1000).to
        renewed = automaton.move(woken, 1, (1,), EPOCH + 1000).to
        first = automaton.move(renewed, 0, (b"1",), EPOCH + 1000).to
        read = automaton.move(woken, 0, (b"1",), EPOCH + 1000).to
        second = automaton.move(read, 1, (1,), EPOCH + 1000).to
    assert first == second


def test_no_reply_yet_is_not_a_broken_connection() -> None:
    def sell(store: redis.Redis) -> str:
        return str(store.blpop(["orders"], timeout=1))

    automaton = Automaton("A", lambda _: sell(GateServers(NEVER_RESEND).store), EPOCH)
    waits, broken = automaton.move(0, 0, (), EPOCH).to, automaton.move(0, 0, Lost(), EPOCH).to
    assert isinstance(automaton.nodes[waits].requests[0], Hear)
    assert automaton.nodes[broken].told == "ERROR"


def test_who_is_dropped_is_gone() -> None:
    """Also where a renewal has not begun: watchdog_any keeps what would stop it, for ever."""

    def buyers() -> int:
        gc.collect()
        return sum(isinstance(one, Buyer) for one in gc.get_objects())

    before = buyers()
    with surroundings.of_their_own():
        for _ in range(5):
            buyer = Buyer("A", Target("lock:watchdog_any").work, EPOCH)
            buyer.go_on(0, (b"OK",), EPOCH)
            buyer.go_on(0, (b"OK",), EPOCH)
            assert len(buyer.strands) == 2
            buyer.drop()
    del buyer
    assert buyers() == before
