"""Who decided what on a release, when and on which evidence; rows are added, never changed."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"

REFUSED = "decisions are superseded by later ones, never edited"


def upgrade() -> None:
    op.create_table(
        "decisions",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("graph_hash", sa.String(64), nullable=False),
        sa.Column("audit_id", sa.String(32), nullable=False),
        sa.Column("made", sa.String(32), nullable=False),
        sa.Column("person", sa.Text, nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("release", sa.Text, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("evidence", sa.JSON, nullable=False),
        sa.Column("file_hash", sa.String(64), nullable=False),
    )
    op.create_index("ix_decisions_graph_hash", "decisions", ["graph_hash"])
    for statement in _refuse_changes(op.get_bind().dialect.name):
        op.execute(statement)


def downgrade() -> None:
    raise NotImplementedError("a newer store is not made an older one")


def _refuse_changes(dialect: str) -> list[str]:
    """The database itself keeps what was decided, whoever writes to it."""
    if dialect == "postgresql":
        return [
            "CREATE FUNCTION refuse_decision_change() RETURNS trigger AS "
            f"$$ BEGIN RAISE EXCEPTION '{REFUSED}'; END $$ LANGUAGE plpgsql",
            "CREATE TRIGGER keep_decisions BEFORE UPDATE OR DELETE ON decisions "
            "FOR EACH ROW EXECUTE FUNCTION refuse_decision_change()",
        ]
    return [
        f"CREATE TRIGGER keep_decisions_{event.lower()} BEFORE {event} ON decisions "
        f"BEGIN SELECT RAISE(ABORT, '{REFUSED}'); END"
        for event in ("UPDATE", "DELETE")
    ]
