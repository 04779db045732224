"""A script's commands and its replies, in the model and on real servers."""

from __future__ import annotations

import pytest
import redis
from badluck.actor.connection import native
from badluck.model.server import ModelServer
from badluck.model.values import Err, Reply
from badluck.model.waiters import Waits
from badluck.target import EPOCH

from tests.support.servers import StoreServer

SCRIPTS = [
    "return redis.status_reply('FINE')",
    "return {redis.status_reply('so so'), 1, redis.error_reply('SOLD out')}",
    "return redis.error_reply('SOLD out')",
    "return redis.error_reply('-SOLD out')",
    "return redis.error_reply('SOLD')",
    "return {1, nil, 3}",
    "return {[1] = 1, x = 2}",
    "return {ok = 'fine'}",
    "return {err = 'My error'}",
    "return {-3.7, 2 ^ 62, 9007199254740993}",
    "return 'one', 'two'",
    "return tostring(redis.no_such_thing)",
    "return KEYS",
    "KEYS[1] = 'other' return KEYS[1]",
    "local function f() return 1 end return f()",
    "local well, why = pcall(error, 'x') return {tostring(well), why}",
    "local well, why = pcall(redis.call, 'GET') return {tostring(well), type(why)}",
    "local well, why = pcall(error, {err = 'so so'}) return {tostring(well), why}",
    "return cjson.encode({1, 'a/b', {}, true, 0.5, -7, {2, {3}}})",
    "return cjson.encode({nil, 'taken', '0'})",
    "return cjson.encode({stock = {['a/b'] = {1, {}}}})",
    "return cjson.decode('[1, [2, \"x\"], true, []]')",
    'return cjson.decode(\'{"a": [5, {"b": "x"}]}\').a[2].b',
    "local well, why = pcall(cjson.decode, 'x') return {tostring(well), type(why)}",
    *(
        f"redis.call('SET', KEYS[1], {number}) return redis.call('GET', KEYS[1])"
        for number in ("5", "-5", "10 ^ 16", "2 ^ 53 + 2", "0.5", "1e15 + 0.5", "'0.1'", "'1e300'")
    ),
]
FAIL = [  # each server has its own words
    "sold = 1 return sold",  # a `local` was forgotten
    "function f() return 1 end return f()",
    "if sold == nil then return 1 end return 2",
    "return print",
    "KEYS = {} return 1",
    "redis.sold = 1 return 1",
    "string.rep = nil return 1",
    "error('so')",
    "error({err = 'so so'})",
    "return redis.call()",
    "return redis.call('GET', nil)",
    "return redis.call('GET', {})",
    "return redis.call('GET', true)",
    "return redis.pcall('GET', true)",
    "return redis.call('GET')",
    "return cjson.decode('x')",
    "local function f() f() end f() return 1 +",
    "return 5 // 2",
]
LACKING = [
    "redis.call('BITPOS', KEYS[1])",
    "redis.sha1hex('')",
    "redis.setresp(3)",
    "math.random()",
    "bit.band(7, 3)",
    "setmetatable({}, {})",
    "os.time()",
    "(cjson.null)",
    "cjson.encode({stock = 5, sold = 1})",  # Valkey has another order
    "cjson.encode({stock = 5, 1})",
    "cjson.encode({[1.5] = 5})",
    "cjson.encode(1 / 3)",
    "cjson.encode('\\255')",
    "cjson.encode(1900000000000000)",
    "cjson.decode('{\"stock\": null}')",
    "cjson.decode('[null]')",
    *(
        f"redis.call('SET', KEYS[1], {number})"
        for number in ("0.1", "1 / 3", "10 ^ 17", "1 / 0", "0 / 0")
    ),
]


def modelled(text: str) -> Reply:
    reply = ModelServer(EPOCH).execute("", (b"EVAL", text.encode(), b"1", b"k"))
    assert not isinstance(reply, Waits)
    return reply


def really(server: StoreServer, text: str) -> object:
    with redis.Redis.from_url(server.url, protocol=2) as client:
        try:
            return client.eval(text, 1, "k")
        except redis.ResponseError as error:
            return error


@pytest.mark.parametrize("text", SCRIPTS)
def test_the_same(store_server: StoreServer, text: str) -> None:
    assert repr(really(store_server, text)) == repr(native(modelled(text)))


@pytest.mark.parametrize("text", FAIL)
def test_an_error(store_server: StoreServer, text: str) -> None:
    assert isinstance(really(store_server, text), redis.ResponseError)
    assert isinstance(modelled(text), Err)


@pytest.mark.parametrize("text", LACKING)
def test_what_the_model_lacks_is_never_passed_over(text: str) -> None:
    """Even if the script catches the error."""
    for script in (f"return {text}", f"return tostring(pcall(function() return {text} end))"):
        with pytest.raises(NotImplementedError):
            modelled(script)


@pytest.mark.parametrize("value", ["9223372036854775807", "1 / 0", "0 / 0", "{double = 0.5}"])
def test_an_answer_that_servers_or_processors_decide(value: str) -> None:
    with pytest.raises(NotImplementedError):
        modelled(f"return {value}")


def test_no_script_changes_what_the_next_one_sees() -> None:
    server = ModelServer(EPOCH)
    for text, expected in (
        ("return pcall(function() math.floor = nil end)", None),
        ("return math.floor(1.5)", 1),
        ("local well = pcall(function() sold = 1 end) return tostring(well)", b"false"),
        ("return KEYS[1]", b"k"),
        ("return KEYS[1]", b"l"),
    ):
        key = b"l" if expected == b"l" else b"k"
        assert server.execute("", (b"EVAL", text.encode(), b"1", key)) == expected
