"""Commands and replies as a person reads them in a chart."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

from redis.lock import Lock

from badluck.actor.request import Hear, Lost, Request, Rest, Send
from badluck.model.scripts import sha
from badluck.model.values import Command, Err, Ok, Reply

MAX_WORD_LENGTH = 24  # characters of one word
STATUS = (b"OK", b"QUEUED")  # as a real server's come
# Of redis-py's own lock.
LOCK_SCRIPTS = {
    "release": Lock.LUA_RELEASE_SCRIPT,
    "extend": Lock.LUA_EXTEND_SCRIPT,
    "reacquire": Lock.LUA_REACQUIRE_SCRIPT,
}


def names_by_sha(scripts: Mapping[str, str]) -> dict[bytes, str]:
    """Names of scripts by their SHA, redis-py's lock scripts included."""
    texts = {**scripts, **{f"redis.lock/{name}": text for name, text in LOCK_SCRIPTS.items()}}
    return {sha(text.encode()): name for name, text in texts.items()}


def decoded(word: bytes) -> str:
    """Escape characters that no terminal draws, except ends of lines."""
    text = word.decode("utf-8", "backslashreplace")
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() or char == "\n" else char.encode("unicode_escape").decode()
        for char in text
    )


@cache
def _plain() -> Mapping[bytes, str]:
    return names_by_sha({})


class CommandText:
    """Words for commands and replies in charts."""

    def __init__(
        self,
        scripts: Callable[[], Mapping[bytes, str]] = _plain,
        shorten: Callable[[str], str] = str,
        bytes_as_such: bool = False,
    ) -> None:
        """`scripts` are known by name (see names_of); `shorten` leaves out what all words share.

        `bytes_as_such`: show replies as Python has them, so that b'1' and 1 differ.
        """
        self.scripts = scripts
        self.shorten = shorten
        self.bytes_as_such = bytes_as_such

    def of(
        self, request: Request, said: tuple[Reply, ...] | Lost | None
    ) -> tuple[list[str], list[str]]:
        """Return a fiber's commands, a line each, and their replies."""
        answers = ["(the connection broke)"]
        if not isinstance(said, Lost):
            answers = [self.reply(each) for each in said or ()]
        if isinstance(request, Send):
            return [self.command(command) for command in request.commands], answers
        if isinstance(request, Hear):
            return (["hears"] if said else ["hears nothing"]), answers
        return [request.then if isinstance(request, Rest) else ""], []

    def command(self, words: Command) -> str:
        """One line: `SET lock token-A1 NX PX 10000`."""
        name = words[0].decode()
        if name == "EVALSHA":
            script = self.scripts().get(words[1], "EVALSHA a-script")
            return " ".join([script, *(self._word(word) for word in words[3:])])
        return " ".join([name, *(self._word(word) for word in words[1:])])

    def reply(self, said: Reply) -> str:
        if said is None:
            return "nil"
        if isinstance(said, Ok):
            return str(said)
        if isinstance(said, Err):
            return f"({said.text})"
        if isinstance(said, bytes):
            as_such = self.bytes_as_such and said not in STATUS
            return f"b'{self._word(said)}'" if as_such else self._word(said)
        if isinstance(said, tuple):
            return f"[{', '.join(self.reply(part) for part in said)}]"
        return str(said)

    def _word(self, word: bytes) -> str:
        text = self.shorten(decoded(word))
        return text if len(text) <= MAX_WORD_LENGTH else f"{text[: MAX_WORD_LENGTH - 1]}…"
