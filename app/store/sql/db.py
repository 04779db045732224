"""The database: engine, time-outs, sessions, migrations. SQLite by default, or PostgreSQL."""

from __future__ import annotations

import fcntl
import logging
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO

from sqlalchemy import (
    Connection,
    Engine,
    create_engine,
    event,
    func,
    inspect,
    make_url,
    select,
    text,
)
from sqlalchemy.exc import (
    DataError,
    DBAPIError,
    DisconnectionError,
    IntegrityError,
    NotSupportedError,
    ProgrammingError,
)
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.orm import Session, sessionmaker

from app.domain import DatabaseAway, Newer, WrongDatabase
from app.text import Text, together

LONGEST_MIGRATION = 3600.0  # s for one statement
IDLE_S = 60  # s a process may be idle in a transaction; PostgreSQL then ends the connection
# After 30 s PostgreSQL closes the connections of a host that was cut off: it allows only so many.
PROBES = "-c tcp_keepalives_idle=15 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3"
FROZEN = 1.0  # s after the server's own time-out when we stop believing in it
# PostgreSQL's errors about a row, by the class of their SQLSTATE: a value that it cannot take, a
# constraint, a view's check, a limit (of an index's row), and any error of a trigger.
OF_A_ROW = ("22", "23", "44", "54", "P0")
# PostgreSQL's words when it takes no more connections; psycopg has no SQLSTATE of a failed connect.
NO_MORE = ("too many clients", "too many connections", "connection slots are reserved")
RAISE_THEM = Text(
    "Raise PostgreSQL's max_connections, or lower SHOP_WORKERS or SHOP_THREADS on the hosts that "
    "share it."
)
WAITING = "Another process prepares this database: waiting for it to finish."
PREPARING = 0x4C415354  # number of the advisory lock under which a database is prepared
MIGRATIONS = Path(__file__).parents[3] / "migrations"

log = logging.getLogger(__name__)


class NoConnection(DatabaseAway):
    """The database takes no more connections. Nothing was tried."""

    def __init__(self) -> None:
        super().__init__(together(Text("The database takes no more connections."), RAISE_THEM))


def engine(url: str, timeout_ms: int, connections: int = 5) -> Engine:
    """Return an engine for `url` whose every wait ends after `timeout_ms`.

    It has `connections` at most.
    """
    address = make_url(url)
    pool: dict[str, Any] = {
        "pool_size": connections,
        "max_overflow": 0,
        "pool_timeout": timeout_ms / 1000,
    }
    if address.get_backend_name() == "sqlite":
        made = create_engine(address, **pool, connect_args={"timeout": timeout_ms / 1000})
        event.listen(made, "connect", _prepare_sqlite)

        @event.listens_for(made, "do_connect")
        def open_file(_dialect: Any, record: Any, arguments: Any, options: Any) -> Any:
            """Open a file that exists: only `migrate` creates one."""
            record.info["file"] = _file(address.database)
            uri = Path(address.database or "").absolute().as_uri()
            return sqlite3.connect(f"{uri}?mode=rw", *arguments[1:], uri=True, **options)

        @event.listens_for(made, "checkout")
        def look(connection: Any, record: Any, _proxy: Any) -> None:
            if record.info["file"] != _file(address.database):
                raise DisconnectionError("The database's file was moved or replaced.")
            # The caller before may have left a seller's short patience behind.
            connection.execute(f"PRAGMA busy_timeout = {timeout_ms}")

        return made
    if address.drivername == "postgresql":  # the usual form of the URL; psycopg 3 is our driver
        address = address.set(drivername="postgresql+psycopg")
    made = create_engine(
        address,
        **pool,
        pool_pre_ping=True,
        connect_args={
            "connect_timeout": max(1, timeout_ms // 1000),
            # A server that vanished sends not even an error: let the kernel notice.
            "tcp_user_timeout": timeout_ms,
            "client_encoding": "utf8",  # whatever the environment says
            "options": f"-c statement_timeout={timeout_ms} -c lock_timeout={timeout_ms} "
            f"-c idle_in_transaction_session_timeout={IDLE_S}s {PROBES}",
        },
    )
    from psycopg import OperationalError

    from app.store.sql.impatient import Impatient  # psycopg is an extra that may be missing

    @event.listens_for(made, "do_connect")
    def connect(_dialect: Any, _record: Any, arguments: Any, options: Any) -> Impatient:
        try:
            connected = Impatient.connect(*arguments, **options)
        except OperationalError as error:
            if any(word in str(error) for word in NO_MORE):
                raise NoConnection from error
            raise
        encoding = connected.info.parameter_status("server_encoding")
        # Sent at the handshake, so it costs no query; None: a proxy in between kept it back.
        if encoding not in ("UTF8", None):
            name = connected.info.dbname
            connected.close()
            raise WrongDatabase(
                f"The database {name} cannot keep every name and key: its encoding is {encoding}, "
                "not UTF8. Make another, and name it in DATABASE_URL: CREATE DATABASE orders "
                "ENCODING 'UTF8' TEMPLATE template0"
            )
        return connected

    @event.listens_for(made, "checkout")
    def limit(connection: Any, _record: Any, _proxy: Any) -> None:
        connection.limit = timeout_ms / 1000 + FROZEN

    return made


def _file(path: str | None) -> tuple[int, int] | None:
    """Return which file is at the path; None without one."""
    with suppress(OSError):
        status = os.stat(path or "")
        return status.st_dev, status.st_ino
    return None


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    cursor = connection.cursor()
    # WAL: readers do not wait for the writer. FULL: a commit is on the disk when it returns, as
    # the sale is removed from the store right after it.
    cursor.execute("PRAGMA journal_mode = WAL")
    cursor.execute("PRAGMA synchronous = FULL")
    cursor.close()


def sessions(engine: Engine) -> sessionmaker[Session]:
    """Return sessions whose objects may be read after the commit, without another query."""
    return sessionmaker(engine, expire_on_commit=False)


@contextmanager
def one_moment(sessions: sessionmaker[Session]) -> Iterator[Session]:
    """Yield a session whose every statement sees the database as it was at the first."""
    with sessions() as session:
        engine = session.get_bind()
        if engine.dialect.name == "sqlite":
            session.execute(text("BEGIN"))  # else each SELECT is a transaction of its own
        else:
            session.connection(execution_options={"isolation_level": "REPEATABLE READ"})
        yield session


def connections(engine: Engine) -> tuple[int, int] | None:
    """Return how many clients PostgreSQL takes, and how many it has; None for SQLite.

    Raises DatabaseAway, of which NoConnection is one.
    """
    if engine.dialect.name == "sqlite":
        return None
    with answering(), engine.connect() as connection:
        limit, used = connection.execute(
            text(
                "SELECT current_setting('max_connections')::int"
                " - current_setting('superuser_reserved_connections')::int,"
                " (SELECT count(*) FROM pg_stat_activity WHERE datname IS NOT NULL)"
            )
        ).one()
        return limit, used


def check(engine: Engine) -> None:
    """Check the tables' version. Raises Newer if a newer version of the shop made them.

    Raises WrongDatabase, DatabaseAway, too.
    """
    ours = {path.name.partition("_")[0] for path in (MIGRATIONS / "versions").glob("*.py")}
    with answering(), engine.connect() as connection:
        if inspect(connection).has_table("alembic_version"):
            made = set(connection.scalars(text("SELECT version_num FROM alembic_version")))
            if made - ours:
                raise Newer(
                    "A newer version of Last Apple made the tables of this database (revision "
                    f"{', '.join(sorted(made - ours))}): upgrade, or set DATABASE_URL to another."
                )


def migrate(engine: Engine) -> None:
    """Create the database's file, and bring the tables up to date.

    Raises Newer, WrongDatabase, DatabaseAway.
    """
    if engine.dialect.name == "sqlite":
        with suppress(OSError):  # the connection says why it cannot be opened
            Path(engine.url.database or "").touch(exist_ok=True)
    check(engine)
    # Imported here, as it takes a sixth of every command's start, and most need no migration.
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    with answering(), engine.begin() as connection:
        take_time(connection)
        config.attributes["connection"] = connection
        command.upgrade(config, "head")


@contextmanager
def preparing(engine: Engine) -> Iterator[None]:
    """Let one process at a time migrate the database and stock its shop; the others wait.

    A process that dies lets the next one in. Raises DatabaseAway.
    """
    if engine.dialect.name == "sqlite":
        with _lock_file(Path(f"{engine.url.database}.lock")) as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                log.warning(WAITING)
                fcntl.flock(file, fcntl.LOCK_EX)
            yield
        return
    with answering(), engine.begin() as connection:
        take_time(connection)
        connection.execute(text("SET LOCAL lock_timeout = 0"))
        if not connection.scalar(select(func.pg_try_advisory_xact_lock(PREPARING))):
            log.warning(WAITING)
            connection.execute(select(func.pg_advisory_xact_lock(PREPARING)))
        yield


def _lock_file(path: Path) -> TextIO:
    try:
        return path.open("a")
    except OSError as error:
        raise DatabaseAway(
            f"Cannot write {path} ({error.strerror}). "
            "Repair that folder, or choose another: VAR_DIR, DATABASE_URL."
        ) from error


def take_time(connection: Connection) -> None:
    """Give this transaction's statements more time: one may read all orders there are."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SET LOCAL statement_timeout = 0"))
        connection.execute(text("SET LOCAL idle_in_transaction_session_timeout = 0"))
        impatient: Any = connection.connection.driver_connection
        impatient.limit = LONGEST_MIGRATION


class RowsRefused(Exception):
    """Raised when the database refuses a row for good: a retry cannot help."""


@contextmanager
def taking_rows() -> Iterator[None]:
    """Translate errors of inserts: raise RowsRefused when the rows themselves are to blame.

    To blame are values and constraints: DataError, IntegrityError, a SQLSTATE of OF_A_ROW, and what
    psycopg could not even send (a ProgrammingError or NotSupportedError without SQLSTATE). Waiting
    helps with everything else: locks, time-outs, a full disk (SQLite says OperationalError), no
    connection; and with a missing table or permission, which are no row's fault.
    """
    try:
        with answering():
            yield
    except (OverflowError, UnicodeError) as error:  # the driver's, before it asks the database
        raise RowsRefused(str(error)) from error
    except IntegrityError as error:
        raise RowsRefused(reason(error)) from error
    except DatabaseAway as away:
        cause = away.__cause__
        if isinstance(cause, DBAPIError) and _about_a_row(cause):
            raise RowsRefused(reason(cause)) from cause
        raise


def reason(error: DBAPIError | PoolTimeout) -> str:
    """Return what the driver said, in one line, without SQLAlchemy's links and statement."""
    if isinstance(error, PoolTimeout):
        return "no connection was free"
    return str(error.orig).partition("\n")[0]


def _about_a_row(error: DBAPIError) -> bool:
    if isinstance(error, DataError):
        return True
    state = getattr(error.orig, "sqlstate", "")  # "": SQLite's driver, which has none
    if state is None:
        return isinstance(error, ProgrammingError | NotSupportedError)
    return state[:2] in OF_A_ROW


@contextmanager
def answering() -> Iterator[None]:
    """Turn every failure to reach or use the database into DatabaseAway.

    Except IntegrityError: a database that refuses a row is there, and refuses it again.
    """
    try:
        yield
    except IntegrityError:
        raise
    except (DBAPIError, PoolTimeout) as error:
        raise DatabaseAway(f"The database does not answer: {reason(error)}") from error
