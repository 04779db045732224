"""An audit counts a round's orders from this index alone: the quantity stands in it, too."""

from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    op.drop_index("orders_by_round", "orders")
    op.create_index("orders_by_round", "orders", ["item", "round", "key", "quantity"])


def downgrade() -> None:
    op.drop_index("orders_by_round", "orders")
    op.create_index("orders_by_round", "orders", ["item", "round", "key"])
