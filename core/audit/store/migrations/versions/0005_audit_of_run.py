"""Audits whose releases publishing runs made; none for earlier runs, which no audit then owns."""

import sqlalchemy as sa
from alembic import op

from core.audit.store.schema import allow_changes, refuse_changes

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    bind = op.get_bind()
    names = {column["name"] for column in sa.inspect(bind).get_columns("ledger")}
    if "audit_id" in names:  # 0001 makes the tables as schema.py has them
        return
    allow_changes(_read_table(), bind)
    op.add_column("ledger", sa.Column("audit_id", sa.String(32), nullable=False, server_default=""))
    refuse_changes(_read_table(), bind)


def downgrade() -> None:
    allow_changes(_read_table(), op.get_bind())
    op.drop_column("ledger", "audit_id")
    refuse_changes(_read_table(), op.get_bind())


def _read_table() -> sa.Table:
    return sa.Table("ledger", sa.MetaData(), autoload_with=op.get_bind())
