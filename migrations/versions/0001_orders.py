"""The table of orders."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "orders",
        sa.Column("id", sa.String(36), primary_key=True),
        sa.Column("item", sa.String(32), nullable=False),
        sa.Column("round", sa.Integer, nullable=False),
        sa.Column("quantity", sa.Integer, nullable=False),
        sa.Column("price", sa.Integer, nullable=False),
        sa.Column("buyer", sa.String(36), nullable=False),
        sa.Column("key", sa.String(128), nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("confirmed", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_index("orders_by_round", "orders", ["item", "round", "key"])
    op.create_index("orders_by_buyer", "orders", ["buyer", "at"])


def downgrade() -> None:
    op.drop_table("orders")
