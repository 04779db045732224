"""The processes that make up the shop: each one's command, and how to see that it serves."""

from __future__ import annotations

import socket
import sys
import urllib.request
from collections.abc import Callable
from urllib.parse import urlsplit

from app.config import Settings
from app.service.supervise import Child
from app.store import embedded

# Ctrl-C must end everything within five seconds: the graces below add up to less.
SHOP_GRACE = 2  # s for purchases under way
LAB_GRACE = 1  # s
FULFIL_GRACE = 1.0  # s to move the last sales; what is left waits in the stream, on the disk
STORE_GRACE = 0.6  # s


def shop(settings: Settings) -> list[str]:
    """gunicorn with threads: a purchase may wait for a lock without holding up the others."""
    return [
        *_gunicorn("app:create_shop()", settings.shop_host, settings.shop_port, SHOP_GRACE),
        *("--worker-class", "gthread", "-c", "python:app.web.worker"),
        # A socket for each worker: sharing one, a worker was seen to take most of 64 connections,
        # and the shop to sell half as fast as in the next run.
        "--reuse-port",
        *("--workers", str(settings.shop_workers), "--threads", str(settings.shop_threads)),
    ]


def lab(settings: Settings) -> list[str]:
    """gunicorn with greenlets: one process holds as many streams as there are screens."""
    return [
        *_gunicorn("app:create_lab()", settings.lab_host, settings.lab_port, LAB_GRACE),
        *("--worker-class", "gevent", "--workers", "1"),
    ]


def fulfil(_settings: Settings) -> list[str]:
    return [sys.executable, "-m", "app.cli", "run", "fulfil"]


def _gunicorn(app: str, host: str, port: int, grace: int) -> list[str]:
    return [
        *(sys.executable, "-m", "gunicorn", app, "--bind", f"{host}:{port}"),
        *("--graceful-timeout", str(grace), "--keep-alive", "30", "--no-control-socket"),
        # An access log costs about a tenth of the throughput; errors are logged.
        *("--log-level", "warning", "--error-logfile", "-"),
    ]


def children(settings: Settings) -> list[Child]:
    """All of them, in the order they need each other. Raises StoreAway without a store to run."""
    logs = settings.var / "log"
    made = [
        Child("fulfil", fulfil(settings), logs / "fulfil.log", lambda: True, FULFIL_GRACE),
        Child(
            "shop",
            shop(settings),
            logs / "shop.log",
            lambda: _healthy(settings.shop_host, settings.shop_port),
            SHOP_GRACE + 0.2,
        ),
        Child(
            "lab",
            lab(settings),
            logs / "lab.log",
            lambda: _healthy(settings.lab_host, settings.lab_port),
            LAB_GRACE + 0.2,
        ),
    ]
    if settings.redis_url:
        return made
    store = Child(
        "store",
        embedded.command(
            settings.store_port,
            settings.store_socket,
            settings.var / "store",
            settings.appendfsync,
        ),
        logs / "store.log",
        _pong(f"redis://127.0.0.1:{settings.store_port}"),
        STORE_GRACE,
        patience=60.0,  # a long append-only file takes its time to be read
    )
    return [store, *made]


def taken(settings: Settings) -> list[tuple[str, str, int]]:
    """(setting, host, port) of every port we need that somebody else listens on."""
    wanted = [
        ("SHOP_PORT", settings.shop_host, settings.shop_port),
        ("LAB_PORT", settings.lab_host, settings.lab_port),
    ]
    if not settings.redis_url:
        wanted.append(("STORE_PORT", "127.0.0.1", settings.store_port))
    return [row for row in wanted if not _free(row[1], row[2])]


def _free(host: str, port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def _healthy(host: str, port: int) -> bool:
    host = "127.0.0.1" if host == "0.0.0.0" else host  # noqa: S104  asking, not listening
    try:
        with urllib.request.urlopen(f"http://{host}:{port}/health", timeout=1) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def _pong(url: str) -> Callable[[], bool]:
    """Asks the store by the plainest means: one PING over a socket."""
    address = urlsplit(url)

    def ready() -> bool:
        try:
            with socket.create_connection((address.hostname, address.port), timeout=1) as plain:
                plain.sendall(b"PING\r\n")
                return plain.recv(16).startswith(b"+PONG")
        except OSError:
            return False

    return ready
