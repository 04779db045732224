"""What each buyer has of a round that limits it and sells in the database."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.create_table(
        "buyers",
        sa.Column("item", sa.String(32), primary_key=True),
        sa.Column("round", sa.Integer, primary_key=True),
        sa.Column("started", sa.BigInteger, primary_key=True),
        sa.Column("buyer", sa.String(36), primary_key=True),
        sa.Column("units", sa.Integer, nullable=False),
    )


def downgrade() -> None:
    op.drop_table("buyers")
