"""Commands and replies as a person reads them in a chart."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

from fairlock import scripts as fairlock
from redis.lock import Lock

from app.explorer.model.scripts import sha
from app.explorer.model.values import Command, Err, Ok, Reply
from app.explorer.request import Hear, Lost, Request, Send
from app.store import lua

PREFIX = re.compile(r"\{apple\}:(1:)?")  # of every key: there is but one item and one round
LONG = 24  # characters of one word


def of(request: Request, said: tuple[Reply, ...] | Lost | None) -> tuple[list[str], list[str]]:
    """What a strand did, a line for each command, and what it was answered."""
    answers = (
        ["(the connection broke)"] if isinstance(said, Lost) else [reply(r) for r in said or ()]
    )
    if isinstance(request, Send):
        return [command(one) for one in request.commands], answers
    if isinstance(request, Hear):
        return (["hears"] if said else ["hears nothing"]), answers
    return ["its time has come"], []


def command(words: Command) -> str:
    """One line: `SET lock token-A1 NX PX 10000`."""
    name = words[0].decode()
    if name == "EVALSHA":
        script = script_names().get(words[1], "EVALSHA a-script")
        return " ".join([script, *(_word(word) for word in words[3:])])
    return " ".join([name, *(_word(word) for word in words[1:])])


def reply(said: Reply) -> str:
    if said is None:
        return "nil"
    if isinstance(said, Ok):
        return str(said)
    if isinstance(said, Err):
        return f"({said.text})"
    if isinstance(said, bytes):
        return _word(said)
    if isinstance(said, tuple):
        return f"[{', '.join(reply(one) for one in said)}]"
    return str(said)


def _word(word: bytes) -> str:
    text = PREFIX.sub("", word.decode("utf-8", "backslashreplace"))
    if text.startswith('{"id":'):
        return "the-order"
    return text if len(text) <= LONG else f"{text[: LONG - 1]}…"


def scripts() -> dict[str, str]:
    """The project's, by their files' names: any shop's store knows them after some purchases."""
    names = [path.name for path in files(lua).iterdir() if path.name.endswith(".lua")]
    found = {name: lua.source(name.removesuffix(".lua")) for name in names}
    for script in (fairlock.ACQUIRE, fairlock.TAKE, fairlock.RELEASE, fairlock.LEAVE):
        found[f"queue/{script.name}.lua"] = script.text
    return found


def redis_lock_scripts() -> dict[str, str]:
    """Of redis-py's own lock."""
    return {
        "release": Lock.LUA_RELEASE_SCRIPT,
        "extend": Lock.LUA_EXTEND_SCRIPT,
        "reacquire": Lock.LUA_REACQUIRE_SCRIPT,
    }


@cache
def script_names() -> dict[bytes, str]:
    """What EVALSHA calls each of them, and its file's name."""
    texts = scripts() | {f"redis.lock/{name}": text for name, text in redis_lock_scripts().items()}
    return {sha(text.encode()): name for name, text in texts.items()}
