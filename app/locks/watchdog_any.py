"""watchdog_any: a renewed lease without an owner. An exhibit: broken on purpose.

How       SETEX key lease token; each lease/3 EXISTS -> EXPIRE; release: GET -> compare, never DEL
Prevents  nothing
Breaks    SETEX asks nobody: everybody gets the lock at once
          (it is renewed for ever, whoever owns it, also when its holder died; never is it released,
          as bytes never equal a str; and whoever leaves closes the client that all others use)
Cost      two round trips, a new connection and a thread; two more every lease/3, for ever
Sound     never
Taught    As taught: SETEX takes the lock whoever has it, the watchdog prolongs anybody’s for ever,
          the release compares bytes with text and so never happens, and who leaves closes the
          connection that all share.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Unpack
from weakref import WeakKeyDictionary

import redis

from app.locks.handle import LEASE_S, Handle, How
from app.store.redis import beside


class Shared:
    """The tutorial's connection handle: one for all of a process, closed by whoever leaves.

    Its client stands beside the one that we are given, so that only this exhibit's commands
    suffer, and not all others that go over that one. Closing puts a new client in its place, and
    the old connections close when nobody uses them any more. redis-py's close() would close sockets
    in the hands of other threads, and the system gives their numbers to the next that are opened:
    replies then reach whom they were not meant for, in all of the process.
    """

    def __init__(self, client: redis.Redis) -> None:
        self.client = client
        self.newest: dict[str, str] = {}  # key -> token of the newest holder here
        self.stop: dict[str, Callable[[], None]] = {}  # key -> what ends the thread that renews it

    @classmethod
    def of(cls, store: redis.Redis) -> Shared:
        return SHARED.get(store) or SHARED.setdefault(store, cls(beside(store)))


SHARED: WeakKeyDictionary[redis.Redis, Shared] = WeakKeyDictionary()


class WatchdogAny(Handle):
    name = "watchdog_any"
    exhibit = True
    cost = (2, 2)
    tutorials = (3,)
    outlived = False  # it is renewed, and nobody was kept out anyway
    whole_seconds = True  # SETEX counts them, and 0 would be an error

    def __init__(
        self, store: redis.Redis, key: str, lease_s: float = LEASE_S, **how: Unpack[How]
    ) -> None:
        super().__init__(store, key, lease_s, **how)
        self.store = store
        self.shared = Shared.of(store)
        self.token = self.clock.token()

    def attempt(self) -> bool:
        self.ask("SETEX", self.key, int(self.lease_s), self.token)
        # As written every acquire leaves a thread behind, for ever. In a stampede those would be
        # thousands that all do the same thing: here a newer one stops the one before it.
        self.shared.newest[self.key] = self.token
        if stop := self.shared.stop.pop(self.key, None):
            stop()
        self.shared.stop[self.key] = self.clock.every(self.lease_s / 3, self.watch)
        return True

    def watch(self) -> bool:
        """Each lease/3, for ever: it never looks whose lock it is."""
        if self.shared.newest[self.key] != self.token:
            return False  # two acquires at once: the other one's thread does the same
        try:
            if self.ask("EXISTS", self.key):
                self.ask("EXPIRE", self.key, int(self.lease_s))
                self.counts.renewals += 1
        except redis.RedisError:
            return False  # as written: nobody catches it, and nobody is told that the thread died
        return True

    def free(self) -> bool:
        try:
            found: object = self.ask("GET", self.key)
            if found == self.token:  # bytes against str: never
                self.ask("DEL", self.key)
                return True
            return False
        finally:
            self.shared.client = beside(self.store)  # close, for everybody

    def ask(self, *command: str | int) -> object:
        client = self.shared.client
        reply: object = client.execute_command(*command)
        if client is not self.shared.client:
            raise redis.ConnectionError("Another holder left meanwhile and closed our client.")
        return reply
