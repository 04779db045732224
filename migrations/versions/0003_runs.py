"""Runs of the lab: what was asked for, how it ended, and every sample in between."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.create_table(
        "runs",
        sa.Column("id", sa.String(48), primary_key=True),
        sa.Column("item", sa.String(32), nullable=False),
        sa.Column("mode", sa.String(64), nullable=False),
        sa.Column("started", sa.BigInteger, nullable=False),
        sa.Column("how", sa.String(16), nullable=False),
        sa.Column("record", sa.Text, nullable=False),
        sa.Column("events", sa.Text, nullable=False),
    )
    op.create_index("runs_by_start", "runs", ["started"])


def downgrade() -> None:
    op.drop_table("runs")
