"""Whose audits, graphs, publishing runs and ledger entries these are; grants, tokens, the trail.

What is there already belongs to the local user.
"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

LOCAL = "local"
REFUSAL = "the trail is append-only"


def upgrade() -> None:
    for table, column, default in (
        ("audits", "person", LOCAL),
        ("jobs", "person", LOCAL),
        ("jobs", "signed_by", ""),
        ("ledger", "person", LOCAL),
        ("ledger", "signed_by", ""),
    ):
        op.add_column(table, sa.Column(column, sa.Text, nullable=False, server_default=default))
    connection = op.get_bind()
    for table, condition in (("jobs", "kind = 'publishing'"), ("ledger", "1 = 1")):
        connection.execute(sa.text(f"UPDATE {table} SET signed_by = '{LOCAL}' WHERE {condition}"))
    op.create_table(
        "graph_holders",
        sa.Column("graph_hash", sa.String(64), sa.ForeignKey("graphs.hash"), primary_key=True),
        sa.Column("person", sa.String(400), primary_key=True),
    )
    connection.execute(
        sa.text(
            f"INSERT INTO graph_holders (graph_hash, person) SELECT hash, '{LOCAL}' FROM graphs"
        )
    )
    op.create_table(
        "people",
        sa.Column("subject", sa.String(400), primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("email", sa.Text, nullable=False),
        sa.Column("groups", sa.JSON, nullable=False),
        sa.Column("seen", sa.String(32), nullable=False),
    )
    op.create_table(
        "grants",
        sa.Column("audit_id", sa.String(32), sa.ForeignKey("audits.id"), primary_key=True),
        sa.Column("person", sa.String(400), primary_key=True),
        sa.Column("given_by", sa.Text, nullable=False),
        sa.Column("made", sa.String(32), nullable=False),
    )
    op.create_table(
        "tokens",
        sa.Column("digest", sa.String(64), primary_key=True),
        sa.Column("id", sa.String(16), nullable=False),
        sa.Column("person", sa.Text, nullable=False),
        sa.Column("label", sa.Text, nullable=False),
        sa.Column("made", sa.String(32), nullable=False),
        sa.Column("expires", sa.String(32), nullable=False),
        sa.Column("used", sa.String(32), nullable=False),
        sa.Column("is_revoked", sa.Boolean, nullable=False),
    )
    op.create_table(
        "trail",
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("made", sa.String(32), nullable=False),
        sa.Column("person", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("event", sa.Text, nullable=False),
        sa.Column("target", sa.Text, nullable=False),
        sa.Column("detail", sa.Text, nullable=False),
    )
    for statement in _list_triggers(connection.dialect.name):
        connection.execute(sa.text(statement))


def _list_triggers(dialect: str) -> list[str]:
    if dialect == "postgresql":
        return [
            "CREATE FUNCTION refuse_trail() RETURNS trigger LANGUAGE plpgsql AS "
            f"$$BEGIN RAISE EXCEPTION '{REFUSAL}'; END$$",
            "CREATE TRIGGER trail_only_grows BEFORE UPDATE OR DELETE OR TRUNCATE ON trail "
            "FOR EACH STATEMENT EXECUTE FUNCTION refuse_trail()",
        ]
    return [
        f"CREATE TRIGGER trail_no_{verb} BEFORE {verb} ON trail "
        f"BEGIN SELECT RAISE(ABORT, '{REFUSAL}'); END"
        for verb in ("update", "delete")
    ]


def downgrade() -> None:
    raise NotImplementedError("a newer store is not made an older one")
