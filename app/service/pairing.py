"""Check that store and database belong together; a pair that does not match sells nothing.

Each has an identity and names the other. Two that are new are paired at their first meeting, and so
are two of an earlier version that share a round. Each name is written once, so that one host wins
if several start at the same time. A person decides all other cases, with `lastapple pair`.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from sqlalchemy.orm import Session, sessionmaker

from app.domain import ITEMS, ShopError, WrongPair
from app.store import pair
from app.store.clients.redis import answering
from app.store.pair import Pair, PairSide
from app.store.servers import Servers
from app.store.sql import begun_rounds, db
from app.text import Text

TURN = 2.0  # s between two looks of a worker
FIRST = 2.0  # s that a purchase waits for the first one: the database may be away

log = logging.getLogger(__name__)


class Pairing:
    """One process's check of the pair, for all of its threads."""

    def __init__(self, servers: Servers, sessions: sessionmaker[Session] | None = None) -> None:
        """`sessions` are those of a database connection that the caller owns."""
        self.servers = servers
        self._sessions = sessions
        self.wrong: dict[str, WrongPair] = {}  # by item, as the watch found it
        self._looked = threading.Event()
        self._looked.set()

    @property
    def sessions(self) -> sessionmaker[Session]:
        return self._sessions or self.servers.sessions

    def require(self, item: str) -> None:
        """Pair store and database if both are new. Raises as `check`, also because of another item.

        A store belongs to one database with all of its items. So when several hosts start at the
        same time, the host that gets the first item gets all of them.
        """
        if self.check(item):
            first = next(iter(ITEMS))
            for each in ITEMS:
                if self.check(each) and each in (first, item):
                    both = self.name(each)
                    self._compare(both.store, both.database)

    def check(self, item: str) -> bool:
        """Return whether both are new and may be paired. Raises WrongPair, StoreAway, DatabaseAway.

        An emptied store may not be paired: it has lost data (see ConsistencyCheck).
        """
        try:
            return self._check(item)
        except WrongPair:  # another host may have paired them between our two looks
            return self._check(item)

    def _check(self, item: str) -> bool:
        with answering():
            store = pair.store_side(self.servers.store, item)
        with db.answering(), answering(), self.sessions() as session:
            database = pair.database_side(session, item)
            if _match(store, database):
                return False
            shared = store.id != "" and store.id == database.partner
            if store.round and not store.partner and not database.partner:
                shared = pair.share_a_round(self.servers.store, session)
            self._compare(store, database, shared)
            is_known = shared or store.id or store.partner
            return bool(is_known) or not begun_rounds.seen(session, item).round

    def name(self, item: str, replace: bool = False) -> Pair:
        """Write each side's name into the other side; with `replace` also over another name."""
        with db.answering(), answering():
            return pair.name(self.servers.store, self.sessions, item, replace)

    def is_wrong(self, item: str) -> bool:
        """Return whether the watch found a wrong pair; waits for its first look."""
        self._looked.wait(FIRST)
        return item in self.wrong

    def refuse(self, item: str) -> None:
        """Raise WrongPair if the watch found one."""
        if self.is_wrong(item) and (error := self.wrong.get(item)):
            raise WrongPair(*error.args)

    def watch(
        self, stop: threading.Event, also: Callable[[], None] = lambda: None
    ) -> threading.Thread:
        """Start a thread that checks the pair every TURN s and then calls `also`, until `stop`.

        Return the thread.
        """
        self._looked.clear()
        watch = threading.Thread(target=self._watch, args=(stop, also), name="pairing", daemon=True)
        watch.start()
        return watch

    def _watch(self, stop: threading.Event, also: Callable[[], None]) -> None:
        last_warning = ""
        while True:
            try:
                for item in ITEMS:
                    self._look(item)
                also()
                last_warning = ""
            except ShopError as error:  # if the check fails, the last finding stays; logged once
                if last_warning != str(error):
                    log.warning("whether store and database match: %s", error)
                last_warning = str(error)
            self._looked.set()
            if stop.wait(TURN):
                return

    def _look(self, item: str) -> None:
        try:
            self.check(item)
            self.wrong.pop(item, None)
        except WrongPair as error:
            if not self.wrong:  # the first stands for all items
                log.error("%s: %s", item, error)
            self.wrong[item] = error

    def _compare(self, store: PairSide, database: PairSide, shared: bool = False) -> None:
        """Raise WrongPair if one names another, or a store with rounds meets a new database."""
        emptied = not store.id and not store.partner and database.round
        not_its_database = store.partner not in ("", database.id)
        not_its_store = database.partner not in ("", store.id) and not emptied
        strangers = store.round and not store.partner and not database.partner and not shared
        if not (not_its_database or not_its_store or strangers):
            return
        settings = self.servers.settings
        to_store = "REDIS_URL" if settings.redis_url else "VAR_DIR"
        to_database = "DATABASE_URL" if settings.database_url else "VAR_DIR"
        wrong = {to_store} if not_its_store or strangers else set()
        wrong |= {to_database} if not_its_database or strangers else set()
        raise WrongPair(
            Text(
                "Store and database do not match: the store (%(store)s) belongs to database "
                "%(its_database)s, the database (%(database)s) to store %(its_store)s. Nothing is "
                "sold or booked here. Correct %(setting)s, or pair the two on purpose: lastapple "
                "pair.",
                store=store.id or Text("new"),
                its_database=store.partner or Text("none"),
                database=database.id or Text("new"),
                its_store=database.partner or Text("none"),
                setting=sorted(wrong),
            )
        )


def _match(store: PairSide, database: PairSide) -> bool:
    named = store.partner != "" and database.partner != ""
    return named and (store.id, store.partner) == (database.partner, database.id)
