"""Receipts of what the store has sold before: from here on fulfil writes one with each order."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

ORDERS = sa.table("orders", *map(sa.column, ("id", "item", "key")))
RECEIPTS = sa.table("receipts", *map(sa.column, ("item", "key", "order")))


def upgrade() -> None:
    known = sa.exists().where(RECEIPTS.c.item == ORDERS.c.item, RECEIPTS.c.key == ORDERS.c.key)
    # The ids rise with time. Where an exhibit has sold twice, the first order has the receipt.
    first = (
        sa.select(ORDERS.c.item, ORDERS.c.key, sa.func.min(ORDERS.c.id))
        .where(~known)
        .group_by(ORDERS.c.item, ORDERS.c.key)
    )
    op.execute(RECEIPTS.insert().from_select(["item", "key", "order"], first))


def downgrade() -> None:
    """They do no harm."""
