"""A database that a newer version made is reported in one line; nothing is done to it."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import text

from app.bootstrap import Services
from app.domain import Newer
from tests.support.command_line import run
from tests.support.servers import StoreServer
from tests.support.shop import Shop

RUNS_ON = ["valkey"]
SAID = "A newer version of Last Apple made the tables of this database (revision 9999)"


def test_nothing_is_done_to_its_tables(services: Services, database_url: str) -> None:
    with services.engine.begin() as sql:
        sql.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    for deed in (services.migrate, services.check_database):
        with pytest.raises(Newer, match="revision 9999"):
            deed()


def test_one_that_is_away_may_yet_come(tmp_path: Path, services: Services) -> None:
    gone = tmp_path / "nowhere" / "orders.db"
    Services(services.settings.__class__(database_url=f"sqlite:///{gone}")).check_database()


@pytest.mark.parametrize("command", [["prepare"], ["run", "fulfil"], ["up"]])
def test_the_commands_end_with_status_1(
    services: Services, tmp_path: Path, store_server: StoreServer, command: list[str]
) -> None:
    with services.engine.begin() as sql:
        sql.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    shop = Shop(tmp_path / "shop", REDIS_URL=store_server.url)
    ended = run(*command, **shop.environ | {"DATABASE_URL": services.settings.database})
    assert ended.returncode == 1
    assert ended.stderr.startswith(f"Error: {SAID}")
    assert ended.stderr.count("\n") == 1
