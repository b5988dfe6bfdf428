"""Processor time of jobs; 0 for earlier ones."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    names = {column["name"] for column in sa.inspect(op.get_bind()).get_columns("jobs")}
    if "cpu_seconds" not in names:  # 0001 makes the tables as schema.py has them
        new = sa.Column("cpu_seconds", sa.Float, nullable=False, server_default="0")
        op.add_column("jobs", new)


def downgrade() -> None:
    op.drop_column("jobs", "cpu_seconds")
