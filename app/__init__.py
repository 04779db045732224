"""Last Apple: the only place where parts are wired.

`create_shop` and `create_lab` are the two WSGI applications; `Parts` is what both, the command
line and the fulfil process are made of.
"""

from __future__ import annotations

import os
from functools import cached_property
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from app.config import Settings
from app.domain import Clock
from app.service.about import about
from app.service.audit import Auditor
from app.service.book import OrderBook
from app.service.fulfil import Fulfil
from app.service.purchase import Purchase
from app.service.rounds import Rounds
from app.store import db
from app.store.servers import Servers

if TYPE_CHECKING:
    import redis
    from flask import Flask
    from sqlalchemy import Engine

__version__ = version("lastapple")


class Parts:
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

    @cached_property
    def auditor(self) -> Auditor:
        return Auditor(self.store, self.servers.sessions)

    @cached_property
    def book(self) -> OrderBook:
        return OrderBook(self.store, self.servers.sessions)

    @cached_property
    def fulfil(self) -> Fulfil:
        return Fulfil(self.store, self.servers.sessions, self.settings.fulfil_batch)

    def purchase(self) -> Purchase:
        """A selling worker. One a process: it starts a thread that tells what it is doing."""
        return Purchase(self.servers, Clock(), self.rounds)

    def about(self) -> dict[str, Any]:
        return about(self.servers, __version__)

    def migrate(self) -> None:
        db.migrate(self.engine)


def create_shop(settings: Settings | None = None) -> Flask:
    """The customers' server."""
    from app.web import shop
    from app.web.setup import flask_app

    settings = settings or Settings.read(os.environ)
    parts = Parts(settings)
    app = flask_app(settings, "shop/answer.html")
    app.register_blueprint(shop.blueprint(parts.purchase(), parts.rounds, parts.book))
    return app


def create_lab(settings: Settings | None = None) -> Flask:
    """The instructor's server."""
    from app.web import lab
    from app.web.setup import flask_app

    settings = settings or Settings.read(os.environ)
    parts = Parts(settings)
    app = flask_app(settings, "lab/answer.html")
    # A page elsewhere could call a name of its own 127.0.0.1 and then pass for the lab's origin.
    app.config["TRUSTED_HOSTS"] = ["127.0.0.1", "localhost", settings.lab_host]
    app.register_blueprint(lab.blueprint(parts.rounds, parts.auditor, parts.about))
    return app
