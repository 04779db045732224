"""Buyers of a story, each with a clock that stands still until the story continues."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import redis
from fairlock import FusedLock

from app.domain import Clock
from app.locks.fenced import Fenced
from app.store import lua
from tests.integration.locks.tape import TapedServers, told, written

if TYPE_CHECKING:
    from tests.integration.locks.story import Story

LEASE = 10  # s
EPOCH = 1000  # the clocks' time when a story begins; small, so that it is easy to read


class Died(BaseException):
    """A buyer's process has died: no error handling may catch this."""


class StoryClock(Clock):
    """A clock that stands still until the story continues; so do its repeated tasks."""

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
    """A buyer with a handle of the recipe, who does one step at a time."""

    def __init__(self, story: Story, name: str, ahead: float) -> None:
        self.story = story
        self.name = name
        self.clock = StoryClock(story, name, ahead)
        self.servers = TapedServers(story.settings, self, story.where.masters)
        self.store = self.servers.store
        self.lock = story.recipe(
            getattr(self.servers, story.recipe.needs), "lock", LEASE, clock=self.clock
        )
        self.hands: dict[str, Callable[[], object]] = {}  # command -> what happens before it
        self.meanwhile: list[Callable[[], object]] = []  # what happens while it stands in line
        self.cut: set[str] = set()  # commands that never arrive
        self.sent: list[str] = []
        self.replies: list[str] = []
        self.stock = 0  # as it was read last

    def takes(self) -> None:
        """Try once to take the lock."""
        try:
            if not self.lock.acquire(blocking=False):
                self.says("waits")
        except Died:
            self.says("dies")

    def stands_in_line(self, *meanwhile: Callable[[], object]) -> None:
        """Take the lock, after as many waits as there are things to happen meanwhile."""
        self.meanwhile = list(meanwhile)
        self.lock.acquire()

    def looks(self) -> None:
        """Read the stock, and draw no conclusion."""
        self.stock = int(self.store.get("stock") or 0)

    def reads(self) -> None:
        self.looks()
        if not self.stock:
            self.says("sold out")

    def writes(self) -> None:
        """Write the sale, at the end of the critical section."""
        self.store.set("stock", self.stock - 1)
        self.store.rpush("orders", self.name)

    def sells(self) -> None:
        self.reads()
        if self.stock:
            self.writes()

    def sells_without_exec(self) -> None:
        """Send the sale and the release in one MULTI that is never executed."""
        with self.store.pipeline() as pipe:
            pipe.watch("lock")
            self.stock = int(pipe.get("stock") or 0)
            pipe.multi()
            pipe.set("stock", self.stock - 1)
            pipe.rpush("orders", self.name)
            pipe.delete("lock")
            self.says("has queued its sale, and goes")

    def reads_fenced(self) -> None:
        """Read as mode `fenced` does: the store checks the fencing token."""
        self.stock = int(self.runs("read_fenced", "seen", "stock", f"key:{self.name}")[0])

    def writes_fenced(self) -> None:
        keys = ("seen", "stock", "sales", f"order:{self.name}", f"key:{self.name}")
        if self.runs("write_fenced", *keys, args=(self.stock - 1, f"sale-{self.name}")) == b"BUSY":
            self.says("is refused, and nothing is written")

    def takes_fused(self) -> None:
        """Take the lock as mode `fused` does: the stock comes with the lock."""
        self.fused = FusedLock(self.store, "lock", clock=self.clock)
        values = self.fused.acquire(["stock"], timeout_s=0)
        assert values, "a fused story has no line"
        self.stock = int(values[0])

    def leaves_fused(self) -> None:
        """Leave with the sale and the release in one step."""
        if not self.stock:
            self.says("sold out")
            self.fused.release()
        elif not self.fused.release(
            ["SET", "stock", self.stock - 1], ["RPUSH", "orders", self.name]
        ):
            self.says("is refused, and nothing is written")

    def runs(self, script: str, *keys: str, args: tuple[str | int, ...] = ()) -> Any:
        assert isinstance(self.lock, Fenced)
        return self.store.register_script(lua.source(script))(
            keys=keys, args=[self.lock.fence or 0, *args]
        )

    def leaves(self) -> None:
        if not self.lock.release():
            self.says("it was not mine any more")

    def does_what_is_due(self) -> None:
        """Run the recipe's repeated tasks, such as renewals."""
        for deed in list(self.clock.deeds):
            if not deed():
                self.clock.deeds.remove(deed)

    def renews(self) -> None:
        self.does_what_is_due()
        if self.lock.lost:
            self.says("knows that it is lost")

    def before(self, command: str, deed: Callable[[], object]) -> None:
        """Let `deed` happen between this buyer's next `command` and the one before it."""
        self.hands[command] = deed

    def dies_before(self, command: str) -> None:
        def die() -> None:
            raise Died

        self.before(command, die)

    def cut_off(self, command: str) -> None:
        """Let the buyer's `command` never arrive, and time out."""
        self.cut.add(command)

    def says(self, words: str) -> None:
        self.story.tell(self.name, f"({words})")

    def sending(self, wire: str, commands: list[tuple[Any, ...]]) -> None:
        self.sent = [wire + written(command) for command in commands]
        self.replies = []
        for command in (f"{wire}{command[0]}" for command in commands):
            if hand := self.hands.pop(command, None):
                hand()
            if command in self.cut:
                self.said(self.sent[0], "(no answer)")
                raise redis.TimeoutError("cut off")

    def answered(self, reply: object) -> None:
        self.replies.append(told(reply))
        if len(self.replies) == len(self.sent):  # of MULTI … EXEC the last one reports all
            self.said(", ".join(self.sent), self.replies[-1])

    def waiting(self) -> None:
        assert self.meanwhile, f"{self.name} waits, and nothing more happens in this story"
        self.says("waits")
        self.meanwhile.pop(0)()

    def called(self, word: bytes) -> None:
        _, *words = json.loads(word)
        self.says(f"is called: {', '.join(map(str, words))}")

    def said(self, statement: str, reply: str = "") -> None:
        self.story.tell(self.name, f"{statement} -> {reply}" if reply else statement, True)
