"""Tables of the store. A change here needs a migration in core/audit/migrations/versions."""

from __future__ import annotations

from typing import Any

from sqlalchemy import JSON, Float, ForeignKey, Index, Integer, String, Text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column


class Base(DeclarativeBase):
    """The tables' common base."""

    pass


class GraphRow(Base):
    """A stored graph; its arrays lie in AUDIT_HOME/graphs."""

    __tablename__ = "graphs"
    hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    name: Mapped[str] = mapped_column(Text)
    num_nodes: Mapped[int] = mapped_column(Integer)
    num_edges: Mapped[int] = mapped_column(Integer)
    created: Mapped[str] = mapped_column(String(32))


class AuditRow(Base):
    """An audit as it was asked for, and who computes it.

    owner      host, process id and start time of the coordinating process, as JSON text
    heartbeat  last sign of life of the owner, seconds since 1970
    """

    __tablename__ = "audits"
    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    name: Mapped[str] = mapped_column(Text)
    spec: Mapped[dict[str, Any]] = mapped_column(JSON)
    graph_hash: Mapped[str] = mapped_column(ForeignKey("graphs.hash"), index=True)
    state: Mapped[str] = mapped_column(String(16))
    created: Mapped[str] = mapped_column(String(32))
    seconds: Mapped[float] = mapped_column(Float, default=0.0)
    owner: Mapped[str] = mapped_column(Text, default="")
    heartbeat: Mapped[float] = mapped_column(Float, default=0.0)
    note: Mapped[str] = mapped_column(Text, default="")
    provenance: Mapped[dict[str, Any]] = mapped_column(JSON)


class CellRow(Base):
    """A cell by its key; shared by all audits that need the same result.

    result   measurements, facts and guarantees as JSON; arrays lie in AUDIT_HOME/cells
    curves   training curves, name → [[step, value], …], written while the cell runs
    """

    __tablename__ = "cells"
    key: Mapped[str] = mapped_column(String(64), primary_key=True)
    kind: Mapped[str] = mapped_column(String(16))
    release: Mapped[str] = mapped_column(Text)
    method: Mapped[str] = mapped_column(Text)
    repeat: Mapped[int] = mapped_column(Integer)
    state: Mapped[str] = mapped_column(String(16))
    progress: Mapped[float] = mapped_column(Float, default=0.0)
    message: Mapped[str] = mapped_column(Text, default="")
    reason: Mapped[str] = mapped_column(Text, default="")
    note: Mapped[str] = mapped_column(Text, default="")
    device: Mapped[str] = mapped_column(Text, default="")
    seconds: Mapped[float] = mapped_column(Float, default=0.0)
    result: Mapped[dict[str, Any] | None] = mapped_column(JSON)
    curves: Mapped[dict[str, list[list[float]]] | None] = mapped_column(JSON)


class AuditCellRow(Base):
    """Which cells an audit has, in the order of its plan."""

    __tablename__ = "audit_cells"
    audit_id: Mapped[str] = mapped_column(ForeignKey("audits.id"), primary_key=True)
    cell_key: Mapped[str] = mapped_column(ForeignKey("cells.key"), primary_key=True)
    position: Mapped[int] = mapped_column(Integer)
    __table_args__ = (Index("ix_audit_cells_cell_key", "cell_key"),)


class ClaimRow(Base):
    """A check of what a release of an audit promises; see core.audit.claims.

    choice     the defense with its settings as they were checked
    owner, heartbeat  who plays it, and its last sign of life, as in `AuditRow`
    result     `ClaimCheck.describe()` once it is done
    """

    __tablename__ = "claims"
    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    audit_id: Mapped[str] = mapped_column(ForeignKey("audits.id"), index=True)
    release: Mapped[str] = mapped_column(Text)
    choice: Mapped[dict[str, Any]] = mapped_column(JSON)
    trials: Mapped[int] = mapped_column(Integer)
    state: Mapped[str] = mapped_column(String(16))
    progress: Mapped[float] = mapped_column(Float, default=0.0)
    message: Mapped[str] = mapped_column(Text, default="")
    reason: Mapped[str] = mapped_column(Text, default="")
    created: Mapped[str] = mapped_column(String(32))
    seconds: Mapped[float] = mapped_column(Float, default=0.0)
    owner: Mapped[str] = mapped_column(Text, default="")
    heartbeat: Mapped[float] = mapped_column(Float, default=0.0)
    result: Mapped[dict[str, Any] | None] = mapped_column(JSON)
