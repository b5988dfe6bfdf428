"""Where a release removes and adds links: within each class or community, and between them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
import pandas as pd
from scipy.special import ndtri

from core.findings.people_map import find_changes, match_people
from core.graph import Graph
from core.words import count_noun, format_percent

BETWEEN, UNKNOWN = "between", "unknown"
"""Kinds of links that are in no group: of two groups, and with an end that has none."""

Grouping = Literal["class", "community"]
PLURALS: dict[Grouping, str] = {"class": "classes", "community": "communities"}
LEVEL, LEAST_ADDED = 0.05, 10
COMMUNITIES_LATER = "Communities of so many nodes appear here once the Map is drawn."
TEST = f"two-proportion z test at {LEVEL:g}, Bonferroni over classes and communities"


def count_link_changes(
    before: Graph, after: Graph, codes: np.ndarray, names: Sequence[str]
) -> pd.DataFrame:
    """kind ("within", BETWEEN or UNKNOWN), group, links (of the graph before), removed, added.

    codes  (n,) group of each node of `before`, −1 without one; names: of the groups
    """
    lost, gained = find_changes(before, match_people(before, after))
    count = len(names)

    def tally(edges: np.ndarray) -> np.ndarray:
        first, second = codes[edges].T
        place = np.where(first == second, first, count)
        place = np.where((first < 0) | (second < 0), count + 1, place)
        return np.bincount(place, minlength=count + 2)

    return pd.DataFrame(
        {
            "kind": ["within"] * count + [BETWEEN, UNKNOWN],
            "group": [*names, "", ""],
            "links": tally(before.edges),
            "removed": tally(lost),
            "added": tally(gained),
        }
    )


def format_communities(codes: np.ndarray) -> tuple[str, ...]:
    """Names of communities as the Map has them, by code."""
    return tuple(f"community {code + 1}" for code in range(int(codes.max(initial=-1)) + 1))


def describe_link_changes(tables: Mapping[Grouping, pd.DataFrame], name: str) -> str:
    """What the release of this name removes and adds, by the grouping that tells it apart most
    surely; uneven only where it is beyond noise.

    tables  "class" or "community" → `count_link_changes`
    """
    sums = next(iter(tables.values()))[["links", "removed", "added"]].sum()
    if not sums.removed and not sums.added:
        return f"{name} changes no link."
    scores = {by: _compare_shares(table) for by, table in tables.items()}
    by = max(scores, key=lambda key: abs(scores[key]))
    table, many = tables[by], PLURALS[by]
    within, between = (format_percent(_share(table, kind)) for kind in ("within", BETWEEN))
    text = f"{name} removes {format_percent(sums.removed / max(sums.links, 1))} of the links"
    if not sums.removed:
        text = f"{name} removes no link"
    elif abs(scores[by]) > -ndtri(LEVEL / 2 / len(tables)) and within != between:
        text = f"{name} removes {within} of the links within {many}, {between} between them"
    elif sums.removed < sums.links:
        text += f", evenly over {' and '.join(PLURALS[each] for each in tables)} within noise"
    if not sums.added:
        return f"{text}."
    text += f". It adds {count_noun(int(sums.added), 'link')}"
    if sums.added < LEAST_ADDED:
        return f"{text}."
    rows = table[table.kind == BETWEEN]
    new, old = rows.added.sum() / sums.added, rows.links.sum() / max(sums.links, 1)
    return (
        f"{text}: {format_percent(new)} join two {many}, of the original's {format_percent(old)}."
    )


def _share(table: pd.DataFrame, kind: str) -> float:
    rows = table[table.kind == kind]
    return float(rows.removed.sum() / max(rows.links.sum(), 1))


def _compare_shares(table: pd.DataFrame) -> float:
    """z of the share removed within groups against between; 0 where one of both has no link."""
    rows = table.groupby("kind")[["links", "removed"]].sum()
    sizes = [int(rows.links.get(kind, 0)) for kind in ("within", BETWEEN)]
    removed = [int(rows.removed.get(kind, 0)) for kind in ("within", BETWEEN)]
    share = sum(removed) / max(sum(sizes), 1)
    if not all(sizes) or share in (0.0, 1.0):
        return 0.0
    error = math.sqrt(share * (1 - share) * sum(1 / size for size in sizes))
    return (removed[0] / sizes[0] - removed[1] / sizes[1]) / error
