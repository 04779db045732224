"""Sellers in processes of their own (forked_process), each stopped at a chosen point."""

from __future__ import annotations

import os
import signal
from multiprocessing.connection import Connection

import pytest
from sqlalchemy import event

from app.bootstrap import Services
from app.config import Settings
from app.domain import Order, Round
from app.modes.decr import Decr
from app.service.booking import book
from app.store.clients.redis import Metered
from app.store.servers import Servers
from app.store.sql import db, transactions
from tests.support import command_hooks
from tests.support.purchases import HandClock, Once, mode, order
from tests.support.sql_hooks import before_statement


def with_the_stock_taken(pipe: Connection, settings: Settings) -> None:
    """Send a message before writing the order, and stop there."""
    services = Services(settings)
    round = services.rounds.find("apple")

    def stop_here() -> None:
        pipe.send("the stock is taken")
        signal.pause()

    with before_statement(services, "INSERT INTO orders", hand=stop_here):
        mode(services, round).sell(order(round, key="k"))


def frozen_in_mid_sale(pipe: Connection, settings: Settings, idle_s: float) -> None:
    """Send a message before writing the order, wait for an answer, and send the outcome."""
    pytest.MonkeyPatch().setattr(transactions, "IDLE_S", idle_s)
    services = Services(settings)
    round = services.rounds.find("apple")

    def wait() -> None:
        pipe.send("the stock is taken")
        pipe.recv()

    with before_statement(services, "INSERT INTO orders", hand=wait):
        pipe.send(str(mode(services, round).sell(order(round, key="k")).outcome))


def frozen_before_its_commit(
    pipe: Connection, settings: Settings, sold: Order, idle_s: float
) -> None:
    """Move a sale to the database; send a message before the commit, and stop there."""
    pytest.MonkeyPatch().setattr(db, "IDLE_S", idle_s)
    services = Services(settings)

    def stop_here(_: object) -> None:
        pipe.send("the order is written")
        signal.pause()

    event.listen(services.engine, "commit", stop_here)
    book(services.servers.sessions, {b"1": sold}, "atomic")


def before(_: Connection, word: str, url: str, round: Round, rivals: int) -> None:
    """Die before sending `word`; `rivals` buy while it thinks."""
    servers = Servers(Settings(redis_url=url))

    def race() -> None:
        for _ in range(rivals):
            Decr(servers, HandClock(lambda: None), round).sell(order(round))

    def die() -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    for name in ("pack_commands", "send_command"):
        pytest.MonkeyPatch().setattr(Metered, name, getattr(command_hooks, name))
    seller = Decr(servers, HandClock(Once(race)), round)
    command_hooks.Handed(seller, {word: die}).sell(order(round))
