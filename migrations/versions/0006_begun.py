"""The newest round that was begun of each item, and in which store."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.create_table(
        "begun",
        sa.Column("item", sa.String(32), primary_key=True),
        sa.Column("round", sa.Integer, nullable=False),
        sa.Column("store", sa.String(32), nullable=False),
    )


def downgrade() -> None:
    op.drop_table("begun")
