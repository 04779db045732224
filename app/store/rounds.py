"""Rounds in the store: one record each, one pointer an item to its newest."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

import redis

from app.domain import ITEMS, Item, Lack, Lacking, Round, StoreAway, Unreadable
from app.store import keys
from app.store.clients import clock
from app.store.clients.cluster import Cluster
from app.store.keys import Keys

GROUP = "fulfil"  # the consumer group that moves sales to the database
NUMBER = re.compile(rb"\d{1,9}")  # a round's, as the database can keep it
RACES = 100  # instructors who may press Start at the same instant before one gets an error


Ready = Callable[[Round | None, Round], bool]  # see start


class Shelved(NamedTuple):
    """An item, its newest round (or why that cannot be read), and the units left in it."""

    item: Item
    round: Round | Unreadable | None
    left: int | None


class OpenStreams(NamedTuple):
    """Rounds whose sales may still have to be moved to the database.

    `failed` are the errors of items that could not be asked.
    """

    streams: list[Keys]
    failed: dict[str, redis.RedisError]


def newest(store: redis.Redis, item: str) -> Round | None:
    """Return the item's newest round, running or ended.

    Raises Unreadable, as all functions here do for a record.
    """
    for _ in range(RACES):
        number = store.get(keys.newest(item))
        round = find(store, item, int(number)) if number else None
        # It has ended: it may be the newest one, or the next one has begun meanwhile.
        if round is None or round.running or store.get(keys.newest(item)) == number:
            break
    return round


def find(store: redis.Redis, item: str, number: int) -> Round | None:
    """Return a round; None: there was none, or the store has lost it. Raises Unreadable."""
    record = store.get(Keys(item, number).record)
    return Round.decode(record) if record else None


def mode(store: redis.Redis, names: Keys) -> str:
    """Return a round's mode; "" when its record is gone or cannot be read."""
    try:
        round = find(store, names.item, names.number)
    except Unreadable:
        round = None
    return round.mode if round else ""


def shelf(store: redis.Redis) -> list[Shelved]:
    """Return every item with its newest round and the units left in it, in two round trips.

    On a cluster two for each node; an item whose node is away has no round.
    """
    pipe = store.pipeline(transaction=False)
    for slug in ITEMS:
        pipe.get(keys.newest(slug))
    numbers = _answered(ITEMS, pipe.execute(raise_on_error=False))
    for slug, number in numbers.items():
        names = Keys(slug, int(number or 0))
        pipe.mget(names.record, names.stock, names.ended)
    replies = _answered(numbers, pipe.execute(raise_on_error=False))
    shelf = list[Shelved]()
    for slug, item in ITEMS.items():
        record, stock, ended = replies.get(slug, (None, None, None))
        try:
            round = Round.decode(record) if record else None
            shelf.append(Shelved(item, round, _units(stock, ended)))
        except Unreadable as error:
            shelf.append(Shelved(item, error, None))
    return shelf


def _answered(items: Iterable[str], answers: list[Any]) -> dict[str, Any]:
    """Return the answers that are no errors, by item. Raises when all of them are errors."""
    answered = {
        item: answer
        for item, answer in zip(items, answers, strict=True)
        if not isinstance(answer, redis.RedisError)
    }
    if answers and not answered:
        raise answers[0]
    return answered


def open_streams(store: redis.Redis, items: Sequence[str]) -> OpenStreams:
    """Return the open streams of `items`. Raises when no item's node answers."""
    pipe = store.pipeline(transaction=False)
    for item in items:
        pipe.smembers(keys.streams(item))
    answers = pipe.execute(raise_on_error=False)
    numbers = _answered(items, answers)
    streams = [
        Keys(item, number)
        for item, members in numbers.items()
        for number in sorted(int(each) for each in members if NUMBER.fullmatch(each))
    ]
    pairs = zip(items, answers, strict=True)
    return OpenStreams(streams, {item: error for item, error in pairs if item not in numbers})


def make_group(store: redis.Redis, names: Keys) -> None:
    """Create the stream's consumer group, which reads from the beginning, unless it exists."""
    try:
        store.xgroup_create(names.sales, GROUP, id="0", mkstream=True)
    except redis.ResponseError as error:
        if "BUSYGROUP" not in str(error):  # another process was faster
            raise


def read_together(store: redis.Redis) -> list[list[str]]:
    """Return groups of items whose streams one XREADGROUP can read: on a cluster, of one slot."""
    return [[item] for item in ITEMS] if isinstance(store, Cluster) else [list(ITEMS)]


def start(store: redis.Redis, wanted: Round, above: int, ready: Ready, *, in_store: bool) -> Round:
    """End the item's running round and begin `wanted`, in one step, and give it its number.

    The step is WATCH and MULTI on the pointer to the newest round: the lesson of mode `watch`, put
    to use. The number is higher than `above`, too. The stock is written here if the round sells
    `in_store`. `ready` is called with the newest round and the one to begin, before any buyer sees
    it; False: look again. Raises Lacking when the store has lost data of the item.
    """
    for _ in range(RACES):
        with store.pipeline() as pipe:
            pipe.watch(keys.newest(wanted.item), keys.lacks(wanted.item))
            if lack := pipe.get(keys.lacks(wanted.item)):
                raise Lacking(Lack.decode(lack))
            number = int(pipe.get(keys.newest(wanted.item)) or 0)
            pipe.watch(Keys(wanted.item, number).record)  # another process may be ending it
            running = find(store, wanted.item, number)
            next_one = max(number, above) + 1
            new = replace(wanted, number=next_one, started=clock.now(store), ended=None)
            names = Keys(new.item, new.number)
            stocked = bool(pipe.exists(Keys(wanted.item, number).stock))
            if not ready(running, new):
                continue
            pipe.multi()
            if running and running.running:
                _end(pipe, running, stocked, new.started)
            pipe.set(names.record, new.encode())
            if in_store:
                pipe.set(names.stock, new.stock)
                pipe.xgroup_create(names.sales, GROUP, id="0", mkstream=True)
                pipe.sadd(keys.streams(new.item), new.number)
            pipe.set(keys.newest(new.item), new.number)
            pipe.set(keys.identity(new.item), secrets.token_hex(8), nx=True)
            try:
                pipe.execute()
            except redis.WatchError:
                continue
            return new
    raise StoreAway("Too many rounds are being started at once. Try again.")


def replace_record(store: redis.Redis, old: Round, new: Round) -> Round | None:
    """Replace a round's record, unless it has changed. Return the record that the store has now."""
    name = Keys.of(old).record
    with store.pipeline() as pipe:
        pipe.watch(name)
        if (record := pipe.get(name)) and Round.decode(record) == old:
            pipe.multi()
            pipe.set(name, new.encode())
            with suppress(redis.WatchError):
                pipe.execute()
    return find(store, old.item, old.number)


def end(store: redis.Redis, item: str, only: int | None = None) -> Round | None:
    """End the item's running round, or only that of number `only`; None when it does not run."""
    for _ in range(RACES):
        with store.pipeline() as pipe:
            pipe.watch(keys.newest(item))
            running = newest(store, item)
            if running is None or not running.running or only not in (None, running.number):
                return None
            # Another `end` would leave the pointer as it is: watch the record too.
            pipe.watch(Keys(item, running.number).record)
            running = find(store, item, running.number)
            if running is None or not running.running:
                return None
            stocked = bool(pipe.exists(Keys(item, running.number).stock))
            pipe.multi()
            ended = _end(pipe, running, stocked, clock.now(store))
            try:
                pipe.execute()
            except redis.WatchError:
                continue
            return ended
    raise StoreAway("Too many rounds are being ended at once. Try again.")


def _end(pipe: redis.client.Pipeline, running: Round, stocked: bool, now: int) -> Round:
    """Queue the commands that end a round. Its stock is renamed, so that no mode can read it."""
    names = Keys(running.item, running.number)
    ended = replace(running, ended=now)
    pipe.set(names.record, ended.encode())
    if stocked:  # else the stock is in the database
        pipe.rename(names.stock, names.ended)
    return ended


def left(store: redis.Redis, round: Round) -> int | None:
    """Return the units left; None when the store has lost them, or never had them.

    For an ended round, the stock at its end counts. A `decr` that died half-way may have written
    `stock` since then; that is ignored.
    """
    names = Keys(round.item, round.number)
    return _units(*store.mget(names.stock, names.ended))


def _units(stock: bytes | str | None, ended: bytes | str | None) -> int | None:
    units = stock if ended is None else ended
    return None if units is None else int(units)


def recorded(store: redis.Redis, round: Round) -> int:
    """Return how many sales were ever written to the round's stream (the server's count)."""
    return int(store.xinfo_stream(Keys(round.item, round.number).sales)["entries-added"])


class Account(NamedTuple):
    """A round at one moment. `left` None: the stock is lost. Sales are as modes wrote them."""

    left: int | None
    sales: list[bytes]  # not yet in the database; b"": an entry without a sale
    recorded: int  # sales ever written (the server's count)
    held: list[bytes]  # not in stock and not paid for
    confirmed: int  # orders that the database has confirmed


def account(store: redis.Redis, round: Round) -> Account:
    """Read a round in one step: a sale that moves meanwhile is seen once, in either place."""
    names = Keys(round.item, round.number)
    pipe = store.pipeline(transaction=True)
    pipe.mget(names.stock, names.ended)
    pipe.xrange(names.sales)
    pipe.xinfo_stream(names.sales)
    pipe.xrange(names.holds)
    pipe.hvals(names.held)
    pipe.hget(keys.booked(round.item), str(round.number))
    (stock, ended), sales, stream, taken, held, confirmed = pipe.execute()
    return Account(
        _units(stock, ended),
        _sales(sales),
        stream["entries-added"],
        [*_sales(taken), *held],
        int(confirmed or 0),
    )


def _sales(entries: list[Any]) -> list[bytes]:
    return [fields.get(b"sale", b"") for _, fields in entries]
