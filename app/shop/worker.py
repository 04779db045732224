"""gunicorn's hooks for the shop's workers (`gunicorn -c python:app.shop.worker`).

Each worker stays on a core of its own: the threads of one that wanders hand the interpreter lock
from core to core. By wrk at 64 connections, on two cores: 1.4 times the no-op POSTs and 1.5 times
the purchases a second.

The code is loaded once, in the master: a worker is a copy of it, and one that died is back in a
moment. Nothing is begun there, no connection and no thread: these do not survive a fork.
"""

from __future__ import annotations

import os
import socket
from importlib import import_module
from typing import Any

from app.config import Settings
from app.service.metrics.places import wipe
from app.service.request import log_lines

# Imported by create_shop, and by the first beat after a purchase.
LOADED = (
    "app.bootstrap",
    "app.store.sql.transactions",
    "prometheus_client.mmap_dict",
    *(f"app.server.{name}" for name in ("contract.views", "health", "hosts", "rate", "setup")),
    *(f"app.shop.{name}" for name in ("classroom", "contract", "payments", "views")),
)
UNREAD = 16 * 1024  # bytes of answers that the system keeps for a client that does not read


def on_starting(_server: Any) -> None:
    """Run in the master, before the first worker."""
    for module in LOADED:
        import_module(module)
    wipe(Settings.read(os.environ).metrics)


def pre_fork(server: Any, worker: Any) -> None:
    """Run in the master: choose a core that no living sibling has."""
    worker.core = None
    if not hasattr(os, "sched_setaffinity"):  # only Linux has it
        return
    cores = os.sched_getaffinity(0)
    if server.cfg.workers <= len(cores):
        free = cores - {sibling.core for sibling in server.WORKERS.values()}
        worker.core = min(free, default=None)


def post_fork(_server: Any, worker: Any) -> None:
    """Run in the worker, before it accepts any client."""
    log_lines()
    if worker.core is not None:
        os.sched_setaffinity(0, {worker.core})
    for listener in worker.sockets:
        # Accepted sockets inherit this. By itself the system keeps megabytes, so hundreds of pages
        # would be made for a client that keeps asking and reads none.
        listener.sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, UNREAD)
