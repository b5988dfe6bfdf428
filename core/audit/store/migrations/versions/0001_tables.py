"""All tables, with triggers that keep some of them append-only.

No version was released yet, so the tables are those of schema.py. The first change after a release
writes them out here and adds a migration.
"""

from alembic import op

from core.audit.store.schema import Base

revision = "0001"
down_revision = None


def upgrade() -> None:
    Base.metadata.create_all(op.get_bind())


def downgrade() -> None:
    Base.metadata.drop_all(op.get_bind())
