"""psycopg's connection with an end to every wait. Imported only where PostgreSQL is used."""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg.abc import RV, PQGen


class Impatient(psycopg.Connection[Any]):
    """A connection that gives up `limit` s after a statement was sent.

    The server's own time-outs come first; but a frozen server keeps none.
    """

    limit = 60.0

    def wait(self, gen: PQGen[RV], interval: float = 0.1, timeout: float | None = None) -> RV:
        try:
            return super().wait(gen, interval, timeout or self.limit)
        except psycopg.OperationalError as error:
            if error.sqlstate is None:  # not the server's error: replies may be out of step
                self.pgconn.finish()
            raise
