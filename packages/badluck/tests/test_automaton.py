"""A loop that polls is one place of the code; a loop that counts is not, wherever it counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import redis
from badluck.actor.actor import Actor, Code
from badluck.actor.connection import client
from badluck.actor.request import Done, Hear, Lost, Send
from badluck.actor.shared_process_patches import sharing
from badluck.model.values import QUEUED, Ok, Reply
from badluck.search.automaton import Automaton
from badluck.target import EPOCH
from redis.client import Pipeline

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
    """No variable shows how often the loop has run."""
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


def poll(work: Callable[[redis.Redis], str]) -> tuple[Automaton, int]:
    """Return the actor's automaton, and the node after POLLS polls that changed nothing."""
    automaton = Automaton("A", Code(lambda _: work(client())), EPOCH)
    at = 0
    for _ in range(POLLS):
        at = automaton.move(at, 0, (0,), EPOCH).to
    return automaton, at


def test_a_loop_that_polls_is_one_place() -> None:
    automaton, at = poll(polling)
    assert at == 0
    assert len(automaton.nodes) == 1


@pytest.mark.parametrize(
    "work", [counting, counting_unseen, counting_in_a_range, counting_elsewhere]
)
def test_a_loop_that_counts_ends(work: Callable[[redis.Redis], str]) -> None:
    automaton, at = poll(work)
    assert automaton.nodes[at].requests == (Done("BUSY"),)


def test_what_a_return_brings_along_is_told_apart() -> None:
    """Two actors stand in the same `finally`; no variable holds what they will return."""

    def work(store: redis.Redis) -> str:
        try:
            return "SOLD" if store.get("stock") == b"1" else "SOLD_OUT"
        finally:
            store.delete("lock")

    automaton = Automaton("A", Code(lambda _: work(client())), EPOCH)
    told = []
    for stock in (b"1", b"0"):
        there = automaton.move(0, 0, (stock,), EPOCH).to
        assert isinstance(automaton.nodes[there].requests[0], Send)
        told.append(automaton.nodes[automaton.move(there, 0, (1,), EPOCH).to].outcome)
    assert told == ["SOLD", "SOLD_OUT"]


def in_a_pipeline(store: redis.Redis) -> str:
    pipe = store.pipeline(transaction=False)
    pipe.get("stock")
    pipe.get("price")
    stock, _ = pipe.execute()
    return "SOLD" if stock == b"1" else "SOLD_OUT"


def in_a_transaction(store: redis.Redis) -> str:
    def take(pipe: Pipeline) -> Any:
        stock = pipe.get("stock")
        pipe.multi()
        pipe.get("price")
        return "SOLD" if stock == b"1" else "SOLD_OUT"

    return str(store.transaction(take, "stock", value_from_callable=True))


@pytest.mark.parametrize(
    ("work", "before", "after"),
    [
        (in_a_pipeline, [], (b"60",)),
        (in_a_transaction, [(Ok("OK"),)], (Ok("OK"), QUEUED, (b"60",))),
    ],
)
def test_what_redis_py_was_answered_before_is_told_apart(
    work: Callable[[redis.Redis], str], before: list[tuple[Reply, ...]], after: tuple[Reply, ...]
) -> None:
    """At the last request only redis-py knows which answer came for the stock."""
    automaton = Automaton("A", Code(lambda _: work(client())), EPOCH)
    told = []
    for stock in (b"1", b"0"):
        at = 0
        for answer in (*before, (stock,), after):
            assert isinstance(automaton.nodes[at].requests[0], Send)
            at = automaton.move(at, 0, answer, EPOCH).to
        told.append(automaton.nodes[at].outcome)
    assert told == ["SOLD", "SOLD_OUT"]


def test_the_order_of_a_renewal_and_the_work_is_forgotten() -> None:
    """Both orders give both fibers the same answers, so they lead to one node."""

    def work(actor: Actor) -> str:
        store = client()
        stop = actor.clock.every(1.0, lambda: bool(store.pexpire("lock", 1000)))
        store.get("stock")
        store.get("price")
        stop()
        return "SOLD"

    with sharing():
        automaton = Automaton("A", Code(work), EPOCH)
        woken = automaton.move(0, 1, None, EPOCH + 1000).to
        renewed = automaton.move(woken, 1, (1,), EPOCH + 1000).to
        first = automaton.move(renewed, 0, (b"1",), EPOCH + 1000).to
        read = automaton.move(woken, 0, (b"1",), EPOCH + 1000).to
        second = automaton.move(read, 1, (1,), EPOCH + 1000).to
    assert first == second


def test_no_reply_yet_is_not_a_broken_connection() -> None:
    def work(store: redis.Redis) -> str:
        return str(store.blpop(["orders"], timeout=1))

    automaton = Automaton("A", Code(lambda _: work(client())), EPOCH)
    waits, broken = automaton.move(0, 0, (), EPOCH).to, automaton.move(0, 0, Lost(), EPOCH).to
    assert isinstance(automaton.nodes[waits].requests[0], Hear)
    assert automaton.nodes[broken].outcome == "ERROR"
