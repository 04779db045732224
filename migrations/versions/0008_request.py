"""The request that made an order: the id that its customer was told."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    op.add_column("orders", sa.Column("request", sa.String(64), nullable=False, server_default=""))


def downgrade() -> None:
    op.drop_column("orders", "request")
