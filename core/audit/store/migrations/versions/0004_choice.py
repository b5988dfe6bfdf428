"""Choices of people on the graphs that they loaded; none for earlier ones."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    names = {column["name"] for column in sa.inspect(op.get_bind()).get_columns("graph_holders")}
    if "choice" not in names:  # 0001 makes the tables as schema.py has them
        op.add_column("graph_holders", sa.Column("choice", sa.JSON))


def downgrade() -> None:
    op.drop_column("graph_holders", "choice")
