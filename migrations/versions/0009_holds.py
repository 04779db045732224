"""Holds of the modes that sell in the database."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    op.create_table(
        "holds",
        sa.Column("id", sa.String(36), primary_key=True),
        sa.Column("item", sa.String(32), nullable=False),
        sa.Column("round", sa.Integer, nullable=False),
        sa.Column("quantity", sa.Integer, nullable=False),
        sa.Column("price", sa.Integer, nullable=False),
        sa.Column("buyer", sa.String(36), nullable=False),
        sa.Column("key", sa.String(128), nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("request", sa.String(64), nullable=False),
        sa.Column("until", sa.BigInteger, nullable=False),
        sa.Column("stands", sa.String(9), nullable=False),
        sa.Column("back", sa.Boolean, nullable=False),
    )
    op.create_index("holds_by_round", "holds", ["item", "round", "back"])
    op.create_index("holds_by_deadline", "holds", ["back", "stands", "until"])


def downgrade() -> None:
    op.drop_table("holds")
