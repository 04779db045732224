"""A database that cannot keep every name is refused at the start, in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.bootstrap import Services
from app.config import Settings
from app.domain import WrongDatabase
from app.store.sql import db
from tests.support.command_line import invoke
from tests.support.servers import PostgresServer, StoreServer


@pytest.fixture(scope="module", params=["LATIN1", "SQL_ASCII"])
def url(request: pytest.FixtureRequest, postgres: PostgresServer) -> str:
    made: str = postgres.database("template0", request.param)
    return made


@pytest.mark.parametrize("command", ["prepare", "up"])
def test_refused_before_anything_is_started(
    url: str, valkey: StoreServer, tmp_path: Path, command: str
) -> None:
    done = invoke(command, REDIS_URL=valkey.url, VAR_DIR=str(tmp_path), DATABASE_URL=url)
    assert done.exit_code == 1, done.output
    [said] = done.output.splitlines()
    assert said.startswith("Error: The database orders_")
    assert "not UTF8. Make another, and name it in DATABASE_URL: CREATE DATABASE" in said


def test_fulfil_does_not_begin(url: str, valkey: StoreServer) -> None:
    services = Services(Settings(redis_url=valkey.url, database_url=url))
    with pytest.raises(WrongDatabase):
        services.check_database()  # its first step


def test_whatever_the_environment_says_of_the_client(
    postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGCLIENTENCODING", "LATIN1")
    engine = db.engine(postgres.database(), 5_000)
    with engine.connect() as connection:
        assert connection.exec_driver_sql("SHOW client_encoding").scalar() == "UTF8"
    engine.dispose()


def test_nothing_is_ever_written_there(url: str) -> None:
    with pytest.raises(WrongDatabase):
        db.migrate(db.engine(url, 5_000))
