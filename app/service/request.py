"""The request that a thread is working on: its id is in each line of the log, and in each order."""

from __future__ import annotations

import logging
import os
import re
from contextvars import ContextVar

GOOD = re.compile(r"[A-Za-z0-9._-]{1,64}")  # what fits the orders' column, a header and a log
LINE = "%(asctime)s %(levelname)s %(request)s %(message)s"

current: ContextVar[str] = ContextVar("request", default="")  # "": none


def new_id() -> str:
    """Return 64 random bits in hex: short, as each sale stores it, and customers read it out."""
    return os.urandom(8).hex()


class Lines(logging.Formatter):
    """Formats log lines: time, level, request (- for none), message."""

    def __init__(self) -> None:
        super().__init__(LINE)

    def format(self, record: logging.LogRecord) -> str:
        record.request = current.get() or "-"
        return super().format(record)


def log_lines() -> None:
    """Format all log lines of this process that way, including a server's own."""
    ours = logging.StreamHandler()
    logging.getLogger().addHandler(ours)
    for handler in (ours, *logging.getLogger("gunicorn.error").handlers):
        handler.setFormatter(Lines())
