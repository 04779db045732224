"""Each database gets an identity of its own when it is paired with a store."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    op.create_table(
        "identity",
        sa.Column("row", sa.Integer, primary_key=True),
        sa.Column("id", sa.String(32), nullable=False),
    )
