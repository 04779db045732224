"""Values of a suspended fiber that no variable shows, and values that it will not read again."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import cast

import redis
from badluck.actor.actor import Code
from badluck.actor.connection import client
from badluck.frames.hidden_state import hides_nothing
from badluck.frames.operand_stack import known_waits
from badluck.search.automaton import Automaton
from badluck.target import EPOCH

POLLS = 30


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
        known_at(work, call)
        for work, call in (
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


def test_what_a_call_is_given_is_in_use_whatever_way_it_came() -> None:
    """Otherwise the number of states would depend on the order of a set."""

    def gives(store: redis.Redis, one: int, other: int) -> None:
        store.set("stock", one or other)

    [call] = known_waits(gives.__code__).values()
    assert call.variables == {"store", "one", "other"}


def known_at(work: Callable[[redis.Redis], None], call: str) -> bool:
    """Does the fingerprint show all values that `work` keeps while it calls that method?"""
    seen: list[bool] = []

    class Store:
        def __getattr__(self, name: str) -> Callable[..., object]:
            def called(*_: object) -> object:
                if name == call:
                    frame = sys._getframe(1)
                    seen.append(hides_nothing(frame, None))
                return [1, 2]

            return called

    work(cast(redis.Redis, Store()))
    return seen[0]


def _places(work: Callable[[redis.Redis], object]) -> int:
    """Return the number of nodes after a first answer of OK or nil."""
    automaton = Automaton("A", Code(lambda _: str(work(client()))), EPOCH)
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

    def replaces_it(store: redis.Redis) -> object:
        said = store.get("first")
        return said, (said := None), store.get("second")

    assert _places(forgets) == 1
    assert _places(remembers) == 2
    assert _places(remembers_when_it_goes_wrong) == 2
    assert _places(has_it_at_hand) == 2
    assert _places(has_it_in_a_function) == 2
    assert _places(looks_it_up) == 2
    assert _places(replaces_it) == 2


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

    assert [_places(work) for work in (sums, sorts, joins, asks_for_the_next)] == [2] * 4
