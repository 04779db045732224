"""A context manager's values that only the interpreter's stack holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, cast

import redis
from badluck.actor.actor import Code
from badluck.actor.connection import client
from badluck.search.automaton import Automaton
from badluck.target import EPOCH
from test_unseen import known_at

POLLS = 30


@contextmanager
def keeping_nothing() -> Iterator[None]:
    try:
        yield
    except redis.RedisError as error:
        raise ValueError from error


@contextmanager
def keeping_a_value() -> Iterator[None]:
    value = POLLS
    yield
    print(value)


@contextmanager
def keeping_how_far_it_is() -> Iterator[None]:
    for _ in map(str, [None]):
        yield


@contextmanager
def keeping_in_which_of_two_it_is() -> Iterator[None]:
    if POLLS:
        yield
    else:
        yield


@contextmanager
def keeping_what_it_is_given(value: int) -> Iterator[None]:
    yield
    print(value)


class Keeper:
    """A context manager that is a class."""

    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None: ...


def test_of_a_context_that_no_variable_has_is_known_whether_it_keeps_anything() -> None:
    @contextmanager
    def captured() -> Iterator[None]:
        yield
        print(within)

    def nothing(store: redis.Redis) -> None:
        with keeping_nothing():
            store.get("stock")

    def suppressed(store: redis.Redis) -> None:
        with suppress(redis.RedisError, KeyError):
            store.get("stock")

    def known_but_not_its_own(store: redis.Redis) -> None:
        with keeping_nothing(), keeping_a_value():
            store.get("stock")

    def a_value(store: redis.Redis) -> None:
        with keeping_a_value():
            store.get("stock")

    def how_far_it_is(store: redis.Redis) -> None:
        with keeping_how_far_it_is():
            store.get("stock")

    def in_which_it_is(store: redis.Redis) -> None:
        with keeping_in_which_of_two_it_is():
            store.get("stock")

    def what_it_is_given(store: redis.Redis) -> None:
        with keeping_what_it_is_given(1):
            store.get("stock")

    def what_it_has_captured(store: redis.Redis) -> None:
        with captured():
            store.get("stock")

    def an_object(store: redis.Redis) -> None:
        with Keeper():
            store.get("stock")

    def by_another_name(store: redis.Redis, manager: Callable[[], Keeper] = Keeper) -> None:
        with manager():
            manager = Keeper
            store.get("stock")

    within = POLLS
    assert [
        known_at(work, "get")
        for work in (
            nothing,
            suppressed,
            known_but_not_its_own,
            a_value,
            how_far_it_is,
            in_which_it_is,
            what_it_is_given,
            what_it_has_captured,
            an_object,
            by_another_name,
        )
    ] == [True, True, *[False] * 8]


def test_of_a_pipeline_is_seen_what_a_variable_has() -> None:
    def keeps(work: Callable[[redis.Redis], None]) -> bool:
        def worker(_: object) -> str:
            work(client())
            return ""

        look = Automaton("A", Code(worker), EPOCH).nodes[0].looks[0]
        return look.complete

    def in_a_variable(store: redis.Redis) -> None:
        with store.pipeline() as pipe:
            pipe.watch("stock")

    def in_none(store: redis.Redis) -> None:
        with store.pipeline():
            store.get("stock")

    def in_another_one(store: redis.Redis) -> None:
        with store.pipeline() as pipe:
            pipe = cast(Any, store)
            pipe.get("stock")

    assert [keeps(work) for work in (in_a_variable, in_none, in_another_one)] == [
        True,
        False,
        False,
    ]
