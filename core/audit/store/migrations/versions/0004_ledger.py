"""What publishing runs spent, by graph."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.create_table(
        "ledger",
        sa.Column("run", sa.String(64), primary_key=True),
        sa.Column("graph_hash", sa.String(64), nullable=False),
        sa.Column("made", sa.String(32), nullable=False),
        sa.Column("release", sa.Text, nullable=False),
        sa.Column("unit", sa.String(16), nullable=False),
        sa.Column("relation", sa.Text, nullable=False),
        sa.Column("epsilon", sa.Float, nullable=True),
        sa.Column("delta", sa.Float, nullable=False),
    )
    op.create_index("ix_ledger_graph_hash", "ledger", ["graph_hash"])


def downgrade() -> None:
    op.drop_table("ledger")
