"""The servers that modes and locks may use, each reached when first asked for."""

from __future__ import annotations

from functools import cached_property

import redis
from sqlalchemy import Engine
from sqlalchemy.orm import Session, sessionmaker

from app.config import Settings
from app.store import db
from app.store.redis import connect
from app.store.transactions import FOR_PAGES, Transactions, sellers


class Servers:
    """One process's clients. A mode or a recipe is given these and a clock, nothing else."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    @cached_property
    def store(self) -> redis.Redis:
        return self.own_store()

    def own_store(self) -> redis.Redis:
        """A client beside `store`, for whoever does to it what nobody may do to all others'."""
        return connect(self.settings.store, self.settings.store_timeout)

    @cached_property
    def engine(self) -> Engine:
        settings = self.settings
        return db.engine(settings.database, settings.database_timeout, self._sellers + FOR_PAGES)

    @cached_property
    def sessions(self) -> sessionmaker[Session]:
        return db.sessions(self.engine)

    @cached_property
    def transactions(self) -> Transactions:
        return Transactions(self.engine, self._sellers)

    @property
    def _sellers(self) -> int:
        return sellers(self.settings.shop_workers, self.settings.shop_threads)

    def missing(self, needs: str) -> str:
        """Why a mode or recipe that needs `needs` cannot run here; "" when it can."""
        return ""
