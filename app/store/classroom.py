"""The class in the store: its beginning, its phones, its sale and how that ended."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import redis

from app.store import keys, lua

LIFE = 24 * 3600  # s after its last sign until a class is forgotten


def begin(store: redis.Redis, item: str, now: int) -> None:
    """Begin a new class without the phones that joined before `now` (ms since 1970)."""
    pipe = store.pipeline()
    pipe.set(keys.class_began(item), now)  # for good: a phone may keep its cookie for a year
    pipe.delete(keys.class_sale(item), keys.class_ending(item), keys.class_hidden(item))
    pipe.execute()


def began(store: redis.Redis, item: str) -> int:
    """Return when the class began, in ms since 1970; 0: there was only one class."""
    return int(store.get(keys.class_began(item)) or 0)


def put_roll(store: redis.Redis, item: str, worker: str, roll: bytes) -> None:
    """Write which phones a worker of the shop hears."""
    pipe = store.pipeline()
    pipe.hset(keys.class_roll(item), worker, roll)
    pipe.expire(keys.class_roll(item), LIFE)
    pipe.execute()


def rolls(store: redis.Redis, item: str) -> dict[str, bytes]:
    """Return the roll of each worker, as JSON."""
    fields: Any = store.hgetall(keys.class_roll(item))
    return {worker.decode(): roll for worker, roll in fields.items()}


def forget(store: redis.Redis, item: str, workers: Iterable[str]) -> None:
    if gone := list(workers):
        store.hdel(keys.class_roll(item), *gone)


def hide(store: redis.Redis, item: str, id: str) -> None:
    """Keep the nickname of this phone off the screens."""
    pipe = store.pipeline()
    pipe.sadd(keys.class_hidden(item), id)
    pipe.expire(keys.class_hidden(item), LIFE)
    pipe.execute()


def show(store: redis.Redis, item: str, id: str) -> None:
    store.srem(keys.class_hidden(item), id)


def hidden(store: redis.Redis, item: str) -> set[str]:
    """Return the ids of the phones whose nicknames are kept off the screens."""
    members: Any = store.smembers(keys.class_hidden(item))
    return {id.decode() for id in members}


def claim(store: redis.Redis, item: str, token: str, ms: int) -> bool:
    """Claim the start of a sale for `ms`. False: another process has claimed it."""
    return bool(store.set(keys.class_start(item), token, nx=True, px=ms))


def release(store: redis.Redis, item: str, token: str) -> None:
    script = store.register_script(lua.source("release"))
    script(keys=[keys.class_start(item)], args=[token])


def note_sale(store: redis.Redis, item: str, number: int) -> None:
    store.set(keys.class_sale(item), number, ex=LIFE)


def sale(store: redis.Redis, item: str) -> int | None:
    """Return the number of the round that is the class's newest sale."""
    number = store.get(keys.class_sale(item))
    return int(number) if number else None


def note_ending(store: redis.Redis, item: str, ending: bytes) -> None:
    store.set(keys.class_ending(item), ending, ex=LIFE)


class ClassNotices(NamedTuple):
    """When the class began, and how its last sale has ended."""

    began: int
    ending: bytes | str | None


def notices(store: redis.Redis, item: str) -> ClassNotices:
    began, ending = store.mget(keys.class_began(item), keys.class_ending(item))
    return ClassNotices(int(began or 0), ending)
