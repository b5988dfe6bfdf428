"""One table for all that is computed: cells, checks of claims, advice, publishing runs."""

import hashlib
import json
from datetime import UTC, datetime
from pathlib import Path

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

SHARED = (
    "key, kind, release, method, repeat, state, progress, message, reason, note, device, seconds, "
    "result, curves"
)


def upgrade() -> None:
    op.create_table(
        "jobs",
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
        sa.Column("audit_id", sa.String(32), sa.ForeignKey("audits.id"), nullable=True),
        sa.Column("request", sa.JSON, nullable=True),
        sa.Column("created", sa.String(32), nullable=False),
        sa.Column("finished", sa.String(32), nullable=False),
        sa.Column("owner", sa.Text, nullable=False),
        sa.Column("heartbeat", sa.Float, nullable=False),
        sa.Column("result", sa.JSON, nullable=True),
        sa.Column("curves", sa.JSON, nullable=True),
    )
    op.create_index("ix_jobs_audit_id", "jobs", ["audit_id"])
    connection = op.get_bind()
    connection.execute(
        sa.text(
            f"INSERT INTO jobs ({SHARED}, created, finished, owner, heartbeat) "
            f"SELECT {SHARED}, '', '', '', 0 FROM cells"
        )
    )
    op.create_table(
        "audit_jobs",
        sa.Column("audit_id", sa.String(32), sa.ForeignKey("audits.id"), primary_key=True),
        sa.Column("cell_key", sa.String(64), sa.ForeignKey("jobs.key"), primary_key=True),
        sa.Column("position", sa.Integer, nullable=False),
    )
    connection.execute(
        sa.text(
            "INSERT INTO audit_jobs (audit_id, cell_key, position) "
            "SELECT audit_id, cell_key, position FROM audit_cells"
        )
    )
    _move_claims(connection)
    config = op.get_context().config
    home = config.attributes.get("home") if config is not None else None
    if home is not None:
        _move_advice(connection, Path(home))
    op.drop_table("audit_cells")
    op.rename_table("audit_jobs", "audit_cells")
    op.create_index("ix_audit_cells_cell_key", "audit_cells", ["cell_key"])
    op.drop_table("cells")
    op.drop_table("claims")


def downgrade() -> None:
    raise NotImplementedError("a newer store is not made an older one")


def _move_claims(connection: sa.Connection) -> None:
    claims = sa.table(
        "claims",
        *map(sa.column, ("id", "audit_id", "release", "trials", "state", "progress")),
        *map(sa.column, ("message", "reason", "created", "seconds", "owner", "heartbeat")),
        sa.column("choice", sa.JSON),
        sa.column("result", sa.JSON),
    )
    audits = sa.table("audits", sa.column("id"), sa.column("spec", sa.JSON))
    joined = sa.select(claims, audits.c.spec).join(audits, audits.c.id == claims.c.audit_id)
    for row in connection.execute(joined).all():
        request = {
            "release": row.release,
            "choice": row.choice,
            "trials": row.trials,
            "root_seed": row.spec.get("root_seed", 0),
        }
        names = ("state", "progress", "message", "reason", "created", "seconds", "owner")
        _insert(
            connection,
            **{name: getattr(row, name) for name in (*names, "heartbeat", "result")},
            key=_make_key("claim", row.audit_id, row.release, row.trials),
            kind="claim",
            release=row.release,
            audit_id=row.audit_id,
            request=request,
        )


def _move_advice(connection: sa.Connection, home: Path) -> None:
    """Advice was a file in a folder of its audit; what cannot be read is left out."""
    audits = sa.table("audits", sa.column("id"))
    for audit_id in connection.scalars(sa.select(audits.c.id)).all():
        for path in sorted((home / "audits" / audit_id / "advice").glob("*/advice.json")):
            try:
                advice = json.loads(path.read_text(encoding="utf-8"))
                node = advice["request"]["node"]
                made = datetime.fromtimestamp(path.stat().st_mtime, UTC)
            except (OSError, ValueError, KeyError, TypeError):
                continue
            _insert(
                connection,
                key=_make_key("advice", audit_id, node),
                kind="advice",
                state="done",
                progress=1.0,
                audit_id=audit_id,
                request=advice["request"],
                created=made.isoformat(timespec="milliseconds"),
                result=advice,
            )


def _insert(connection: sa.Connection, **values: object) -> None:
    texts = ("release", "method", "message", "reason", "note", "device", "owner")
    full = {**dict.fromkeys((*texts, "created", "finished"), ""), "seconds": 0.0, "heartbeat": 0.0}
    full |= {"repeat": 0, **values}
    names = full.keys() - {"request", "result"}
    documents = [sa.column(name, sa.JSON(none_as_null=True)) for name in ("request", "result")]
    jobs = sa.table("jobs", *map(sa.column, names), *documents)
    connection.execute(sa.insert(jobs).values(full))


def _make_key(*parts: object) -> str:
    """As the kinds of jobs name their jobs at this version."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:20]
