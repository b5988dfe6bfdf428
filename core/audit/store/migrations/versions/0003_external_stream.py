"""Specs without `external_stream`: all releases are attacked with the same random numbers."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

AUDITS = sa.table("audits", sa.column("id", sa.String), sa.column("spec", sa.JSON))


def upgrade() -> None:
    bind = op.get_bind()
    for audit_id, spec in bind.execute(sa.select(AUDITS.c.id, AUDITS.c.spec)).all():
        if spec.pop("external_stream", None) is not None:
            bind.execute(sa.update(AUDITS).where(AUDITS.c.id == audit_id).values(spec=spec))


def downgrade() -> None:
    """Nothing: the field has a default."""
