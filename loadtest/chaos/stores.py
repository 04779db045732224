"""The store that sells, and a replica that may be promoted although it has missed writes."""

from __future__ import annotations

import resource
import shutil
import struct
import subprocess
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import psutil
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry
from servers.ports import free_port

from app.config import Settings
from app.domain import Order, Unreadable
from app.store import dead_letters, embedded
from app.store.keys import Keys
from loadtest.chaos.process import Process, Reaper, until
from loadtest.chaos.proxy import Proxies, Proxy

START = 20.0  # s that a server may take until it answers
HEARS = 300  # ms in which a connected replica confirms
FULL = resource.RLIM_INFINITY
SYNC_SOURCE = Path(__file__).parent / "synced.c"


class StoreServer:
    """One Valkey with its log in a folder of its own."""

    def __init__(
        self,
        reaper: Reaper,
        folder: Path,
        durability: str,
        environ: dict[str, str],
        library: Path | None = None,
    ) -> None:
        """`library` records how much was synced (see make_sync_library)."""
        folder.mkdir()
        self.synced = folder.with_suffix(".synced") if library else None
        if self.synced:
            self.synced.write_bytes(bytes(16))
            environ = environ | {"LD_PRELOAD": str(library), "CHAOS_SYNCED": str(self.synced)}
        self.folder, self.port = folder, free_port()
        self.command = [
            *embedded.command(self.port, None, folder, Settings(durability=durability).appendfsync),
            *(embedded.replicated() if durability == "replicated" else ()),
            *("--repl-diskless-sync-delay", "0", "--repl-timeout", "60"),
        ]
        self.process = Process(reaper, self.command, folder.with_suffix(".log"), environ)

    def start(self, follow: int = 0) -> None:
        """Begin to start; as a replica of the server at port `follow`, if that is given."""
        self.process.command = [*self.command, *(embedded.following(follow) if follow else ())]
        self.process.start()

    def client(self) -> redis.Redis:
        """Return a client that passes no proxy."""
        once = Retry(NoBackoff(), 0)
        return redis.Redis(port=self.port, socket_timeout=1, socket_connect_timeout=1, retry=once)

    def serves(self) -> bool:
        with suppress(redis.RedisError), self.client() as client:
            return bool(client.ping())
        return False

    def wait(self) -> None:
        until(self.serves, START, "the store does not start")

    def limit(self, size: int = FULL) -> None:
        """Limit its files to `size` bytes: for the server, that is a full disk."""
        with suppress(psutil.NoSuchProcess):
            psutil.Process(self.process.pid).rlimit(resource.RLIMIT_FSIZE, (size, FULL))

    @property
    def log(self) -> Path:
        """The file to which it appends."""
        logs = (self.folder / "appendonlydir").glob("*.incr.aof")
        return max(logs, key=lambda log: log.stat().st_mtime_ns)

    def synced_length(self) -> int:
        """Return the bytes of its log that are on the disk; 0: it has synced nothing of it."""
        if self.synced is None:
            return 0
        inode, length = struct.unpack("=qq", self.synced.read_bytes())
        return int(length) if inode == self.log.stat().st_ino else 0

    def empty(self) -> None:
        """Delete all its data. It must not run."""
        shutil.rmtree(self.folder)
        self.folder.mkdir()


class Stores:
    """Two servers; `primary` sells. The replica receives writes through a proxy of its own."""

    def __init__(
        self,
        reaper: Reaper,
        folder: Path,
        durability: str,
        proxies: Proxies,
        environ: dict[str, str],
    ) -> None:
        library = make_sync_library(folder)
        self.primary = StoreServer(reaper, folder / "store-1", durability, environ, library)
        self.replica = StoreServer(reaper, folder / "store-2", durability, environ, library)
        self.hearing = proxies.open("replica", self.primary.port)

    def start(self) -> None:
        self.primary.start()
        self.primary.wait()
        self.replica.start(self.hearing.port)

    def failover(self, proxies: list[Proxy]) -> None:
        """Kill the primary and promote the replica; the old primary follows, emptied.

        `proxies` lead to the primary.
        """
        self.primary.process.kill()
        with self.replica.client() as client:
            client.replicaof("NO", "ONE")
        self.primary, self.replica = self.replica, self.primary
        for proxy in [*proxies, self.hearing]:
            proxy.to = self.primary.port
        self.replica.empty()
        self.replica.start(self.hearing.port)

    def sales(self, rounds: Iterable[tuple[str, int]]) -> list[Order]:
        """Return these rounds' orders in streams and among dead letters whose units are sold.

        Raises redis.RedisError.
        """
        orders = []
        with self.primary.client() as client:
            for item, number in rounds:
                entries = client.xrange(Keys(item, number).sales)
                payloads = [fields.get(b"sale", b"") for _, fields in entries]
                letters = dead_letters.of_round(client, item, number).remaining
                payloads += [letter.sale for letter in letters if not letter.put_back]
                for payload in payloads:
                    with suppress(Unreadable):
                        orders.append(Order.decode(payload))
        return orders

    def in_step(self) -> bool:
        """Return whether the replica has received all writes so far.

        The replica is asked: INFO's figure may be a second old, and there were more writes since.
        """
        with suppress(redis.RedisError), self.primary.client() as client:
            pipe = client.pipeline(transaction=False)
            pipe.set("chaos:heard", 1)  # WAIT waits for what its own connection has written
            pipe.wait(1, HEARS)
            _, replicas = pipe.execute()
            return bool(replicas)
        return False


def can_know_what_is_synced() -> bool:
    """Return whether this machine can tell how much of a log is on the disk."""
    return sys.platform == "linux" and shutil.which("cc") is not None


def make_sync_library(folder: Path) -> Path | None:
    """Compile the library in `folder`; None where that fails."""
    if not can_know_what_is_synced():
        return None
    library = folder / "synced.so"
    command = ["cc", "-shared", "-fPIC", "-O1", "-o", str(library), str(SYNC_SOURCE)]
    done = subprocess.run(command, capture_output=True, check=False)
    return None if done.returncode else library
