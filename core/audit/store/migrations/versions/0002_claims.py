"""Checks of what releases promise."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.create_table(
        "claims",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("audit_id", sa.String(32), sa.ForeignKey("audits.id"), nullable=False),
        sa.Column("release", sa.Text, nullable=False),
        sa.Column("choice", sa.JSON, nullable=False),
        sa.Column("trials", sa.Integer, nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("progress", sa.Float, nullable=False),
        sa.Column("message", sa.Text, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("created", sa.String(32), nullable=False),
        sa.Column("seconds", sa.Float, nullable=False),
        sa.Column("owner", sa.Text, nullable=False),
        sa.Column("heartbeat", sa.Float, nullable=False),
        sa.Column("result", sa.JSON, nullable=True),
    )
    op.create_index("ix_claims_audit_id", "claims", ["audit_id"])


def downgrade() -> None:
    op.drop_table("claims")
