"""Differences between the model and real servers that random walks have found."""

from __future__ import annotations

from typing import NoReturn

import pytest
from badluck.model.parsing import Undefined
from badluck.model.scripts import Lua
from badluck.model.server import ModelServer
from badluck.model.values import Err
from badluck.target import EPOCH


def first_word(reply: object) -> str:
    assert isinstance(reply, Err)
    return reply.text.split()[0]


def test_a_list_that_is_moved_onto_itself_keeps_its_expiry() -> None:
    server = ModelServer(EPOCH)
    for command in ((b"RPUSH", b"k", b"1"), (b"PEXPIRE", b"k", b"1000")):
        server.execute("a", command)
    assert server.execute("a", (b"LMOVE", b"k", b"k", b"LEFT", b"RIGHT")) == b"1"
    assert server.execute("a", (b"PTTL", b"k")) == 1000


def test_only_a_list_wakes_who_waits_for_one() -> None:
    """In the model a sorted set is a tuple, too, as a list is."""
    server = ModelServer(EPOCH)
    server.execute("a", (b"BLPOP", b"k", b"0"))
    server.execute("b", (b"ZADD", b"k", b"1", b"a"))
    assert server.unread == {}
    server.execute("b", (b"RPUSH", b"l", b"1"))
    server.execute("b", (b"RENAME", b"l", b"k"))
    assert server.read("a") == (b"k", b"1")


def test_what_is_moved_to_another_list_wakes_who_waits_for_that() -> None:
    server = ModelServer(EPOCH)
    server.execute("a", (b"BLPOP", b"l", b"0"))
    server.execute("b", (b"BLMOVE", b"k", b"l", b"LEFT", b"LEFT", b"0"))
    server.execute("c", (b"RPUSH", b"k", b"1"))
    assert (server.read("b"), server.read("a")) == (b"1", (b"l", b"1"))


def test_a_member_that_is_added_and_changed_at_once_has_changed_twice() -> None:
    server = ModelServer(EPOCH)
    command = (b"ZADD", b"k", b"CH", b"1", b"a", b"2", b"a")
    assert server.execute("a", command) == 2


def test_a_score_with_a_fraction_has_other_digits_on_every_server() -> None:
    script = b"return redis.call('ZSCORE', KEYS[1], 'a')"
    server = ModelServer(EPOCH)
    server.execute("a", (b"ZADD", b"k", b"0.1", b"a"))
    assert server.execute("a", (b"ZSCORE", b"k", b"a")) == b"0.1"
    with pytest.raises(Undefined):
        server.execute("a", (b"EVAL", script, b"1", b"k"))


def test_an_id_of_a_stream_may_begin_with_noughts() -> None:
    server = ModelServer(EPOCH)
    assert server.execute("a", (b"XADD", b"k", b"05-01", b"a", b"1")) == b"5-1"


def test_an_id_whose_number_is_left_to_the_server_is_named_as_lacking() -> None:
    with pytest.raises(NotImplementedError, match=r"an id like 2-\*"):
        ModelServer(EPOCH).execute("a", (b"XADD", b"k", b"2-*", b"a", b"1"))


def test_floats_are_added_as_x86_adds_them() -> None:
    server = ModelServer(EPOCH)
    server.execute("a", (b"SET", b"k", b"1000.1"))
    assert server.execute("a", (b"INCRBYFLOAT", b"k", b"0.2")) == b"1000.29999999999999999"


def test_how_many_fields_there_are_when_one_has_expired_is_for_the_server_to_say() -> None:
    server = ModelServer(EPOCH)
    server.execute("a", (b"HSET", b"k", b"a", b"1", b"b", b"2"))
    server.execute("a", (b"HPEXPIRE", b"k", b"10", b"FIELDS", b"1", b"a"))
    assert EPOCH + 11 in server.deadlines()
    server.pass_time(EPOCH + 10)  # some actors read it at that ms, and others have removed it
    with pytest.raises(Undefined):
        server.execute("a", (b"HGET", b"k", b"a"))
    server.pass_time(EPOCH + 11)
    assert server.execute("a", (b"HGETALL", b"k")) == (b"b", b"2")
    with pytest.raises(Undefined):
        server.execute("a", (b"HLEN", b"k"))


def test_an_exec_of_who_listens_is_refused_in_its_own_way() -> None:
    server = ModelServer(EPOCH)
    server.execute("a", (b"SUBSCRIBE", b"ch"))
    assert first_word(server.execute("a", (b"GET", b"k"))) == "ERR"
    assert first_word(server.execute("a", (b"EXEC",))) == "EXECABORT"


def test_what_is_no_json_is_an_error_of_the_script() -> None:
    script = b"redis.call('SET', 'k', 1) return cjson.decode(ARGV[1])"
    server = ModelServer(EPOCH)
    assert first_word(server.execute("a", (b"EVAL", script, b"0", b"a"))) == "ERR"
    assert server.execute("a", (b"GET", b"k")) == b"1"


def test_a_ctrl_c_in_the_middle_of_a_script_is_heard() -> None:
    """Lua catches exceptions of the commands that it calls, so the search would continue."""

    def interrupted(_: object) -> NoReturn:
        raise KeyboardInterrupt

    for call in (b"redis.call", b"redis.pcall"):
        with pytest.raises(KeyboardInterrupt):
            Lua().run(b"return " + call + b"('GET', KEYS[1])", (b"k",), (), interrupted)


def test_a_script_may_neither_wait_nor_open_a_transaction() -> None:
    server = ModelServer(EPOCH)
    for name in ("MULTI", "WATCH", "EVAL", "SUBSCRIBE"):
        reply = server.execute(
            "a", (b"EVAL", b"return redis.call('%s', 'k')" % name.encode(), b"0")
        )
        assert "not allowed from script" in str(reply)
    server.execute("a", (b"RPUSH", b"q", b"1"))
    with pytest.raises(Undefined, match="BLPOP in a script"):
        server.execute("a", (b"EVAL", b"return redis.call('BLPOP', 'q', 0)", b"0"))
    server.execute("a", (b"MULTI",))
    with pytest.raises(Undefined, match="MULTI inside MULTI"):
        server.execute("a", (b"MULTI",))


def test_what_is_set_until_a_moment_that_is_over_is_gone() -> None:
    server = ModelServer(EPOCH)
    for word in (b"EXAT", b"PXAT"):
        server.execute("a", (b"SET", b"k", b"0"))
        assert server.execute("a", (b"SET", b"k", b"1", word, b"1", b"GET")) == b"0"
        assert server.execute("a", (b"GET", b"k")) is None
