"""Rows that the bench must find out. A module of its own: the workers import it by name."""

from __future__ import annotations

import logging

from app.locks.handle import Handle
from app.store.servers import Servers
from loadtest.bench.contender import Attempt, Names


class Never(Handle):
    """A recipe that lets every caller in."""

    name = "never"
    exhibit = True

    def attempt(self) -> bool:
        return True

    def free(self) -> bool:
        return True


class Stuck(Never):
    """A recipe that lets no caller in, and whose waiters soon give up."""

    def obtain(self, blocking: bool, wait_s: float | None) -> bool:
        self.clock.sleep(0.01)
        return False


class Forgetful:
    """Records each sale and leaves the stock as it is."""

    def __init__(self, servers: Servers, names: Names, _lease: int) -> None:
        self.store = servers.store
        self.names = names

    def sell(self) -> Attempt:
        self.store.xadd(self.names.sales, {"left": "?"})
        return Attempt(0.0, True)


class Boastful(Forgetful):
    """Claims a sale, and records nothing."""

    def sell(self) -> Attempt:
        return Attempt(0.0, bool(self.store.ping()))


class Broken(Forgetful):
    """Raises an error."""

    def sell(self) -> Attempt:
        raise OSError("the apple is off")


class Quiet(Forgetful):
    """Logs an error and continues, as some libraries do."""

    def sell(self) -> Attempt:
        logging.getLogger("quiet").error("the pear is off")
        return super().sell()
