"""The services, wired, for both servers, the command line and the fulfil process."""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager, suppress
from functools import cached_property, partial
from importlib.metadata import version
from typing import TYPE_CHECKING

from app.config import Settings
from app.domain import DatabaseAway
from app.lab.about import About, about
from app.lab.classroom.sale import ClassSale
from app.lab.comparison.comparisons import Comparisons
from app.lab.comparison.conduct import Conduct
from app.lab.stampede.drive import Drive
from app.lab.stampede.drivers import Drivers
from app.lab.stampede.runs import Runs
from app.ops.lag import lag
from app.ops.process_status import HeartbeatFile
from app.ops.readiness import Readiness
from app.server.metrics.audits import Audits
from app.service.audit import Auditor
from app.service.classroom.members import Members
from app.service.classroom.notices import Notices
from app.service.consistency import ConsistencyCheck
from app.service.dead_letters import DeadLetters
from app.service.fulfil import Fulfil
from app.service.holds import Holds, Sweep
from app.service.order_lookup import OrderLookup
from app.service.purchase import Purchase
from app.service.repair import Mend
from app.service.rounds import Rounds
from app.store.servers import Servers
from app.store.sql import db

if TYPE_CHECKING:
    import redis
    from sqlalchemy import Engine

    from app.server.metrics.scrape import Metrics


class Services:
    """The services over one store and one database; each is made when first asked for."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.servers = Servers(settings)

    @property
    def store(self) -> redis.Redis:
        return self.servers.store

    @property
    def engine(self) -> Engine:
        return self.servers.engine

    @cached_property
    def rounds(self) -> Rounds:
        return Rounds(self.servers)

    @property
    def consistency(self) -> ConsistencyCheck:
        return self.rounds.consistency

    @cached_property
    def mend(self) -> Mend:
        return Mend(self.servers, self.rounds)

    @cached_property
    def auditor(self) -> Auditor:
        return Auditor(self.store, self.rounds.ledgers, self.consistency.pairing)

    @cached_property
    def order_lookup(self) -> OrderLookup:
        return OrderLookup(self.store, self.servers.sessions, self.holds)

    @cached_property
    def holds(self) -> Holds:
        return Holds(self.servers)

    @cached_property
    def sweep(self) -> Sweep:
        return Sweep(self.holds, self.consistency.pairing)

    @cached_property
    def fulfil(self) -> Fulfil:
        servers = self.servers
        return Fulfil(
            self.store,
            servers.sessions,
            self.settings.fulfil_batch,
            self.consistency.pairing,
            servers.copied,
        )

    @cached_property
    def heartbeat(self) -> HeartbeatFile:
        return HeartbeatFile(self.settings)

    @cached_property
    def readiness(self) -> Readiness:
        return Readiness(self.servers)

    @cached_property
    def dead_letters(self) -> DeadLetters:
        return DeadLetters(self.store, self.servers.sessions, self.consistency.pairing)

    @cached_property
    def metrics(self) -> Metrics:
        """The lab's metrics; the shop's workers do not need them."""
        from app.server.metrics.scrape import Metrics

        audits = Audits(self.rounds, self.auditor)
        return Metrics(self.settings.metrics, partial(lag, self.store), audits)

    @cached_property
    def runs(self) -> Runs:
        return Runs(self.servers, self.rounds)

    @cached_property
    def members(self) -> Members:
        return Members(self.store, self.servers.clock)

    @cached_property
    def class_sale(self) -> ClassSale:
        return ClassSale(self.rounds, self.auditor, self.runs, self.members)

    @cached_property
    def notices(self) -> Notices:
        return Notices(self.store)

    def drive(self, stop: threading.Event) -> Drive:
        """Return a run's process; `stop` is set when the run must end at once."""
        return Drive(self.runs, self.auditor, self.settings.shop_directly, stop)

    @cached_property
    def comparisons(self) -> Comparisons:
        return Comparisons(self.runs, self.about)

    def conduct(self, stop: threading.Event) -> Conduct:
        """Return a comparison's process; `stop` is set when the comparison must end at once."""
        return Conduct(self.comparisons, Drivers(self.settings), stop)

    def purchase(self) -> Purchase:
        """A selling worker, one per process; it has begun to publish its status.

        See worker_status.
        """
        purchase = Purchase(self.servers, self.rounds, self.holds)
        purchase.reporter.start()
        watch = self.consistency.pairing.watch(purchase.reporter.stopped, purchase.detector.confirm)
        purchase.reporter.threads.append(watch)
        return purchase

    def about(self) -> About:
        return about(self.servers, version("lastapple"))

    def check_database(self) -> None:
        """Check the tables. Raises WrongDatabase, Newer; a database that is away may come later."""
        with suppress(DatabaseAway):
            db.check(self.engine)

    def preparing(self) -> AbstractContextManager[None]:
        """Hold the lock under which one process migrates and stocks. Raises DatabaseAway."""
        return db.preparing(self.engine)

    def migrate(self) -> None:
        db.migrate(self.engine)
