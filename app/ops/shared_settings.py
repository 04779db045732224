"""The secrets of a host, and the settings that it must share with all other hosts of its store.

With two secrets, one buyer is two: limits per buyer would not hold, and forms would be refused. So
a host that differs from the first one is refused. Where no secret is set, it is made in VAR_DIR.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import redis
from redis.client import Pipeline

from app.config import Settings, is_loopback
from app.domain import HostsDiffer
from app.store import keys
from app.store.clients.redis import answering


def secret(settings: Settings) -> str:
    """Return the secret that signs buyers' cookies and forms' keys: set, or kept in VAR_DIR.

    Raises OSError if it cannot be kept there.
    """
    return settings.secret_key or _kept(settings, "secret", secrets.token_hex(32))


def lab_token(settings: Settings) -> str:
    """Return the lab's token; "" for none: LAB_TOKEN is off, or unset on loopback."""
    match settings.lab_token:
        case "off":
            return ""
        case "" if is_loopback(settings.lab_host):
            return ""
        case "":
            return _kept(settings, "lab-token", secrets.token_urlsafe(12))
    return settings.lab_token


def store_config(settings: Settings) -> Path:
    """Write the file from which the embedded servers read their password: a command line is public.

    Return its path. Clients read the password itself (see Settings.store_password). Raises OSError.
    """
    password = _kept(settings, "store-password", secrets.token_hex(32))
    path = settings.var / "store" / "password.conf"
    path.unlink(missing_ok=True)
    _kept(settings, "store/password.conf", f"requirepass {password}\nmasterauth {password}\n")
    return path


def _kept(settings: Settings, name: str, new: str) -> str:
    path = settings.var / name
    path.parent.mkdir(parents=True, exist_ok=True)
    mine = path.with_name(f"{path.name}.{os.getpid()}")
    mine.touch(mode=0o600)
    with mine.open("w") as file:
        file.write(new)
        file.flush()
        os.fsync(file.fileno())  # a power cut must not leave it empty
    try:
        os.link(mine, path)  # the first one wins, whole
    except FileExistsError:
        pass
    finally:
        mine.unlink()
    return path.read_text()


# scrypt: 32 MiB and about 0.1 s for each guess of a secret, to a reader of the store.
COST, BLOCK = 2**15, 8
MEMORY_BYTES = 2**26  # that scrypt may use at most
HASH = "SECRET_KEY"  # the field with the salt and the hash; the others are settings as they are
REPLACE = (
    "Set them alike (docs/settings.md, Several hosts). To let this host's settings count from now "
    "on: lastapple hosts --replace"
)


def require_same(store: redis.Redis, settings: Settings) -> None:
    """Compare this host's settings with the first host's, which decides.

    Raises HostsDiffer on another host that differs; StoreAway.
    """
    with answering(), store.pipeline() as pipe:
        while True:  # until no other host writes at the same moment
            with suppress(redis.WatchError):
                pipe.watch(keys.HOSTS)
                stored = _decoded(pipe.hgetall(keys.HOSTS))
                if sentences := _differences(stored, settings):
                    raise HostsDiffer(" ".join([*sentences, REPLACE]))
                pipe.multi()
                _write(pipe, settings, stored)
                return


def differences(store: redis.Redis, settings: Settings) -> list[str]:
    """Return a sentence for each setting of this host that differs. Raises StoreAway."""
    with answering():
        return _differences(_decoded(store.hgetall(keys.HOSTS)), settings)


def replace(store: redis.Redis, settings: Settings) -> None:
    """Write this host's settings over the store's. Raises StoreAway."""
    with answering(), store.pipeline() as pipe:
        pipe.delete(keys.HOSTS)
        _write(pipe, settings, {})


def _write(pipe: Pipeline, settings: Settings, there: Mapping[str, str]) -> None:
    """Write the settings that are missing, in one step with the queued commands."""
    for name, value in _plain(settings).items():
        pipe.hsetnx(keys.HOSTS, name, value)
    if HASH not in there:
        pipe.hset(keys.HOSTS, HASH, _salted(secret(settings)))
    pipe.execute()


def _differences(there: Mapping[str, str], settings: Settings) -> list[str]:
    sentences = []
    if HASH in there and not _fits(secret(settings), there[HASH]):
        sentences.append(
            "SECRET_KEY differs from that of this store's other hosts (where it is empty, it is in "
            "their VAR_DIR/secret): limits per buyer and forms would not hold."
        )
    return sentences + [
        f"{name} is {value!r} here and {there[name]!r} on this store's other hosts."
        for name, value in _plain(settings).items()
        if there.get(name, value) != value
    ]


def _plain(settings: Settings) -> dict[str, str]:
    """Return the settings that are compared unchanged.

    A host without ZooKeeper does not sell with it.
    """
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
