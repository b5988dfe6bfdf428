"""The publishing ledger: every publishing run, entered before its file is handed out.

Runs are summed by lineage: graphs with the same data in another order, with new ids or lightly
edited. A graph new to the ledger joins the lineage it overlaps with most (core.data.lineage); only
an approver may override this, on the record. Entries are never changed or deleted, even with their
audit: spent budget stays spent.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from core.audit.asked.release_info import ReleaseInfo, parse_release
from core.audit.store.accounts import LOCAL
from core.audit.store.liveness import make_timestamp
from core.audit.store.retry import keep_trying
from core.audit.store.schema import LedgerRow, LineageRow
from core.data.lineage import GraphSketch, Overlap, Part, normalize_id, sketch_graph
from core.errors import InputError
from core.graph import Graph
from core.partitioned.graph import PartitionedGraph
from core.privacy.ledger import Budget, Entry, Total, check_budget, compute_totals
from core.release import Release

if TYPE_CHECKING:
    from core.audit.store.database import Store

COLUMNS = ("run", "made", "release", "unit", "relation", "epsilon", "delta", "audit_id")

MIN_OVERLAP = 0.5
"""Overlap in any part of the sketch above which two graphs are the same data."""

MIN_ELEMENTS = 16
"""Compared elements below which overlap may be chance, unless the elements are names."""

MIN_PAIRS, MAX_CHANCE = 8, 1e-6
"""Links by numbers are compared from fewer on, where as many links of unrelated graphs of that
density agree with at most this probability."""

MAX_NAME, MAX_REASON = 64, 2_000


@dataclass(frozen=True)
class Relative:
    """Graphs of the ledger with the same data, whose runs count together with this graph's.

    part, overlap  the part of the sketch that overlaps most, and the share of the smaller graph's
    elements that agree, in [0, 1]
    runs           publishing runs of the lineage so far
    """

    lineage: str
    part: Part
    overlap: float
    runs: int


def get_released(entry: Entry) -> ReleaseInfo:
    """What an entry's release is; shown by its id if this version does not know its defense."""
    return parse_release(entry.release)


def list_entries(store: Store, graph: Graph) -> tuple[Entry, ...]:
    """All publishing runs of a graph's lineage, oldest first."""
    with store.read() as connection:
        return _select(connection, _find_lineages(connection, graph))


def list_all_entries(store: Store) -> tuple[Entry, ...]:
    """All publishing runs of all graphs, oldest first."""
    columns = [LedgerRow.__table__.columns[name] for name in COLUMNS]
    with store.read() as connection:
        rows = connection.execute(sa.select(*columns).order_by(LedgerRow.made, LedgerRow.run))
        return tuple(Entry(*row) for row in rows)


def find_relative(store: Store, graph: Graph) -> Relative | None:
    """Lineage that a graph new to the ledger would join; None without one."""
    with store.read() as connection:
        rows = [] if _find_own(connection, graph) else _list_lineages(connection)
        matches = _match(rows, _describe_sketch(graph)) if rows else []
        if not matches:
            return None
        lineage, part, overlap = matches[0]
        runs = len(_select(connection, [match[0] for match in matches]))
        return Relative(lineage, part, overlap, runs)


def describe_revision(store: Store) -> tuple[Any, ...]:
    """Value that changes whenever `list_entries` may, whatever the clock says."""
    lineages = sa.select(LineageRow.identity, LineageRow.lineage).order_by(LineageRow.identity)
    with store.read() as connection:
        runs = connection.scalar(sa.select(sa.func.count()).select_from(LedgerRow))
        return runs, *map(tuple, connection.execute(lineages))


def enter_release(
    store: Store,
    graph: Graph,
    run: str,
    made: str,
    release: Release,
    budget: Budget | None,
    person: str = LOCAL.subject,
    signed_by: str = LOCAL.subject,
    lineage: str | None = None,
    audit_id: str = "",
) -> tuple[Total, ...]:
    """Enter a publishing run of `graph`; returns the totals of its lineage including it.

    Idempotent per run. Raises InputError if a total would exceed `budget`; the run is not entered
    then and must not be handed out. Concurrent runs are serialised.
    person, signed_by  who prepared it and who signed it ("": nobody yet)
    lineage            name for the graph's lineage; joins an existing one of that name
    audit_id           as in `Entry`
    """
    new = Entry.of(run, made, _name(release), release.guarantee, audit_id)
    who = {"identity": graph.identity_hash, "person": person, "signed_by": signed_by}
    sketch = _describe_sketch(graph)

    def enter() -> tuple[Total, ...]:
        with store.write(is_durable=True) as connection:
            if connection.dialect.name == "postgresql":
                connection.execute(sa.text("LOCK TABLE ledger, lineages IN EXCLUSIVE MODE"))
            known = _select(connection, [_join_lineage(connection, graph, sketch, lineage)])
            if any(entry.run == run for entry in known):
                return compute_totals(known)
            if budget is not None:
                check_budget(known, new, budget, graph.num_nodes)
            connection.execute(sa.insert(LedgerRow).values({**asdict(new), **who}))
        return compute_totals([*known, new])

    return keep_trying(enter, store.notify)


def assign_lineage(store: Store, graph: Graph, lineage: str, person: str, reason: str) -> None:
    """Count the runs of a graph with those of `lineage` only; for approvers."""
    if not 1 <= len(reason.strip()) <= MAX_REASON:
        rule = f"must be 1 to {MAX_REASON:,} characters"
        raise InputError("reason", rule, reason[:20], "say why the graphs count apart")
    values = {
        "lineage": _check_name(lineage),
        "made": make_timestamp(),
        "person": person,
        "reason": reason,
    }
    row = {"identity": graph.identity_hash, "sketch": _describe_sketch(graph)}
    known = LineageRow.identity == graph.identity_hash

    def assign() -> None:
        with store.write(is_durable=True) as connection:
            if not connection.execute(sa.update(LineageRow).where(known).values(values)).rowcount:
                connection.execute(sa.insert(LineageRow).values({**row, **values}))

    keep_trying(assign, store.notify)


def describe_ledger(entries: tuple[Entry, ...]) -> dict[str, Any]:
    """Entries and totals as JSON, for `core ledger --json`."""
    return {
        "entries": [asdict(entry) for entry in entries],
        "totals": describe_totals(compute_totals(entries)),
    }


def describe_totals(totals: tuple[Total, ...]) -> list[dict[str, Any]]:
    """Totals as JSON, for provenance."""
    return [asdict(total) for total in totals]


def _join_lineage(
    connection: sa.Connection, graph: Graph, sketch: dict[str, Any], name: str | None
) -> str:
    """The lineage that a graph's runs count with from now on.

    Lineages connected by a graph are merged, so that no entry is lost; those separated by an
    approver only if the owner names them.
    """
    joined = _find_own(connection, graph)
    is_new = not joined
    if is_new:
        rows = _list_lineages(connection)
        found = [match[0] for match in _match(rows, sketch)]
        apart = {row.lineage for row in rows if row.person}
        joined = [name for name in found if name == found[0] or not apart & {name, found[0]}]
    lineage = _check_name(name) if name is not None else next(iter(joined), secrets.token_hex(8))
    merged = sa.update(LineageRow).where(LineageRow.lineage.in_(joined))
    connection.execute(merged.values(lineage=lineage))
    if is_new:
        row = {"identity": graph.identity_hash, "lineage": lineage, "sketch": sketch}
        connection.execute(sa.insert(LineageRow).values({**row, "made": make_timestamp()}))
    return lineage


def _find_lineages(connection: sa.Connection, graph: Graph) -> list[str]:
    """The graph's own lineages, or those that it would join."""
    own = _find_own(connection, graph)
    rows = [] if own else _list_lineages(connection)
    return [match[0] for match in _match(rows, _describe_sketch(graph))] if rows else own


def _find_own(connection: sa.Connection, graph: Graph) -> list[str]:
    """Lineage of a graph known to the ledger, or none."""
    if connection.scalar(sa.select(LineageRow.identity).limit(1)) is None:
        return []  # an empty ledger knows no graph: hashing millions of links tells nothing
    query = sa.select(LineageRow.lineage).where(LineageRow.identity == graph.identity_hash)
    return list(connection.scalars(query))


def _list_lineages(connection: sa.Connection) -> Sequence[sa.Row[Any]]:
    return connection.execute(sa.select(LineageRow.__table__)).all()


def _match(rows: Sequence[sa.Row[Any]], sketch: dict[str, Any]) -> list[tuple[str, Part, float]]:
    """(lineage, part, overlap) of lineages with the same data, largest overlap first."""
    mine = GraphSketch.from_json(sketch)
    found: dict[str, tuple[str, Part, float]] = {}
    for row in rows:
        other = GraphSketch.from_json(row.sketch)
        are_named = sketch["is_named"] and row.sketch["is_named"]
        for part, overlap in mine.estimate_overlaps(other).items():
            if not are_named and part in ("people", "nodes"):
                continue  # numbers name other people in every graph
            is_named = are_named and part in ("people", "pairs", "nodes", "links")
            is_sure = overlap.compared >= (1 if is_named else MIN_ELEMENTS)
            if part == "pairs" and MIN_PAIRS <= overlap.compared < MIN_ELEMENTS:
                is_sure = is_sure or _compute_chance(mine, other, overlap) <= MAX_CHANCE
            best = found[row.lineage][2] if row.lineage in found else MIN_OVERLAP
            if is_sure and overlap.share >= best:
                found[row.lineage] = row.lineage, part, overlap.share
    return sorted(found.values(), key=lambda match: -match[2])


def _compute_chance(mine: GraphSketch, other: GraphSketch, overlap: Overlap) -> float:
    """Probability that so many of the compared links occur in an unrelated graph as dense as the
    larger of the two."""
    from scipy.stats import binom

    large = max(mine, other, key=lambda sketch: sketch.pairs.count)
    nodes = large.people.count
    density = min(1.0, 2 * large.pairs.count / max(nodes * (nodes - 1), 1))
    return float(binom.sf(overlap.share * overlap.compared - 0.5, overlap.compared, density))


def _describe_sketch(graph: Graph) -> dict[str, Any]:
    if isinstance(graph, PartitionedGraph):
        from core.partitioned.sketch import sketch_partitions

        return {"is_named": False, **sketch_partitions(graph).to_json()}
    is_named = not all(normalize_id(node).isdecimal() for node in graph.node_ids)
    return {"is_named": is_named, **sketch_graph(graph).to_json()}


def _check_name(lineage: str) -> str:
    if not 1 <= len(lineage.strip()) <= MAX_NAME:
        raise InputError("lineage", f"must be a name of 1 to {MAX_NAME} characters", lineage)
    return lineage.strip()


def _select(connection: sa.Connection, lineages: Sequence[str]) -> tuple[Entry, ...]:
    columns = [LedgerRow.__table__.columns[name] for name in COLUMNS]
    query = (
        sa.select(*columns)
        .join(LineageRow, LineageRow.identity == LedgerRow.identity)
        .where(LineageRow.lineage.in_(lineages))
        .order_by(LedgerRow.made, LedgerRow.run)
    )
    return tuple(Entry(*row) for row in connection.execute(query))


def _name(release: Release) -> str:
    """Id as in specs: the defense and its changed settings."""
    from core.audit.asked.method_choice import MethodChoice

    try:
        return MethodChoice.model_validate({"key": release.defense, "config": release.config}).id
    except (InputError, ValueError):
        return release.defense
