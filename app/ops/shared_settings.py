"""Settings that all hosts of a store must share: a host that differs from the first is refused.

With two secrets, one buyer is two: limits per buyer would not hold, and forms would be refused.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import redis
from redis.client import Pipeline

from app.config import Settings
from app.domain import HostsDiffer
from app.ops.secret import secret
from app.store import keys
from app.store.redis import answering

# scrypt: 32 MiB and about 0.1 s for each guess of a secret, to a reader of the store.
COST, BLOCK = 2**15, 8
MEMORY_BYTES = 2**26  # that it may take at most
HASH = "SECRET_KEY"  # the field with the salt and the hash; the others are settings as they are
REPLACE = (
    "Set them alike (docs/settings.md, Several hosts). To let this host's settings count from now "
    "on: lastapple hosts --replace"
)


def require_same(store: redis.Redis, settings: Settings) -> None:
    """Let the first host decide. Raises HostsDiffer on another one that differs; StoreAway."""
    with answering(), store.pipeline() as pipe:
        while True:  # another host decides at the same moment
            with suppress(redis.WatchError):
                pipe.watch(keys.HOSTS)
                there = _decoded(pipe.hgetall(keys.HOSTS))
                if found := _differences(there, settings):
                    raise HostsDiffer(" ".join([*found, REPLACE]))
                pipe.multi()
                _write(pipe, settings, there)
                return


def differences(store: redis.Redis, settings: Settings) -> list[str]:
    """Return a sentence for each setting of this host that differs. Raises StoreAway."""
    with answering():
        return _differences(_decoded(store.hgetall(keys.HOSTS)), settings)


def replace(store: redis.Redis, settings: Settings) -> None:
    """Let this host's settings count. Raises StoreAway."""
    with answering(), store.pipeline() as pipe:
        pipe.delete(keys.HOSTS)
        _write(pipe, settings, {})


def _write(pipe: Pipeline, settings: Settings, there: Mapping[str, str]) -> None:
    """Write what is not there yet, in one step with what is queued."""
    for name, value in _plain(settings).items():
        pipe.hsetnx(keys.HOSTS, name, value)
    if HASH not in there:
        pipe.hset(keys.HOSTS, HASH, _salted(secret(settings)))
    pipe.execute()


def _differences(there: Mapping[str, str], settings: Settings) -> list[str]:
    found = []
    if HASH in there and not _fits(secret(settings), there[HASH]):
        found.append(
            "SECRET_KEY differs from that of this store's other hosts (where it is empty, it is in "
            "their VAR_DIR/secret): limits per buyer and forms would not hold."
        )
    return found + [
        f"{name} is {value!r} here and {there[name]!r} on this store's other hosts."
        for name, value in _plain(settings).items()
        if there.get(name, value) != value
    ]


def _plain(settings: Settings) -> dict[str, str]:
    """Those that are compared as they are. A host without ZooKeeper does not sell with it."""
    own = {"DURABILITY": settings.durability, "ZOOKEEPER_HOSTS": settings.zookeeper_hosts}
    return {name: value for name, value in own.items() if value}


def _decoded(record: Any) -> dict[str, str]:
    return {name.decode(): value.decode() for name, value in record.items()}


def _salted(secret: str, salt: str = "") -> str:
    salt = salt or secrets.token_hex(16)
    hashed = hashlib.scrypt(
        secret.encode(), salt=salt.encode(), n=COST, r=BLOCK, p=1, maxmem=MEMORY_BYTES
    )
    return f"{salt}:{hashed.hex()}"


def _fits(secret: str, salted: str) -> bool:
    return hmac.compare_digest(_salted(secret, salted.partition(":")[0]), salted)
