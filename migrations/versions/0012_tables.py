"""Create the tables of the first version."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = None

ITEM, LINE, LONG = sa.String(32), sa.String(36), sa.String(128)
ROUND: dict[str, Any] = {"item": ITEM, "round": sa.Integer}
STOCKED = ROUND | {"started": sa.BigInteger}
SALE = {"id": LINE, **ROUND, "quantity": sa.Integer, "price": sa.Integer}
SALE |= {"buyer": LINE, "key": LONG, "at": sa.BigInteger}


def upgrade() -> None:
    _create("orders", 1, **SALE, confirmed=sa.DateTime(timezone=True))
    _add_text("orders", "request", 64)
    op.create_index("orders_by_round", "orders", ["item", "round", "key", "quantity"])
    op.create_index("orders_by_buyer", "orders", ["buyer", "at"])
    _create("stock", 3, **STOCKED, units=sa.Integer, version=sa.Integer, ended=sa.Boolean)
    _create("receipts", 2, item=ITEM, key=LONG, order=LINE)
    _create("locks", 1, name=LONG, owner=sa.String(32), until=sa.Double)
    run = {"id": sa.String(48), "item": ITEM, "mode": sa.String(64), "started": sa.BigInteger}
    _create("runs", 1, **run, how=sa.String(16), record=sa.Text, events=sa.Text)
    _add_text("runs", "comparison", 48)
    op.create_index("runs_by_start", "runs", ["started"])
    _create("comparisons", 1, id=sa.String(48), started=sa.BigInteger, record=sa.Text)
    op.create_index("comparisons_by_start", "comparisons", ["started"])
    _create("begun", 1, **ROUND, store=sa.String(32))
    _create("buyers", 4, **STOCKED, buyer=LINE, units=sa.Integer)
    hold = SALE | {"request": sa.String(64), "until": sa.BigInteger}
    _create("holds", 1, **hold, stands=sa.String(9), back=sa.Boolean)
    op.create_index("holds_by_round", "holds", ["item", "round", "back"])
    op.create_index("holds_by_deadline", "holds", ["back", "stands", "until"])
    _create("units", 4, **STOCKED, n=sa.Integer)
    op.add_column("units", sa.Column("order", LINE))
    free, columns = sa.text('"order" IS NULL'), [*STOCKED, "n"]
    op.create_index("units_free", "units", columns, postgresql_where=free, sqlite_where=free)
    _create("rounds", 2, **ROUND, record=sa.Text)


def _create(table: str, keys: int, /, **columns: Any) -> None:
    """Create a table without NULL; its first `keys` columns are the primary key."""
    made = enumerate(columns.items())
    op.create_table(
        table,
        *(sa.Column(name, kind, primary_key=n < keys, nullable=False) for n, (name, kind) in made),
    )


def _add_text(table: str, name: str, length: int) -> None:
    column = sa.Column(name, sa.String(length), nullable=False, server_default="")
    op.add_column(table, column)
