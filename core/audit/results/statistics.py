"""Publishing runs of statistics instead of a graph, with the same ledger and budget."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from core.audit.results.provenance import describe_draw
from core.audit.store.database import Store
from core.audit.store.ledger import enter_release
from core.context import Context
from core.data.text_input import escape_cell
from core.errors import InputError, validate
from core.graph import Graph
from core.node_column import NodeColumn
from core.privacy.ledger import Budget
from core.privacy.statistics import LEVEL, Row, Statistic, draw_statistics
from core.records import format_record, hash_files
from core.release import Guarantee, Release
from core.seeding import Seed

COLUMNS = ("statistic", "of", "estimate", "low", "high")

KEY = "statistics"
"""Name of such a run in the ledger."""


class StatisticsSpec(BaseModel):
    """Statistics to publish, their budget, and public knowledge."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    statistics: tuple[Statistic, ...] = Field(
        min_length=1,
        description="Publish a table of these instead of a graph: degree_distribution, num_links, "
        "triangles, mixing; each with an interval, with node-level privacy.",
        json_schema_extra={"metavar": "NAME[,…]"},
    )
    epsilon: float = Field(
        1.0,
        gt=0,
        le=100,
        description="Budget of the statistics together; one node is protected.",
        json_schema_extra={"metavar": "EPS"},
    )
    max_degree: int | None = Field(
        None,
        ge=1,
        description="Public bound on the links of one node, such as a platform's limit, which "
        "makes the statistics sharper; never looked up in the graph itself.",
    )
    mixing_column: str | None = Field(
        None,
        description="Public column by whose classes `mixing` counts links.",
        json_schema_extra={"metavar": "COLUMN"},
    )

    @staticmethod
    def check_fields(fields: dict[str, Any]) -> StatisticsSpec:
        """Validated spec of its fields; raises InputError."""
        return validate(StatisticsSpec, fields, lambda path: path.partition(".")[0])

    def find_column(self, graph: Graph, private: Sequence[str] = ()) -> NodeColumn | None:
        """Column that `mixing` needs; raises InputError if missing, unknown or private."""
        if "mixing" not in self.statistics:
            return None
        if self.mixing_column is None:
            public = [name for name in graph.columns.list_choices() if name not in private]
            names = ", ".join(public) or "none"
            rule = "needs a public column"
            raise InputError("mixing", rule, remedy=f"name one (--mixing-column): {names}")
        if self.mixing_column in private:
            rule = "must be public, not a private one"
            raise InputError("mixing column", rule, self.mixing_column)
        return graph.column(self.mixing_column)


def publish_statistics(
    graph: Graph, spec: StatisticsSpec, private: Sequence[str] = ()
) -> tuple[tuple[Row, ...], Guarantee]:
    """Noisy table with operating-system entropy, and its guarantee.

    private  columns that must not be used
    """
    context = Context(Seed.from_entropy(), is_publishing=True)
    column = spec.find_column(graph, private)
    names = tuple(dict.fromkeys(spec.statistics))
    return draw_statistics(graph, names, spec.epsilon, context, spec.max_degree, column)


def enter_statistics(
    store: Store,
    graph: Graph,
    spec: StatisticsSpec,
    guarantee: Guarantee,
    run: str,
    budget: Budget | None = None,
    lineage: str | None = None,
) -> dict[str, Any]:
    """Enter the run in the graph's ledger before the table is handed out; returns its provenance.

    Raises InputError if `budget` would be exceeded.
    """
    made = datetime.now(UTC).isoformat(timespec="seconds")
    release = Release(graph, KEY, spec.model_dump(mode="json"), guarantee)
    totals = enter_release(store, graph, run, made, release, budget, lineage=lineage)
    described = {**asdict(guarantee), "label": guarantee.label}
    return {**describe_draw(made, totals), "config": release.config, "guarantee": described}


def write_statistics(
    rows: Sequence[Row], path: Path, num_nodes: int, provenance: dict[str, Any]
) -> list[Path]:
    """Write the table as CSV to `path`, and with provenance as JSON beside it."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(
            [row.statistic, escape_cell(row.of), row.estimate, row.low, row.high] for row in rows
        )
    record = {
        **provenance,
        "num_nodes": num_nodes,
        "confidence": LEVEL,
        "rows": [asdict(row) for row in rows],
    }
    beside = path.with_suffix(".json")
    text = format_record(record, hash_files(path.parent, [path]), indent=2, sort_keys=True)
    beside.write_text(text, encoding="utf-8")
    return [path, beside]
