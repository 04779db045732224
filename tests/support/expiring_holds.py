"""Many holds that expire together, and processes that buy and sweep meanwhile."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from multiprocessing.connection import Connection

import psutil
from sqlalchemy import insert, select, text, update

from app.bootstrap import Services
from app.config import Settings
from app.domain import Order, Round
from app.modes import Way
from app.service.holds import Holds
from app.store.keys import Keys
from app.store.sql import holds as sql_holds
from app.store.sql import stock
from app.store.sql.holds import HoldRow
from app.store.sql.orders import FIELDS
from app.store.sql.stock import StockRow
from app.store.sql.transactions import lock_file
from app.store.sql.units import UnitRow
from tests.support.purchases import mode, order

BUYERS = 16


def cpu_s(services: Services) -> float:
    """Return the CPU seconds of this process, the store and the database's processes so far."""
    used = services.store.info("cpu")
    spent = time.process_time() + used["used_cpu_user"] + used["used_cpu_sys"]
    if services.engine.dialect.name == "postgresql":
        with services.engine.connect() as sql:
            backends = "SELECT pid FROM pg_stat_activity WHERE datname = current_database()"
            for pid in sql.scalars(text(backends)):
                spent += sum(psutil.Process(pid).cpu_times()[:2])
    return float(spent)


def hold_at_once(services: Services, round: Round, count: int) -> list[Order]:
    """Create the holds of that many buyers, in a fraction of the time."""
    made = [order(round) for _ in range(count)]
    if not Way.of(round.mode).in_database:
        seller = mode(services, replace(round, mode="atomic"))
        for each in made:
            seller.sell(each)
        services.holds.look(made[0], round)  # enters all
        return made
    with services.servers.sessions.begin() as sql:
        rows = [{name: getattr(each, name) for name in FIELDS} for each in made]
        first = round.started + round.hold
        hold = {"stands": "HELD", "back": False}
        sql.execute(
            insert(HoldRow),
            [row | hold | {"until": first + n * 1000 // count} for n, row in enumerate(rows)],
        )
        if Way.of(round.mode).in_rows:
            free = sql.scalars(select(UnitRow.n).order_by(UnitRow.n).limit(count)).all()
            taken = [{"n": n, "order": each.id} for n, each in zip(free, made, strict=True)]
            its = {"item": round.item, "round": round.number, "started": round.started}
            sql.execute(update(UnitRow), [its | row for row in taken])
        else:
            sql.execute(
                update(StockRow).where(stock.of(round)).values(units=StockRow.units - count)
            )
    return made


def run_out_within_a_second(
    services: Services, round: Round, made: Sequence[Order], begin: int
) -> dict[str, int]:
    """Spread the deadlines over the second from `begin` (ms since 1970) on: id -> deadline."""
    until = {each.id: begin + n * 1000 // len(made) for n, each in enumerate(made)}
    if Way.of(round.mode).in_database:
        # One statement: 5,000 would take seconds at the same time as buyers, and end after the
        # deadlines.
        sooner = round.started + round.hold - begin
        with services.servers.transactions.begin(60) as sql:
            lock_file(sql, 60)
            mine = HoldRow.id.in_(list(until))
            sql.execute(update(HoldRow).where(mine).values(until=HoldRow.until - sooner))
    else:
        services.store.zadd(Keys(round.item, round.number).due, dict(until))
    return until


def buy(pipe: Connection, settings: Settings, item: str) -> None:
    """Buy with BUYERS threads until the test stops it; send how many sales were made."""
    services = Services(settings)
    round, stop, sold = services.rounds.find(item), threading.Event(), [0] * BUYERS

    def one(n: int) -> None:
        seller = mode(services, round)
        while not stop.is_set():
            sold[n] += seller.sell(order(round)).order is not None

    threads = [threading.Thread(target=one, args=(n,)) for n in range(BUYERS)]
    for thread in threads:
        thread.start()
    pipe.recv()
    stop.set()
    for thread in threads:
        thread.join()
    pipe.send(sum(sold))


def sweep(pipe: Connection, settings: Settings, item: str) -> None:
    """Sweep as fulfil does until the test stops it; send when each hold came back, in ms."""
    services, stop = Services(settings), threading.Event()
    back, put_back = dict[str, int](), Holds.put_back

    def noted(self: Holds, round: Round, orders: Sequence[Order]) -> bool:
        done = put_back(self, round, orders)
        if done:
            now = services.rounds.now()
            back.update((each.id, now) for each in orders if each.id not in back)
        return done

    Holds.put_back = noted  # type: ignore[method-assign]
    thread = threading.Thread(target=services.sweep.run, args=(item, stop))
    thread.start()
    pipe.recv()
    stop.set()
    thread.join()
    pipe.send(back)


def still_held(services: Services, round: Round, made: Sequence[Order]) -> int:
    """Return how many of them are still held."""
    ids = {each.id for each in made}
    if Way.of(round.mode).in_database:
        with services.servers.sessions() as sql:
            held = sql_holds.of_round(sql, round.item, round.number)
            return len(ids & {each.id for each in held})
    names = Keys(round.item, round.number)
    return sum(bool(sale) for sale in services.store.hmget(names.held, list(ids)))
