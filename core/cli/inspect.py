"""`inspect`: how a file is read: the use of each column, counts, and what was merged."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from core.cli.arguments import add_layout, load_input

if TYPE_CHECKING:
    from core.data.loaded import LoadedGraph


def add_inspect(parser: argparse.ArgumentParser) -> None:
    """Options of `inspect`."""
    parser.add_argument("graph", metavar="FILE", help="a file, a folder or a table of a database")
    add_layout(parser)
    parser.add_argument("--json", action="store_true", help="as JSON")
    parser.set_defaults(run=run_inspect)


def run_inspect(options: argparse.Namespace) -> int:
    """Print how the file is read; remarks and examples of ids go to standard error."""
    from core.data.column_roles import list_columns

    loaded = load_input(options)
    if not loaded.report.columns:  # of the catalogue
        columns = list_columns(loaded.graph)
        loaded = replace(loaded, report=replace(loaded.report, columns=columns))
    found = describe_input(loaded)
    if options.json:
        print(json.dumps(found, indent=2, ensure_ascii=False))
        return 0
    modes = ", ".join(f"{count:,} {name}" for name, count in found["modes"].items())
    print(f"{found['format']}: {found['nodes']:,} nodes, {found['links']:,} links", end="")
    print(f"; two modes: {modes}" if modes else "")
    merged = [f"{count:,} {what.replace('_', ' ')}" for what, count in found["merged"].items()]
    print("merged or dropped: " + ", ".join(merged))
    rows = [(c.table, c.title, c.use, c.kind, c.why) for c in loaded.report.columns]
    rows.insert(0, ("table", "column", "use", "kind", "why"))
    widths = [min(max(len(row[i]) for row in rows), 40) for i in range(4)]
    for row in rows:
        print("  ".join(c.ljust(w) for c, w in zip(row, (*widths, 0), strict=True)).rstrip())
    return 0


def describe_input(loaded: LoadedGraph) -> dict[str, Any]:
    """The reading of a file as JSON, without any id."""
    graph, report = loaded.graph, loaded.report
    return {
        "format": report.format,
        "nodes": graph.num_nodes,
        "links": graph.num_edges,
        "modes": report.modes,
        "weights": report.weights,
        "merged": {
            "self_loops": report.num_self_loops,
            "repeated_rows": report.num_duplicates,
            "reverse_directions": report.num_reciprocal,
            "rows_skipped": report.num_rows_skipped,
        },
        "columns": [asdict(column) for column in report.columns],
    }
