"""EVAL and EVALSHA: the scripts' real text, run by a real Lua 5.1 against the model."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha1
from typing import Any

import lupa.lua51
import orjson

from app.explorer.model.values import Command, Err, NeverAnswers, Ok, Refused, Reply, integer

Run = Callable[[Command], Reply]
# What a script may see: no files, no processes, no clock, as on the server.
ALLOWED = (
    "assert error ipairs next pairs pcall select tonumber tostring type unpack math string table"
)

LONGEST = 10_000_000  # instructions of one script: some 0.1 s; what sells an apple needs hundreds
ENDLESS = "the script has no end"


class Lua:
    """One interpreter; scripts are compiled once."""

    def __init__(self) -> None:
        self.lua = lupa.lua51.LuaRuntime(encoding=None, unpack_returned_tuples=True)
        self.compiled: dict[bytes, Any] = {}
        self.make = self.lua.eval(
            b"function(text, names) local see = {} "
            b"for name in string.gmatch(names, '%S+') do see[name] = _G[name] end "
            b"local body, why = loadstring(text) if not body then return nil, why end "
            b"return function(redis, cjson, keys, argv) "
            b"see.redis, see.cjson, see.KEYS, see.ARGV = redis, cjson, keys, argv "
            b"setfenv(body, see) return body() end end"
        )
        self.hook = self.lua.eval(b"debug.sethook")
        # From then on at each instruction: a pcall in a loop does not catch the one after it.
        self.stop = self.lua.eval(
            b"function() debug.sethook((debug.gethook()), '', 1) error('%s', 0) end"
            % ENDLESS.encode()
        )
        self.cjson = self.lua.table_from({b"encode": self._encode, b"decode": self._decode})

    def run(self, text: bytes, keys: tuple[bytes, ...], args: tuple[bytes, ...], do: Run) -> Reply:
        """Raises Refused when the script does not compile or fails."""
        if text not in self.compiled:
            made = self.make(text, ALLOWED.encode())
            if isinstance(made, tuple):
                raise Refused(f"ERR Error compiling script (new function): {made[1].decode()}")
            self.compiled[text] = made
        table = self.lua.table_from
        redis = table(
            {
                b"call": self._caller(do, True),
                b"pcall": self._caller(do, False),
                b"error_reply": lambda text: table({b"err": _with_a_code(text)}),
                b"status_reply": lambda text: table({b"ok": text}),
            }
        )
        self.hook(self.stop, b"", LONGEST)
        try:
            value = self.compiled[text](redis, self.cjson, table(keys), table(args))
        except lupa.lua51.LuaError as error:
            if ENDLESS in str(error):
                raise NeverAnswers(f"this script goes on for {LONGEST:,} instructions") from error
            raise Refused(f"ERR {error}") from error
        finally:
            self.hook()
        return self._reply(value)

    def _caller(self, do: Run, fail: bool) -> Callable[..., Any]:
        def call(*words: bytes | float) -> Any:
            command = tuple(self._word(word) for word in words)
            reply = do((command[0].upper(), *command[1:]))
            if isinstance(reply, Err) and fail:
                raise Refused(reply.text)
            return self._value(reply)

        return call

    @staticmethod
    def _word(word: bytes | float) -> bytes:
        if isinstance(word, bytes):
            return word
        return b"%.17g" % word if isinstance(word, float) and word % 1 else b"%d" % word

    def _value(self, reply: Reply) -> Any:
        """What a script sees of a reply."""
        if reply is None:
            return False
        if isinstance(reply, Ok):
            return self.lua.table_from({b"ok": reply.encode()})
        if isinstance(reply, Err):
            return self.lua.table_from({b"err": reply.text.encode()})
        if isinstance(reply, tuple):
            return self.lua.table_from([self._value(one) for one in reply])
        return reply

    def _reply(self, value: Any) -> Reply:
        """What a client sees of a script's value: tables end at the first nil, numbers are cut."""
        if value is None or value is False:
            return None
        if value is True:
            return 1
        if isinstance(value, int | float):
            return int(value)
        if isinstance(value, bytes):
            return value
        if isinstance(value, tuple):  # several values: only the first counts
            return self._reply(value[0])
        if value[b"err"] is not None:
            return Err(value[b"err"].decode())
        if value[b"ok"] is not None:
            return Ok(value[b"ok"].decode())
        return tuple(self._reply(value[at]) for at in range(1, len(value) + 1))

    def _encode(self, value: Any) -> bytes:
        return orjson.dumps(self._plain(value))

    def _plain(self, value: Any) -> Any:
        if isinstance(value, bytes):
            return value.decode()
        if lupa.lua51.lua_type(value) == "table":
            return [self._plain(one) for one in value.values()]
        return int(value) if isinstance(value, float) and value.is_integer() else value

    def _decode(self, text: bytes) -> Any:
        try:
            return self._lua(orjson.loads(text))
        except orjson.JSONDecodeError as error:
            raise Refused(f"ERR user_script: {error}") from None

    def _lua(self, value: Any) -> Any:
        if isinstance(value, str):
            return value.encode()
        if isinstance(value, list):
            return self.lua.table_from([self._lua(one) for one in value])
        return value


def _with_a_code(text: bytes) -> bytes:
    """One word alone is no error's code."""
    text = text.removeprefix(b"-")
    return text if b" " in text else b"ERR " + text


def parts(command: Command) -> tuple[tuple[bytes, ...], tuple[bytes, ...]]:
    """The keys and the arguments of an EVAL or EVALSHA."""
    count = integer(command[2])
    if count < 0:
        raise Refused("ERR Number of keys can't be negative")
    if count > len(command) - 3:
        raise Refused("ERR Number of keys can't be greater than number of args")
    return command[3 : 3 + count], command[3 + count :]


def sha(text: bytes) -> bytes:
    return sha1(text, usedforsecurity=False).hexdigest().encode()
