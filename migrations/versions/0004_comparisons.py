"""Comparisons of the lab, and which of them a run is a part of."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.create_table(
        "comparisons",
        sa.Column("id", sa.String(48), primary_key=True),
        sa.Column("started", sa.BigInteger, nullable=False),
        sa.Column("record", sa.Text, nullable=False),
    )
    op.create_index("comparisons_by_start", "comparisons", ["started"])
    op.add_column("runs", sa.Column("comparison", sa.String(48), nullable=False, server_default=""))


def downgrade() -> None:
    with op.batch_alter_table("runs") as runs:
        runs.drop_column("comparison")
    op.drop_table("comparisons")
