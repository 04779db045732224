"""Installed libraries, as they are found in an actor's code."""

from __future__ import annotations

import os
import sys
from types import ModuleType

import pytest
import redis
from badluck import explore
from badluck.actor import code_warnings
from badluck.actor.actor import Actor, Code
from badluck.actor.connection import client
from badluck.actor.process_patches import taken
from badluck.actor.request import Done
from badluck.target import EPOCH

Redis = redis.Redis


def draws(redis: Redis) -> str:
    token = sys.modules["a_library"].urandom(8).hex()
    redis.set(token, 1)
    redis.get(token)
    return str(token)


def test_what_a_library_has_taken_by_name_is_given_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    library = ModuleType("a_library")
    library.__file__ = "/somewhere/site-packages/a_library.py"
    library.urandom = os.urandom  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "a_library", library)
    assert explore(actor=draws, count=2).verdict == "holds"


def reads_text(redis: Redis) -> None:
    redis.connection_pool.connection_kwargs["decode_responses"] = True
    client = Redis(connection_pool=redis.connection_pool)
    client.hset("h", mapping={"field": "value"})
    assert client.hgetall("h") == {"field": "value"}
    assert client.get("nothing") is None


def test_a_client_that_decodes_is_given_text() -> None:
    result = explore(actor=reads_text, count=2)
    assert result.verdict == "holds", result


def test_what_is_left_behind_sends_nothing_in_anothers_name() -> None:
    """A destructor runs when its object is collected, while any actor's code runs."""
    left: list[Redis] = []

    def leaves(_: Actor) -> str:
        left.append(client())
        return ""

    def collects(_: Actor) -> str:
        with pytest.raises(redis.ConnectionError, match="is gone"):
            left[0].incr("n")
        return ""

    for name, work in (("A", leaves), ("B", collects)):
        assert Actor(name, Code(work), EPOCH).requests == (Done(""),)


def asks_in_a_script(redis: Redis) -> object:
    return redis.eval("redis.replicate_commands() return redis.call('incr', KEYS[1])", 1, "n")


def test_a_script_may_ask_for_what_servers_do_anyway() -> None:
    result = explore(actor=asks_in_a_script, count=2, at_end=lambda redis: redis.get("n") == b"2")
    assert result.verdict == "holds", result


def test_badluck_itself_means_what_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where badluck is installed, too: otherwise an actor's first warning would call itself
    forever.
    """
    monkeypatch.setattr(
        code_warnings, "__file__", "/lib/site-packages/badluck/actor/code_warnings.py"
    )
    assert code_warnings not in [module for module, *_ in taken([code_warnings.NOTING])]
