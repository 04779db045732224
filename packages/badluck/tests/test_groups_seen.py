"""What others see of a group of readers: the walks met both, on both servers."""

from __future__ import annotations

import pytest
from badluck.simulated.server import Server
from badluck.simulated.values import Command
from badluck.target import EPOCH


def command(words: str) -> Command:
    return tuple(word.encode() for word in words.split())


@pytest.fixture
def server() -> Server:
    server = Server(EPOCH)
    for words in ("XADD q 5-1 a b", "XGROUP CREATE q g 0", "XREADGROUP GROUP g c STREAMS q >"):
        server.execute("setup", command(words))
    return server


@pytest.mark.parametrize("words", ["XGROUP CREATE q h 0", "XGROUP DESTROY q g", "XSETID q 9-1"])
def test_who_watches_the_stream_is_told_of_entries_only(server: Server, words: str) -> None:
    for own in ("WATCH q", "MULTI", "PING"):
        server.execute("a", command(own))
    server.execute("b", command(words))
    assert server.execute("a", command("EXEC")) is not None


def test_who_waits_hears_of_what_is_added_and_of_nothing_else(server: Server) -> None:
    server.execute("b", command("XADD q 6-1 a b"))
    server.execute("b", command("XREADGROUP GROUP g c STREAMS q >"))
    server.execute("a", command("XREADGROUP GROUP g a BLOCK 0 STREAMS q >"))
    server.execute("b", command("XGROUP SETID q g 0"))
    server.execute("b", command("XDEL q 5-1"))
    assert not server.unread
    server.execute("b", command("XADD q 7-1 a b"))
    assert server.unread["a"]
