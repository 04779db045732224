"""Units of stock as rows, one for each: mode sql_units locks single ones."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    op.create_table(
        "units",
        sa.Column("item", sa.String(32), primary_key=True),
        sa.Column("round", sa.Integer, primary_key=True),
        sa.Column("started", sa.BigInteger, primary_key=True),
        sa.Column("n", sa.Integer, primary_key=True),
        sa.Column("order", sa.String(36)),
    )
    free = sa.text('"order" IS NULL')
    op.create_index(
        "units_free",
        "units",
        ["item", "round", "started", "n"],
        postgresql_where=free,
        sqlite_where=free,
    )


def downgrade() -> None:
    op.drop_table("units")
