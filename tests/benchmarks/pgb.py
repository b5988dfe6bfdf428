"""Results of `core benchmark pgb` beside the figures that PGB publishes.

    python -m core benchmark pgb --graphs Facebook.txt --epsilon 0.1,1,10 --repeats 10 --out pgb/
    python -m tests.benchmarks.pgb pgb/results.csv [pgb_results.csv]

The second file holds PGB's figures (Liu et al., 2024), as read from its plots: dataset, query,
method, epsilon, value. By default it is `anchors/pgb_results.csv` beside AUDIT_DATA. Graphs are
matched by name: files are to be called as PGB's. A row a graph, method and query, with PGB's mean
and ours for each ε; then, by graph and method, in how many of them ours is at most PGB's error
(NMI: at least) · at most half of it · more than twice it · more than ten times it.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pandas as pd

from tests.benchmarks.finite import print_finite

GRAPHS = {"p2p-Gnutella25": "p2p-Gnutella", "econ-poli-large-no-weights": "econ-poli-large"}
"""PGB's file → its name in the figures, where they differ."""

METHODS = {
    "tmf": "TmF",
    "dp_1k": "DP-1K",
    "dgg": "DGG",
    "priv_graph": "PrivGraph",
    "priv_skg": "PrivSKG",
    "priv_hrg": "PrivHRG",
}

QUERIES = {
    "nodes_RE": "mre_num_nodes",
    "edges_RE": "mre_num_links",
    "triangles_RE": "mre_triangle_count",
    "avg_degree_RE": "mre_mean_degree",
    "degree_var_RE": "mre_degree_variance",
    "degree_dist_KL": "degree_kl",
    "diameter_RE": "mre_longest_distance",
    "avg_path_RE": "mre_mean_distance",
    "distance_dist_KL": "distance_kl",
    "GCC_RE": "mre_global_clustering",
    "ACC_RE": "mre_average_clustering",
    "CD_NMI": "community_nmi",
    "modularity_RE": "mre_modularity",
    "assortativity_RE": "mre_assortativity",
    "EVC_MAE": "eigenvector_mae",
}
"""Query of the figures → measure of `core.measures.queries` or `structure`."""


def join(ours: pd.DataFrame, theirs: pd.DataFrame) -> pd.DataFrame:
    """A row a graph, query, method and ε that both have: `pgb`, `value`, `low`, `high`."""
    metrics = {metric: query for query, metric in QUERIES.items()}
    ours = ours[ours.metric.isin(metrics) & ours.value.notna()]
    ours = ours.assign(
        dataset=ours.graph.replace(GRAPHS),
        query=ours.metric.map(metrics),
        method=ours.defense.map(METHODS),
    )
    keys = ["dataset", "query", "method", "epsilon"]
    left = theirs.rename(columns={"value": "pgb"})[[*keys, "pgb"]]
    return left.merge(ours[[*keys, "value", "low", "high", "seeds"]], on=keys)


def is_better(table: pd.DataFrame, factor: float = 1.0) -> pd.Series:
    """Bool a row: whether ours is at most PGB's error over `factor`; NMI: at least that often."""
    is_nmi = table["query"] == "CD_NMI"
    lower = table.value <= table.pgb / factor
    return lower.where(~is_nmi, table.value >= table.pgb * factor)


def is_worse(table: pd.DataFrame, factor: float) -> pd.Series:
    """Bool a row: whether ours is beyond PGB's error by the factor."""
    is_nmi = table["query"] == "CD_NMI"
    higher = table.value > table.pgb * factor
    return higher.where(~is_nmi, table.value < table.pgb / factor)


def format_table(table: pd.DataFrame) -> str:
    """Markdown: a row a graph, method and query, "PGB → ours" in a column an ε."""
    cells = table.assign(text=[f"{row.pgb:.2g} → {row.value:.2g}" for row in table.itertuples()])
    order = list(QUERIES)
    wide = cells.pivot_table(["text"], ["dataset", "method", "query"], "epsilon", "first")["text"]
    wide = wide.sort_index(key=lambda i: i.map(order.index) if i.name == "query" else i)
    budgets = [f"ε = {epsilon:g}" for epsilon in wide.columns]
    lines = [
        f"| graph, method | query | {' | '.join(budgets)} |",
        "|---" * (2 + len(budgets)) + "|",
    ]
    for (dataset, method, query), row in zip(wide.index, wide.to_numpy(), strict=True):
        shown = " | ".join("–" if pd.isna(text) else str(text) for text in row)
        lines.append(f"| {dataset}, {method} | {query} | {shown} |")
    return "\n".join(lines)


def format_counts(table: pd.DataFrame) -> str:
    """Markdown: a row a graph, a column a method, and either's sums."""
    found = table.assign(
        at_most=is_better(table),
        half=is_better(table, 2.0),
        twice=is_worse(table, 2.0),
        ten=is_worse(table, 10.0),
    )
    methods = [name for name in METHODS.values() if name in set(table.method)]
    lines = [f"| graph | {' | '.join(methods)} | all |", "|---" * (2 + len(methods)) + "|"]
    for dataset in [*dict.fromkeys(table.dataset), "all"]:
        part = found if dataset == "all" else found[found.dataset == dataset]
        parts = [*(part[part.method == method] for method in methods), part]
        sums = (p[["at_most", "half", "twice", "ten"]].sum() for p in parts)
        lines.append(f"| {dataset} | " + " | ".join(" · ".join(map(str, s)) for s in sums) + " |")
    return "\n".join(lines)


def find_anchors() -> Path | None:
    """The file of PGB's figures beside AUDIT_DATA, if it is there."""
    root = os.environ.get("AUDIT_DATA")
    path = Path(root).parent / "anchors" / "pgb_results.csv" if root else None
    return path if path is not None and path.is_file() else None


def main() -> None:
    """Print the table."""
    anchors = Path(sys.argv[2]) if len(sys.argv) > 2 else find_anchors()
    if anchors is None:
        sys.exit("PGB's figures are not here: name their file, or set AUDIT_DATA beside anchors/")
    ours, theirs = pd.read_csv(sys.argv[1]), pd.read_csv(anchors)
    table = join(ours, theirs)
    absent = sorted(set(ours.graph.replace(GRAPHS)) - set(theirs.dataset))
    if absent:
        print(f"No figures of PGB for {', '.join(absent)}.")
    print(format_table(table))
    print(f"\n{len(table)} figures:\n\n{format_counts(table)}")


if __name__ == "__main__":
    print_finite(main)
