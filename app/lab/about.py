"""Versions and settings of this installation: every measurement depends on them."""

from __future__ import annotations

from typing import TypedDict

import redis
from sqlalchemy import make_url

from app.store.clients.redis import answering
from app.store.servers import Servers


class Shop(TypedDict):
    """The shop's server."""

    url: str
    workers: int
    threads: int  # of each


class Store(TypedDict):
    """Redis or Valkey."""

    server: str  # its name and version
    appendfsync: str  # always, everysec, no; off, without an append-only file; unknown
    durability: str  # what the shop waits for: fast, safe, replicated


class About(TypedDict):
    """The answer of `GET /about`, without modes and recipes."""

    version: str  # ours
    shop: Shop
    store: Store
    database: str  # sqlite or postgresql
    masters: int  # of redlock
    zookeeper: str  # its hosts; "" without


def about(servers: Servers, version: str) -> About:
    """Return this installation's versions and settings. Raises StoreAway."""
    settings, store = servers.settings, servers.store
    with answering():
        reply = store.info("server")
        try:
            appendfsync = _appendfsync(store)
        except redis.ResponseError:  # a hosted store may forbid CONFIG
            appendfsync = "unknown"
    if "valkey_version" in reply:
        server = f"Valkey {reply['valkey_version']}"
    else:
        server = f"Redis {reply['redis_version']}"
    if "cluster" in (reply.get("redis_mode"), reply.get("server_mode")):  # Redis, Valkey
        server += " cluster"
    return {
        "version": version,
        "shop": {
            "url": settings.shop_address,
            "workers": settings.shop_workers,
            "threads": settings.shop_threads,
        },
        "store": {
            "server": server,
            "appendfsync": appendfsync,
            "durability": settings.durability,
        },
        "database": make_url(settings.database).get_backend_name(),
        "masters": 0 if servers.missing("masters") else len(settings.masters),
        "zookeeper": settings.zookeeper_hosts,
    }


def _appendfsync(store: redis.Redis) -> str:
    """Return how sales reach the disk: always, everysec, no; off without an append-only file."""
    config = store.config_get("appendonly", "appendfsync")
    settings = {_text(name): _text(value) for name, value in config.items()}
    return settings["appendfsync"] if settings["appendonly"] == "yes" else "off"


def _text(value: object) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
