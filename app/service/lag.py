"""How far fulfil is behind."""

from __future__ import annotations

import redis

from app.store import rounds
from app.store.lua import source


def lag(store: redis.Redis) -> dict[str, int]:
    """For how many ms each item's oldest sale has waited to become an order.

    Items that have none waiting are left out, and on a cluster those whose node is away. Raises
    RedisError when all are.
    """
    together = rounds.read_together(store)
    found: dict[str, int] = {}
    away: list[redis.RedisError] = []
    for items in together:
        try:
            found |= _of(store, items)
        except (redis.ConnectionError, redis.TimeoutError) as error:
            away.append(error)
    if len(away) == len(together):
        raise away[0]
    return found


def _of(store: redis.Redis, items: list[str]) -> dict[str, int]:
    streams = rounds.open_streams(store, items)
    if not streams:
        return {}
    ages = store.register_script(source("waiting"))([each.sales for each in streams])
    found: dict[str, int] = {}
    for each, age in zip(streams, ages, strict=True):
        if age >= 0:
            found[each.item] = max(found.get(each.item, 0), age)
    return found
