"""EVAL and EVALSHA: the scripts' real text, run by a real Lua 5.1 against the model."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha1
from itertools import count, takewhile
from pathlib import Path
from typing import Any, NoReturn

import lupa.lua51
import orjson

from badluck.model.parsing import HIGHEST, LOWEST, CommandRefused, Undefined, integer
from badluck.model.values import Command, Double, Err, NeverAnswers, Ok, Reply, SomeTime

Run = Callable[[Command], Reply]
ENVIRONMENT = Path(__file__).with_name("environment.lua")

MAX_INSTRUCTIONS = 10_000_000  # instructions of one script: some 0.1 s; a usual one needs hundreds
ENDLESS = "the script has no end"
DIGITS = 17  # significant digits of Lua's numbers, which are doubles, in a server
JSON_DIGITS = 14  # the same in cjson
SPARSE = 10  # a list with holes may be so long for cjson to write them as null
# In RESP3 a script may answer with more types; these are the keys of their tables.
RESP3 = (b"double", b"map", b"set", b"big_number", b"verbatim_string")


class Lua:
    """One interpreter; scripts are compiled once."""

    def __init__(self) -> None:
        self.lua = lupa.lua51.LuaRuntime(encoding=None, unpack_returned_tuples=True)
        self.do: Run  # the commands of the script that runs
        self.failed: BaseException | None = None  # an error of the model, not of the server
        table = self.lua.table_from
        host = {
            b"call": self._call,
            b"lacks": self._lacks,
            b"raised": self._raised,
            b"error_reply": lambda text: table({b"err": _with_a_code(text)}),
            b"encode": self._encode,
            b"decode": self._decode,
        }
        make = self.lua.eval(b"loadstring(...)", ENVIRONMENT.read_bytes(), b"@environment")
        self.compile, self.begin = make(table(host))
        self.compiled: dict[bytes, Any] = {}
        self.hook = self.lua.eval(b"debug.sethook")
        # From then on at each instruction: a pcall in a loop does not catch the next one.
        self.stop = self.lua.eval(
            b"function() debug.sethook((debug.gethook()), '', 1) error('%s', 0) end"
            % ENDLESS.encode()
        )

    def run(self, text: bytes, keys: tuple[bytes, ...], args: tuple[bytes, ...], do: Run) -> Reply:
        """Run a script. Raises CommandRefused when it does not compile or fails, and NeverAnswers.

        Raises NotImplementedError when it uses what the model lacks, even if its pcall catches
        that.
        """
        if text not in self.compiled:
            body, why = self.compile(text)
            if body is None:
                raise CommandRefused(f"ERR Error compiling script (new function): {why.decode()}")
            self.compiled[text] = body
        self.do, self.failed = do, None
        table = self.lua.table_from
        self.hook(self.stop, b"", MAX_INSTRUCTIONS)
        try:
            well, value = self.begin(self.compiled[text], table(keys), table(args))
        except lupa.lua51.LuaError as error:
            if ENDLESS in str(error):
                message = f"this script runs for {MAX_INSTRUCTIONS:,} instructions"
                raise NeverAnswers(message) from error
            raise CommandRefused(f"ERR {error}") from error
        finally:
            self.hook()
            if self.failed:
                raise self.failed
        if not well:
            raise CommandRefused(_said(value))
        return self._reply(value)

    def _call(self, *words: Any) -> tuple[bool, Any]:
        """Return whether it failed; then the answer, or the error's table."""
        try:
            if not words:
                raise CommandRefused("ERR Please specify at least one argument for this call")
            command = tuple(self._word(word) for word in words)
            reply = self.do((command[0].upper(), *command[1:]))
            value = self._value(reply)
        except CommandRefused as error:
            reply = Err(str(error))
            value = self._value(reply)
        except BaseException as error:  # also a Ctrl-C: Lua catches whatever is raised in here
            self.failed = error
            raise
        return isinstance(reply, Err), value

    def _lacks(self, name: bytes) -> NoReturn:
        self.failed = NotImplementedError(f"{name.decode()} in a script")
        raise self.failed

    def _raised(self, error: BaseException) -> NoReturn:
        self.failed = error
        raise error

    @staticmethod
    def _word(word: Any) -> bytes:
        """Convert a Lua value to a command's word; numbers are written out."""
        if isinstance(word, bytes):
            return word
        if isinstance(word, bool) or not isinstance(word, int | float):
            raise CommandRefused("ERR Command arguments must be strings or integers")
        text = f"{word:.{DIGITS}g}"
        # For more digits, and most fractions, Redis writes all digits and Valkey the shortest form.
        if abs(word) < 10**DIGITS and (not word % 1 or text == repr(word)):
            return text.encode()
        raise Undefined(f"{text} as a number in a script's command")

    def _value(self, reply: Reply) -> Any:
        """Convert a reply to the Lua value that a script sees."""
        if reply is None:
            return False
        if isinstance(reply, Ok):
            return self.lua.table_from({b"ok": reply.encode()})
        if isinstance(reply, SomeTime):
            raise Undefined("how long a key still lives, in a script of who looks,")
        if isinstance(reply, Err):
            return self.lua.table_from({b"err": reply.text.encode()})
        if isinstance(reply, tuple):
            return self.lua.table_from([self._value(part) for part in reply])
        if isinstance(reply, Double):
            if f"{float(reply):.{DIGITS}g}".encode() != reply:
                raise Undefined(f"the digits of {reply.decode()} in a script")
            return bytes(reply)
        return reply

    def _reply(self, value: Any) -> Reply:
        """Convert a script's value to a reply: tables end at the first nil, numbers are cut."""
        if value is None or value is False:
            return None
        if value is True:
            return 1
        if isinstance(value, int | float):
            if not LOWEST <= value <= HIGHEST:  # a cast in C, whose result depends on the processor
                raise Undefined(f"a script's answer of {value:g}")
            return int(value)
        if isinstance(value, bytes):
            return value
        if lupa.lua51.lua_type(value) != "table":
            return None
        if value[b"err"] is not None:
            return Err(value[b"err"].decode())
        if value[b"ok"] is not None:
            return Ok(value[b"ok"].decode())
        for key in RESP3:
            if value[key] is not None:
                raise NotImplementedError(f"a script's answer with {key.decode()}")
        return tuple(map(self._reply, takewhile(_is_there, map(value.__getitem__, count(1)))))

    def _encode(self, value: Any) -> bytes:
        # As cjson writes it, which escapes a slash and the DEL character.
        return orjson.dumps(self._plain(value)).replace(b"/", rb"\/").replace(b"\x7f", rb"\u007f")

    def _plain(self, value: Any) -> Any:
        if isinstance(value, bytes):
            try:
                return value.decode()
            except UnicodeDecodeError:
                self._lacks(b"cjson.encode of what is no UTF-8")
        if isinstance(value, bool):
            return value
        if isinstance(value, int | float):
            plain = int(value) if abs(value) < 10**JSON_DIGITS and not value % 1 else value
            if f"{value:.{JSON_DIGITS}g}" != repr(plain):
                self._lacks(b"cjson.encode of a number of so many digits")
            return plain
        if lupa.lua51.lua_type(value) == "table":
            keys = list(value.keys())
            if not all(isinstance(key, int) and key >= 1 for key in keys):
                return self._object(value)
            if max(keys, default=0) > max(SPARSE, len(keys)):
                self._lacks(b"cjson.encode of a list with so many holes")
            every = map(value.__getitem__, range(1, max(keys, default=0) + 1))
            return [None if part is None else self._plain(part) for part in every] or {}
        return self._lacks(b"cjson.encode of anything else")

    def _object(self, table: Any) -> dict[str, Any]:
        """Convert a table of one name: the order of several differs between Valkey and Redis."""
        keys = list(table.keys())
        if len(keys) > 1:
            self._lacks(
                b"cjson.encode of a table with several names, whose order is a server's own,"
            )
        if not isinstance(keys[0], bytes):
            self._lacks(b"cjson.encode of such a key")
        return {self._plain(keys[0]): self._plain(table[keys[0]])}

    def _decode(self, text: Any) -> tuple[bool, Any]:
        """Return whether it failed; then the value, or the reason."""
        try:
            return False, self._lua(orjson.loads(text))
        except orjson.JSONDecodeError as error:
            return True, str(error).encode()

    def _lua(self, value: Any) -> Any:
        if isinstance(value, str):
            return value.encode()
        if isinstance(value, list):
            return self.lua.table_from([self._lua(part) for part in value])
        if isinstance(value, dict):
            named = {key.encode(): self._lua(part) for key, part in value.items()}
            return self.lua.table_from(named)
        if value is None:
            self._lacks(b"cjson.decode of null")
        return value


def _is_there(value: Any) -> bool:
    return value is not None


def _said(error: Any) -> str:
    """Return a client's reply for an error that a script did not catch."""
    if lupa.lua51.lua_type(error) == "table":
        error = error[b"err"]
        return error.decode() if isinstance(error, bytes) else "ERR unknown error"
    return f"ERR {error.decode() if isinstance(error, bytes) else error}"


def _with_a_code(text: bytes) -> bytes:
    """Add a code, since a single word is not an error code."""
    text = text.removeprefix(b"-")
    return text if b" " in text else b"ERR " + text


def parts(command: Command) -> tuple[tuple[bytes, ...], tuple[bytes, ...]]:
    """Return the keys and the arguments of an EVAL or EVALSHA."""
    keys = integer(command[2])
    if keys < 0:
        raise CommandRefused("ERR Number of keys can't be negative")
    if keys > len(command) - 3:
        raise CommandRefused("ERR Number of keys can't be greater than number of args")
    return command[3 : 3 + keys], command[3 + keys :]


def sha(text: bytes) -> bytes:
    return sha1(text, usedforsecurity=False).hexdigest().encode()
