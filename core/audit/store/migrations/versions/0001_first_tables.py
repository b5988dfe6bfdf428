"""Graphs, audits, cells and which audit has which cell."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "graphs",
        sa.Column("hash", sa.String(64), primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("num_nodes", sa.Integer, nullable=False),
        sa.Column("num_edges", sa.Integer, nullable=False),
        sa.Column("created", sa.String(32), nullable=False),
    )
    op.create_table(
        "audits",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("spec", sa.JSON, nullable=False),
        sa.Column("graph_hash", sa.String(64), sa.ForeignKey("graphs.hash"), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("created", sa.String(32), nullable=False),
        sa.Column("seconds", sa.Float, nullable=False),
        sa.Column("owner", sa.Text, nullable=False),
        sa.Column("heartbeat", sa.Float, nullable=False),
        sa.Column("note", sa.Text, nullable=False),
        sa.Column("provenance", sa.JSON, nullable=False),
    )
    op.create_index("ix_audits_graph_hash", "audits", ["graph_hash"])
    op.create_table(
        "cells",
        sa.Column("key", sa.String(64), primary_key=True),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("release", sa.Text, nullable=False),
        sa.Column("method", sa.Text, nullable=False),
        sa.Column("repeat", sa.Integer, nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("progress", sa.Float, nullable=False),
        sa.Column("message", sa.Text, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("note", sa.Text, nullable=False),
        sa.Column("device", sa.Text, nullable=False),
        sa.Column("seconds", sa.Float, nullable=False),
        sa.Column("result", sa.JSON, nullable=True),
        sa.Column("curves", sa.JSON, nullable=True),
    )
    op.create_table(
        "audit_cells",
        sa.Column("audit_id", sa.String(32), sa.ForeignKey("audits.id"), primary_key=True),
        sa.Column("cell_key", sa.String(64), sa.ForeignKey("cells.key"), primary_key=True),
        sa.Column("position", sa.Integer, nullable=False),
    )
    op.create_index("ix_audit_cells_cell_key", "audit_cells", ["cell_key"])


def downgrade() -> None:
    for table in ("audit_cells", "cells", "audits", "graphs"):
        op.drop_table(table)
