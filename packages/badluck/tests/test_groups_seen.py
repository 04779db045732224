"""Effects of a consumer group on other clients; random walks compare them on both servers."""

from __future__ import annotations

import pytest
from badluck import explore
from badluck.model.server import ModelServer
from badluck.model.values import Command
from badluck.target import EPOCH
from redis import Redis


def command(words: str) -> Command:
    return tuple(word.encode() for word in words.split())


@pytest.fixture
def server() -> ModelServer:
    server = ModelServer(EPOCH)
    for words in ("XADD q 5-1 a b", "XGROUP CREATE q g 0", "XREADGROUP GROUP g c STREAMS q >"):
        server.execute("setup", command(words))
    return server


@pytest.mark.parametrize("words", ["XGROUP CREATE q h 0", "XGROUP DESTROY q g", "XSETID q 9-1"])
def test_who_watches_the_stream_is_told_of_entries_only(server: ModelServer, words: str) -> None:
    for own in ("WATCH q", "MULTI", "PING"):
        server.execute("a", command(own))
    server.execute("b", command(words))
    assert server.execute("a", command("EXEC")) is not None


def test_who_waits_hears_of_what_is_added_and_of_nothing_else(server: ModelServer) -> None:
    server.execute("b", command("XADD q 6-1 a b"))
    server.execute("b", command("XREADGROUP GROUP g c STREAMS q >"))
    server.execute("a", command("XREADGROUP GROUP g a BLOCK 0 STREAMS q >"))
    server.execute("b", command("XGROUP SETID q g 0"))
    server.execute("b", command("XDEL q 5-1"))
    assert not server.unread
    server.execute("b", command("XADD q 7-1 a b"))
    assert server.unread["a"]


def works(redis: Redis, name: str) -> str:
    """Claim pending entries, and give up one that was delivered too often."""
    redis.xautoclaim("q", "g", name, 0)
    for waits in redis.xpending_range("q", "g", "-", "+", 10):
        if int(waits["times_delivered"]) > 2:
            redis.xack("q", "g", waits["message_id"])
            return "gave it up"
    return "went on"


def begins_a_group(redis: Redis) -> None:
    redis.xgroup_create("q", "g", "0", mkstream=True)
    redis.xadd("q", {"job": "1"}, id="5-1")
    redis.xreadgroup("g", "dead", {"q": ">"})


def test_how_often_it_was_given_is_counted_once_somebody_asks() -> None:
    """If always counted, two actors that claim it in turn would never reach an old state."""
    given_up = explore(
        setup=begins_a_group,
        actor=works,
        at_end=lambda redis, answers: "gave it up" in answers.values(),
    )
    assert given_up.verdict == "holds", given_up

    def sees_it(redis: Redis) -> bool:
        return all(
            int(waits["times_delivered"]) < 3
            for waits in redis.xpending_range("q", "g", "-", "+", 9)
        )

    def takes_it(redis: Redis, name: str) -> None:
        redis.xautoclaim("q", "g", name, 0)

    found = explore(setup=begins_a_group, actor=takes_it, invariant=sees_it)
    assert found.verdict == "fails"
    assert found.report.findings[0].cost.steps == 2

    def for_ever(redis: Redis, name: str) -> None:
        while redis.exists("q"):
            redis.xautoclaim("q", "g", name, 0)

    endless = explore(setup=begins_a_group, actor=for_ever)
    assert endless.report.findings[0].name == "stuck forever"


def test_a_setup_may_ask_how_often_it_was_given() -> None:
    def prepare(redis: Redis) -> None:
        begins_a_group(redis)
        assert [one["times_delivered"] for one in redis.xpending_range("q", "g", "-", "+", 9)] == [
            1
        ]

    explore(setup=prepare, actor=lambda redis: redis.incr("n")).assert_holds()
