"""What tests of locks share: hands in the gaps, clocks that can be set, holders to be killed."""

from __future__ import annotations

import json
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sqlalchemy import update

from app.config import Settings
from app.domain import Clock
from app.locks.handle import Handle
from app.store.named_locks import LockRow
from app.store.redis import Metered
from app.store.servers import Servers
from tests.cluster import all_keys
from tests.selling import Once

KEY = "{apple}:1:lock"
Lock = Callable[..., Handle]  # the fixture `lock`
TakeAway = Callable[[Handle], None]  # the fixture `take_away`
HoldUp = Callable[[Settings, str, Callable[[], object]], Servers]  # the fixture `hold_up`

NO_LEASE = {"setnx"}  # such a lock goes away when somebody deletes it, not with time


class SetClock(Clock):
    """A clock to be set: `ahead` s of the true time, or standing at `wall_at` s since 1970."""

    def __init__(self, wall_at: float | None = None) -> None:
        self.ahead = 0.0
        self.wall_at = wall_at

    def now(self) -> float:
        return super().now() + self.ahead

    def wall(self) -> float:
        return (super().wall() if self.wall_at is None else self.wall_at) + self.ahead


class _Gap(Metered):
    """Calls its `hand` before it sends a command named `before`, alone or in a MULTI."""

    before: str
    hand: Once

    def send_command(self, *args: Any, **kwargs: Any) -> None:
        if args[0] == self.before:
            self.hand()
        super().send_command(*args, **kwargs)

    def pack_commands(self, commands: Any) -> Any:
        commands = list(commands)
        if any(command[0] == self.before for command in commands):
            self.hand()
        return super().pack_commands(commands)


def held_up(settings: Settings, command: str, hand: Callable[[], object]) -> Servers:
    """The servers of somebody who does something else (`hand`) before his first `command`."""
    servers = Servers(settings)
    pool = servers.store.connection_pool
    members = {"before": command, "hand": staticmethod(Once(hand))}
    pool.connection_class = type("Gap", (_Gap, pool.connection_class), members)
    return servers


def pass_time(servers: Servers, clock: SetClock, seconds: float) -> None:
    """Let `seconds` pass at once: for `clock`, keys with a lifetime and leases in the database."""
    clock.ahead += seconds
    masters = servers.masters if servers.settings.redlock_urls else []
    for store in (servers.store, *masters):
        for key in all_keys(store):
            if (left := store.pttl(key)) >= 0:
                store.pexpire(key, max(0, round(left - seconds * 1000)))
    with servers.engine.begin() as connection:
        connection.execute(update(LockRow).values(until=LockRow.until - seconds))


def renewing() -> int:
    """How many threads of Clock.every are alive."""
    return sum(thread.name == "every" for thread in threading.enumerate())


class Other:
    """A holder or waiter in a process of its own; see tests/holder.py for what it says."""

    def __init__(
        self, settings: Settings, name: str, lease: float, hang_before: str = "", key: str = KEY
    ) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.holder"],
            cwd=Path(__file__).parents[1],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.tell(json.dumps([asdict(settings), name, lease, hang_before, key]))

    def tell(self, line: str) -> None:
        assert self.process.stdin
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def says(self, seconds: float = 30.0) -> str:
        """Its next word. It says one at a time, so none can be left in a buffer."""
        assert self.process.stdout
        ready, _, _ = select.select([self.process.stdout], [], [], seconds)
        assert ready, f"said nothing for {seconds} s"
        return self.process.stdout.readline().strip()

    def ask(self, word: str) -> str:
        self.tell(word)
        return self.says()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(10)

    def freeze(self) -> None:
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self.process.send_signal(signal.SIGCONT)

    def close(self) -> None:
        self.kill()  # also a stopped one
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.close()
        self.process.stdout.close()
