"""A sweep finds the units of its holds, however many units their round has."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    taken = sa.text('"order" IS NOT NULL')
    op.create_index(
        "units_by_order",
        "units",
        ["order"],
        postgresql_where=taken,
        sqlite_where=taken,
    )


def downgrade() -> None:
    op.drop_index("units_by_order", "units")
