"""A wire that can be listened to: what goes out to a server and what comes back, word for word."""

from __future__ import annotations

import hashlib
from importlib.resources import files
from typing import Any, ClassVar, Protocol

import redis

from app.config import Settings
from app.store import lua
from app.store.redis import Metered
from app.store.servers import Servers

SCRIPTS = {
    hashlib.sha1(script.read_bytes(), usedforsecurity=False).hexdigest(): script.name[:-4]
    for script in files(lua).iterdir()
    if script.name.endswith(".lua")
}


class Listener(Protocol):
    def sending(self, commands: list[tuple[Any, ...]]) -> None:
        """Several at once: a MULTI … EXEC. While this runs nothing has gone out yet."""

    def answered(self, reply: object) -> None:
        """To one of them, in order; an error is a redis.ResponseError."""


class TapedServers(Servers):
    """The same servers over a wire that its listener hears and can hold up."""

    def __init__(self, settings: Settings, listener: Listener) -> None:
        super().__init__(settings)
        self.listener = listener

    def own_store(self) -> redis.Redis:
        store = super().own_store()
        pool = store.connection_pool
        pool.connection_class = type(
            "Taped", (Taped, pool.connection_class), {"listener": self.listener}
        )
        return store


class Taped(Metered):
    """A real connection; its listener is told of what goes out and what comes back."""

    listener: ClassVar[Listener]

    def send_command(self, *args: Any, **kwargs: Any) -> None:
        self.listener.sending([args])
        super().send_command(*args, **kwargs)

    def pack_commands(self, commands: Any) -> Any:
        self.listener.sending(list(commands))
        return super().pack_commands(commands)

    def read_response(self, *args: Any, **kwargs: Any) -> Any:
        try:
            reply = super().read_response(*args, **kwargs)
        except redis.ResponseError as error:
            self.listener.answered(error)
            raise
        self.listener.answered(reply)
        return reply


def written(command: tuple[Any, ...]) -> str:
    """As somebody would type it; a script by its name instead of its hash and count of keys."""
    words = [word.decode() if isinstance(word, bytes) else str(word) for word in command]
    if words[0] == "EVALSHA":
        words[1:3] = [SCRIPTS[words[1]]]
    return " ".join(words)


def told(reply: object) -> str:
    match reply:
        case None:
            return "(nil)"
        case bytes():
            return reply.decode()
        case list():
            return f"[{', '.join(told(each) for each in reply)}]"
        case redis.ResponseError():
            return f"(error) {reply}"
    return str(reply)
