"""The processes of the shop: each one's command, and how to check that it serves."""

from __future__ import annotations

import errno
import socket
import sys
import urllib.request
from http.client import HTTPException
from pathlib import Path

from app.config import Settings, reached
from app.domain import StoreAway
from app.ops.child import Child
from app.ops.process_status import HeartbeatFile
from app.ops.shared_settings import store_config
from app.store import embedded

# Ctrl-C usually ends everything within five seconds: shop and lab at once, then fulfil, then the
# store. Each has Child.grace before it is killed.
SHOP_GRACE = 2  # s for purchases under way, and for clients that keep a connection open
LAB_GRACE = 1  # s
CONNECTIONS = 2_000  # in a worker at once; a new one takes the place of the one waiting longest

# Opens our own URLs, past any proxy in the environment.
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def shop(settings: Settings) -> list[str]:
    """Return gunicorn's command with threads: a purchase may wait for a lock and block no other."""
    return [
        *_gunicorn("app:create_shop()", settings.shop_host, settings.shop_port, SHOP_GRACE),
        # No sendfile: it waits for the client.
        *(
            "--worker-class",
            "app.server.gate.Gate",
            "--no-sendfile",
            "-c",
            "python:app.shop.worker",
        ),
        # A socket for each worker: sharing one, a worker was seen to take most of 64 connections,
        # and the shop to sell half as fast as in the next run.
        "--reuse-port",
        *("--workers", str(settings.shop_workers), "--threads", str(settings.shop_threads)),
    ]


def lab(settings: Settings) -> list[str]:
    """Return gunicorn's command with greenlets: one process has a stream for each screen."""
    return [
        *_gunicorn("app:create_lab()", settings.lab_host, settings.lab_port, LAB_GRACE),
        *("--worker-class", "app.lab.worker.LabWorker", "--workers", "1"),
        *("-c", "python:app.lab.slow_requests"),
    ]


def fulfil(_settings: Settings) -> list[str]:
    return [sys.executable, "-m", "app.cli", "run", "fulfil"]


def _gunicorn(app: str, host: str, port: int, grace: int) -> list[str]:
    return [
        *(sys.executable, "-m", "gunicorn", app, "--bind", f"{host}:{port}"),
        *("--graceful-timeout", str(grace), "--keep-alive", "30", "--no-control-socket"),
        *("--worker-connections", str(CONNECTIONS)),
        # An access log costs about a tenth of the throughput; errors are logged.
        *("--log-level", "warning", "--error-logfile", "-"),
        # gunicorn trusts no proxy: it would take a scheme from any client on this machine, and
        # answer a SCRIPT_NAME with 500. Proxies' headers are read in app/server/proxies.py.
        *("--forwarded-allow-ips", ""),
    ]


def children(settings: Settings) -> list[Child]:
    """Return the shop's processes, in the order in which they need each other.

    Essential are those without which no buyer can buy, or no sale becomes an order. The lab is not:
    the shop keeps selling when the instructor's screen is dark. Raises StoreAway without a store to
    run.
    """
    logs = settings.var / "log"
    beat = HeartbeatFile(settings)
    made = [
        *masters(settings),
        Child(
            "fulfil",
            fulfil(settings),
            logs / "fulfil.log",
            lambda: True,
            beat.moved,
            stage=1,
            silence=beat.longest,
        ),
        Child(
            "shop",
            shop(settings),
            logs / "shop.log",
            *(lambda: _healthy(settings.shop_host, settings.shop_port),) * 2,
            stage=2,
        ),
        Child(
            "lab",
            lab(settings),
            logs / "lab.log",
            *(lambda: _healthy(settings.lab_host, settings.lab_port),) * 2,
            stage=2,
            essential=False,
        ),
    ]
    if settings.redis_url:
        return made
    return [*_stores(settings), *made]


def _stores(settings: Settings) -> list[Child]:
    """Return the embedded Valkey, and its replica where DURABILITY wants one."""
    address = ("127.0.0.1", settings.store_port)
    folder = settings.var / "store"
    config = store_config(settings)

    def ask(what: bytes) -> bytes:
        return _ask(address, what, settings.store_password)

    replicated = settings.durability == "replicated"
    store = Child(
        "store",
        [
            *embedded.command(
                settings.store_port, settings.store_socket, folder, settings.appendfsync, config
            ),
            *(embedded.replicated() if replicated else ()),
        ],
        settings.var / "log" / "store.log",
        lambda: ask(b"PING") == b"+PONG\r\n",
        lambda: bool(ask(b"PING")),
        stage=0,
        patience=60.0,  # reading a long append-only file takes time
    )
    if not replicated:
        return [store]
    if (socket := settings.replica_socket) is None:
        raise StoreAway(
            f"The path {folder} is too long for the socket of the store's replica: "
            "choose a shorter VAR_DIR, or another DURABILITY."
        )
    replica = Child(
        "replica",
        [
            *embedded.command(0, socket, folder / "replica", settings.appendfsync, config),
            *embedded.following(settings.store_port),
        ],
        settings.var / "log" / "replica.log",
        lambda: b"state=online" in ask(b"INFO replication"),  # the store says so
        lambda: bool(_ask(socket, b"PING")),
        stage=0,
        patience=60.0,
    )
    return [store, replica]


def masters(settings: Settings) -> list[Child]:
    """Return Redlock's three servers. At the start only rounds of DEFAULT_MODE may use them.

    Empty if they are external, or cannot run here: `Servers.missing` then says so.
    """
    return [_master(settings, path) for path in settings.master_sockets if embedded.available()]


def _master(settings: Settings, path: Path) -> Child:
    return Child(
        path.stem,
        [
            *embedded.command(
                0, path, path.with_suffix(""), settings.appendfsync, store_config(settings)
            ),
            # Locks come and go: rewritten from this size on, the file is read quickly.
            *("--auto-aof-rewrite-min-size", "1mb"),
        ],
        settings.var / "log" / f"{path.stem}.log",
        lambda: settings.default_mode != "lock:redlock" or bool(_ask(path, b"PING")),
        lambda: bool(_ask(path, b"PING")),
        stage=0,
        essential=False,
    )


def unavailable(settings: Settings) -> list[str]:
    """Return a sentence for each address that the processes need and that cannot be bound."""
    wanted = [
        ("SHOP", settings.shop_host, settings.shop_port),
        ("LAB", settings.lab_host, settings.lab_port),
    ]
    if not settings.redis_url:
        wanted.append(("STORE", "127.0.0.1", settings.store_port))
    lines = []
    for name, host, port in wanted:
        try:
            with socket.socket() as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind((host, port))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                lines.append(
                    f"Port {port} is in use by another program. "
                    f"Choose another: {name}_PORT=… make run"
                )
            else:
                lines.append(f"Cannot listen on {host} ({error}). Choose another: {name}_HOST=…")
    return lines


def _healthy(host: str, port: int) -> bool:
    try:
        with DIRECT.open(f"http://{reached(host)}:{port}/healthz", timeout=1) as answer:
            return bool(answer.status == 200)
    except (OSError, HTTPException):
        return False


def _ask(address: tuple[str, int] | Path, what: bytes, password: str = "") -> bytes:
    """Return the beginning of a store's answer over a plain socket; b"" for none.

    `address` is a port, or the path of a Unix socket. Without its password a store answers, too,
    that it wants one.
    """
    family = socket.AF_UNIX if isinstance(address, Path) else socket.AF_INET
    try:
        with socket.socket(family) as plain:
            plain.settimeout(1)
            plain.connect(str(address) if isinstance(address, Path) else address)
            if password:
                plain.sendall(f"AUTH {password}\r\n".encode())
                plain.recv(4096)
            plain.sendall(what + b"\r\n")
            return plain.recv(4096)
    except OSError:
        return b""
