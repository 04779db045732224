"""What random walks found the model to do otherwise than real servers."""

from __future__ import annotations

from typing import NoReturn

import pytest
from badluck.simulated.scripts import Lua
from badluck.simulated.server import Server
from badluck.simulated.values import Err
from badluck.target import EPOCH


def first_word(reply: object) -> str:
    assert isinstance(reply, Err)
    return reply.text.split()[0]


def test_a_list_that_is_moved_onto_itself_keeps_its_expiry() -> None:
    server = Server(EPOCH)
    for command in ((b"RPUSH", b"k", b"1"), (b"PEXPIRE", b"k", b"1000")):
        server.execute("a", command)
    assert server.execute("a", (b"LMOVE", b"k", b"k", b"LEFT", b"RIGHT")) == b"1"
    assert server.execute("a", (b"PTTL", b"k")) == 1000


def test_an_exec_of_who_listens_is_refused_in_its_own_way() -> None:
    server = Server(EPOCH)
    server.execute("a", (b"SUBSCRIBE", b"ch"))
    assert first_word(server.execute("a", (b"GET", b"k"))) == "ERR"
    assert first_word(server.execute("a", (b"EXEC",))) == "EXECABORT"


def test_what_is_no_json_is_an_error_of_the_script() -> None:
    script = b"redis.call('SET', 'k', 1) return cjson.decode(ARGV[1])"
    server = Server(EPOCH)
    assert first_word(server.execute("a", (b"EVAL", script, b"0", b"a"))) == "ERR"
    assert server.execute("a", (b"GET", b"k")) == b"1"


def test_a_ctrl_c_in_the_middle_of_a_script_is_heard() -> None:
    """Lua catches what is raised in the commands that it calls, and a search would go on."""

    def interrupted(_: object) -> NoReturn:
        raise KeyboardInterrupt

    for call in (b"redis.call", b"redis.pcall"):
        with pytest.raises(KeyboardInterrupt):
            Lua().run(b"return " + call + b"('GET', KEYS[1])", (b"k",), (), interrupted)
