"""A story about a lock: buyers who do as they are told, on a real server, and a tape of it all.

Everything but the server is in the story's hand: who does what and when, the clocks, the tokens,
and the moment between two commands of one buyer. So a story always gives the same timeline.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, ClassVar

import redis

from app.config import Settings
from app.domain import Clock
from app.locks import LOCKS
from app.store import lua
from app.store.redis import Metered
from app.store.servers import Servers

LEASE = 10  # s
EPOCH = 1000  # what clocks say when a story begins; small, to be read
SCRIPTS = {
    hashlib.sha1(script.read_bytes(), usedforsecurity=False).hexdigest(): script.name[:-4]
    for script in files(lua).iterdir()
    if script.name.endswith(".lua")
}


@dataclass(frozen=True)
class Row:
    """One line of a timeline: a command with its reply, or words. `who` is "" for all."""

    who: str
    text: str
    command: bool
    state: tuple[str, ...]


class Died(BaseException):
    """A buyer's process is gone. No `except` and no `finally` of a real one would run."""


class Story:
    """One unit in stock, nobody in the lock, and a tape that begins to run."""

    def __init__(self, url: str, recipe: str) -> None:
        self.settings = Settings(redis_url=url, store_timeout=3_000)
        self.recipe = recipe
        self.shows = ["stock", "lock"]  # the keys whose values stand beside every line
        self.stocked = 0
        self.time = 0.0  # s since the story began
        self.rows: list[Row] = []
        self.buyers: list[Buyer] = []
        self.outside = Servers(self.settings).store  # for what no buyer does: it is not taped
        self.outside.flushall()
        for name in SCRIPTS.values():
            self.outside.script_load(lua.source(name))
        self.restock(1)

    def restock(self, units: int) -> None:
        self.stocked = units
        self.outside.set("stock", units)

    def buyer(self, name: str, ahead: float = 0) -> Buyer:
        """A new buyer, whose wall clock is `ahead` s ahead of the others'."""
        self.buyers.append(Buyer(self, name, ahead))
        return self.buyers[-1]

    def tell(self, who: str, text: str, command: bool = False) -> None:
        state = tuple(
            "-" if value is None else told(value) for value in self.outside.mget(self.shows)
        )
        self.rows.append(Row(who, text, command, state))

    def ends(self) -> None:
        """The balance, by what stands on the server."""
        sold = self.outside.llen("orders")
        verdict = ": OVERSOLD" if sold > self.stocked else ""
        self.tell("", f"sold {sold} of {self.stocked}{verdict}")

    def passes(self, seconds: int, words: str) -> None:
        """So much time goes by, for all clocks and for the leases on the server."""
        self.time += seconds
        for key in self.outside.scan_iter():
            if (left := self.outside.pttl(key)) > 0:
                self.outside.pexpire(key, left - seconds * 1000)  # deletes what is over
        self.tell("", f"{seconds} s go by: {words}")

    def close(self) -> None:
        for client in (self.outside, *(buyer.store for buyer in self.buyers)):
            client.close()


class StoryClock(Clock):
    """Stands still until the story goes on; what is to be done every so often waits for a word."""

    def __init__(self, story: Story, name: str, ahead: float) -> None:
        self.story = story
        self.name = name
        self.ahead = ahead
        self.deeds: list[Callable[[], bool]] = []

    def now(self) -> float:
        return self.story.time

    def wall(self) -> float:
        return EPOCH + self.story.time + self.ahead

    def token(self) -> str:
        return f"tok-{self.name}"

    def every(self, seconds: float, deed: Callable[[], bool]) -> Callable[[], None]:
        self.deeds.append(deed)
        return lambda: self.deeds.remove(deed)


class Buyer:
    """Holds a handle of the recipe, and does one thing at a time."""

    def __init__(self, story: Story, name: str, ahead: float) -> None:
        self.story = story
        self.name = name
        self.clock = StoryClock(story, name, ahead)
        self.servers = TapedServers(story.settings, self)
        self.store = self.servers.store
        self.lock = LOCKS[story.recipe](self.servers, self.clock, "lock", LEASE)
        self.hands: dict[str, Callable[[], object]] = {}  # command -> what happens before it
        self.sent: list[str] = []
        self.replies: list[str] = []
        self.stock = 0  # as read last

    def takes(self) -> None:
        """Try once to take the lock."""
        try:
            if not self.lock.acquire(blocking=False):
                self.says("waits")
        except Died:
            self.says("dies")

    def reads(self) -> None:
        self.stock = int(self.store.get("stock") or 0)
        if not self.stock:
            self.says("sold out")

    def writes(self) -> None:
        """What the critical section ends with: the sale."""
        self.store.set("stock", self.stock - 1)
        self.store.rpush("orders", self.name)

    def sells(self) -> None:
        self.reads()
        if self.stock:
            self.writes()

    def leaves(self) -> None:
        if not self.lock.release():
            self.says("it was not mine any more")

    def renews(self) -> None:
        """What its recipe does every so often is due."""
        for deed in list(self.clock.deeds):
            if not deed():
                self.clock.deeds.remove(deed)
        if self.lock.lost:
            self.says("knows that it is lost")

    def before(self, command: str, deed: Callable[[], object]) -> None:
        """Let `deed` happen between this buyer's next `command` and the one before it."""
        self.hands[command] = deed

    def dies_before(self, command: str) -> None:
        def die() -> None:
            raise Died

        self.before(command, die)

    def says(self, words: str) -> None:
        self.story.tell(self.name, f"({words})")

    def sending(self, commands: list[tuple[Any, ...]]) -> None:
        for command in commands:
            if hand := self.hands.pop(str(command[0]), None):
                hand()
        self.sent = [written(command) for command in commands]
        self.replies = []

    def answered(self, reply: object) -> None:
        self.replies.append(told(reply))
        if len(self.replies) == len(self.sent):  # of MULTI … EXEC the last one tells all
            self.story.tell(self.name, f"{', '.join(self.sent)} -> {self.replies[-1]}", True)


class TapedServers(Servers):
    """The same servers over a wire that its buyer sees and can hold up."""

    def __init__(self, settings: Settings, buyer: Buyer) -> None:
        super().__init__(settings)
        self.buyer = buyer

    def own_store(self) -> redis.Redis:
        store = super().own_store()
        pool = store.connection_pool
        pool.connection_class = type("Taped", (Taped, pool.connection_class), {"buyer": self.buyer})
        return store


class Taped(Metered):
    """A real connection; its buyer is told of what goes out and what comes back."""

    buyer: ClassVar[Buyer]

    def send_command(self, *args: Any, **kwargs: Any) -> None:
        self.buyer.sending([args])
        super().send_command(*args, **kwargs)

    def pack_commands(self, commands: Any) -> Any:
        self.buyer.sending(list(commands))
        return super().pack_commands(commands)

    def read_response(self, *args: Any, **kwargs: Any) -> Any:
        try:
            reply = super().read_response(*args, **kwargs)
        except redis.ResponseError as error:
            self.buyer.answered(error)
            raise
        self.buyer.answered(reply)
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
