"""gunicorn's hook for the lab's worker (`gunicorn -c python:app.lab.slow_requests`).

A body that never comes would keep its request forever: gevent's connections wait without limit.
Other requests are served meanwhile, but each such request takes one of the worker's places.
"""

from __future__ import annotations

import time
from typing import Any

from gevent import Timeout

from app.service.request import log_lines

LONGEST = 3.0  # s from the request's head to the end of its body, of 16 KiB at the most


def post_worker_init(worker: Any) -> None:
    """Run in the worker, when it has the application and gevent's patches."""
    log_lines()
    worker.wsgi = in_time(worker.wsgi)


def in_time(application: Any) -> Any:
    """Return the application with a limit: a body that takes longer than LONGEST is a 408."""
    from werkzeug.exceptions import RequestTimeout  # not in the master, where nothing is patched

    def answer(environ: dict[str, Any], start_response: Any) -> Any:
        environ["wsgi.input"] = Body(environ["wsgi.input"], RequestTimeout)
        return application(environ, start_response)

    return answer


class Body:
    """A request's body, as WSGI reads it."""

    def __init__(self, body: Any, too_late: type[Exception]) -> None:
        self.body = body
        self.too_late = too_late
        self.until = time.monotonic() + LONGEST

    def read(self, size: int = -1) -> bytes:
        """Return up to `size` bytes, all if it is negative. Raises `too_late`."""
        with Timeout(max(0.001, self.until - time.monotonic()), self.too_late):
            read: bytes = self.body.read(None if size < 0 else size)
            return read
