"""Published columns: as they are, coarsened or withheld, and uniqueness by them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import islice

import numpy as np
import pandas as pd

from core.algorithms.fingerprints import Depth, compute_fingerprints
from core.attacks.identity.column_values import list_rows
from core.audit.asked.publish_spec import PublishSpec
from core.audit.asked.spec import AuditSpec
from core.audit.computing.prepared import list_written, prepare_graph
from core.data.link_release import NONE as NO_LINK_COLUMN
from core.data.link_release import has_weights, is_link_column, list_link_columns
from core.data.release_columns import Rule, leave_out_people
from core.findings.numbers import format_number
from core.graph import Graph
from core.measures.identity import SMALL
from core.methods import EMPIRICAL_GROUP, Defense
from core.words import count_noun, format_percent

RULES = {
    "bin": ("in steps of", "binned"),
    "round": ("digits after the point", "rounded"),
    "cap": ("at most", "capped at the top"),
    "rare": ("people a value needs", "rare values merged"),
    "shared": ("people a value needs", "shared by enough people"),
    "year": ("", "date: the year alone"),
    "month": ("", "date: year and month"),
    "day": ("", "date: the day alone"),
    "digits": ("significant digits", "rounded"),
    "shift": ("", "times of links moved by one unknown amount"),
}
"""Kind of rule → meaning of its number, and its effect, in words."""

WITHHELD = "withheld"
SEEN = "Attackers are taken to see all features too."
"""Where no column is chosen."""

DEPTH_TITLES: dict[Depth | None, str] = {
    None: "the columns alone",
    "degree": "and the number of links",
    "degree_triangles": "and the links among the neighbours",
    "neighbor_degrees": "and each neighbour's number of links",
}


def list_choices(graph: Graph) -> tuple[list[str], list[str]]:
    """Columns that may be published, those of links last, and those that are unless others are
    chosen: of links the weights alone. Without further columns of links these are not listed."""
    nodes = list(graph.columns)
    if graph.link_table is None:
        return nodes, nodes
    links = list_link_columns(graph)
    return [*nodes, *links], [*nodes, *(name for name in links if has_weights(graph, name))]


def complete_choice(chosen: Sequence[str], graph: Graph) -> tuple[str, ...]:
    """The choice among `list_choices`, which says so where no column of links leaves."""
    if graph.link_table is None or any(map(is_link_column, chosen)):
        return tuple(chosen)
    return (*chosen, NO_LINK_COLUMN)


def compute_leaving(spec: AuditSpec, graph: Graph) -> tuple[Graph, Graph]:
    """Graphs of the released nodes with all columns as they are, and as published.

    Raises InputError for columns, rules or ids that do not fit the graph.
    """
    before = leave_out_people(graph, spec.disclosure.leave_out)
    after = prepare_graph(spec, graph)
    return before, after.with_columns(list_written(spec, after))


def list_released(spec: AuditSpec | PublishSpec, graph: Graph, defense: Defense) -> list[str]:
    """Columns that the files of a release will hold, whatever their format."""
    after = prepare_graph(spec, graph)
    keeps_links = defense.info.group == EMPIRICAL_GROUP and defense.keeps_nodes
    links = [
        name
        for name in list_link_columns(after)
        if (keeps_links if has_weights(after, name) else defense.keeps_columns)
    ]
    return [*list_written(spec, after, defense), *links]


def write_rule(column: str, kind: str, number: str) -> str:
    """The text COLUMN:RULE of a rule; raises InputError if it is invalid."""
    has_number = bool(RULES[kind][0])
    text = f"{column}:{kind}" + (f"={number.strip()}" if has_number else "")
    Rule.parse(text)
    return text


def describe_rule(text: str) -> str:
    """`bin=10` as "in steps of 10"."""
    rule = Rule.parse(text)
    number = format_number(rule.value) if rule.kind in ("bin", "cap") else f"{rule.value:.0f}"
    return {
        "bin": f"in steps of {number}",
        "round": f"rounded to {count_noun(round(rule.value), 'digit')}",
        "cap": f"capped at {number}",
        "rare": f"values of fewer than {number} people merged",
        "shared": f"shared by at least {number} people",
        "year": "the year alone",
        "month": "year and month",
        "day": "the day alone",
        "digits": f"rounded to {count_noun(round(rule.value), 'significant digit')}",
        "shift": "all moved by one unknown amount",
    }[rule.kind]


def describe_columns(columns: Sequence[str], rules: Sequence[str], limit: int = 12) -> str:
    """Sentence on the published columns. Withheld columns are not named."""
    if not columns:
        return "No column is published with the links."
    coarse: dict[str, list[str]] = {}
    for text in rules:
        coarse.setdefault(Rule.parse(text).column, []).append(describe_rule(text))
    named = sorted(columns, key=lambda name: name not in coarse)  # the coarse ones first
    alike: dict[str, list[str]] = {}
    for name in named[:limit]:
        alike.setdefault(", ".join(coarse.get(name, ())), []).append(name)
    parts = [
        ", ".join(names) + (f" ({'each ' * (len(names) > 1)}{how})" if how else "")
        for how, names in alike.items()
    ]
    more = f" and {len(columns) - limit:,} more" if len(columns) > limit else ""
    return f"Published with the links: {', '.join(parts)}{more}. No other column is."


def tabulate_columns(before: Graph, after: Graph, limit: int = 200) -> pd.DataFrame:
    """column, published, values (distinct), fewest (nodes with the rarest value), example.

    before, after  the same nodes, as they are and as published
    """
    rows = []
    for name in islice(before.columns, limit):
        old_texts, old = _read_texts(before, name)
        is_there = name in after.columns
        new_texts, new = _read_texts(after, name) if is_there else ([], np.zeros(0, int))
        _, first = np.unique(old[: len(new)] * len(new_texts) + new, return_index=True)
        met = [(old_texts[old[i]], new_texts[new[i]]) for i in np.sort(first)]
        changed = [f"{a} → {b}" for a, b in met if a != b and a]
        published = "as it is" if is_there else WITHHELD
        counts = {t: n for t, n in zip(new_texts, np.bincount(new).tolist(), strict=False) if t}
        rows.append(
            {
                "column": name,
                "published": "coarser" if changed else published,
                "values before": sum(map(bool, old_texts)),
                "values": len(counts),
                "fewest people": min(counts.values(), default=0),
                "example": "; ".join(changed[:40])[:60],
            }
        )
    return pd.DataFrame(
        rows, columns=["column", "published", "values before", "values", "fewest people", "example"]
    )


def tabulate_uniqueness(graph: Graph, names: Sequence[str]) -> pd.DataFrame:
    """known, k (smallest group), unique and below 5 (shares of all nodes), by the published columns
    alone and together with structural knowledge.

    Raises InputError for a column that is not published.
    """
    graph.columns.check(names, "quasi-identifier")
    by_columns = list_rows(graph, list(names))
    rows = []
    for depth, title in DEPTH_TITLES.items():
        known = by_columns
        if depth is not None:
            marks = compute_fingerprints(graph, depth)
            known = [row + mark.tobytes() for row, mark in zip(by_columns, marks, strict=True)]
        counts = Counter(known)
        sizes = np.array([counts[row] for row in known], np.int64)
        rows.append(
            {
                "known of a person": title,
                "k": int(sizes.min()) if len(sizes) else 0,
                "unique": float((sizes == 1).mean()) if len(sizes) else 0.0,
                f"in groups below {SMALL}": float((sizes < SMALL).mean()) if len(sizes) else 0.0,
            }
        )
    return pd.DataFrame(rows)


def describe_uniqueness(table: pd.DataFrame, names: Sequence[str]) -> str:
    """Two sentences: k-anonymity and the share of unique nodes, alone and with structure."""
    if not names or table.empty:
        return ""
    alone, last = table.iloc[0], table.iloc[-1]
    return (
        f"By {', '.join(names)} the release is {alone['k']}-anonymous and "
        f"{format_percent(alone['unique'])} of the nodes are unique. Together with the numbers "
        f"of links of their neighbours, {format_percent(last['unique'])} are."
    )


def _read_texts(graph: Graph, name: str) -> tuple[list[str], np.ndarray]:
    """Distinct texts, "" for unknown, and the index of each node's text (n,)."""
    if name in graph.attributes:
        attribute = graph.attributes[name]
        classes = (*attribute.classes, "")
        codes, places = np.unique(attribute.codes, return_inverse=True)
        return [classes[code] for code in codes.tolist()], places
    values, places = np.unique(graph.columns.read_numbers(name), return_inverse=True)
    texts, merged = np.unique([f"{value:g}" for value in values.tolist()], return_inverse=True)
    return texts.tolist(), merged[places]
