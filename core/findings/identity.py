"""Re-identification risk of one node: the size of its anonymity set on each release."""

from __future__ import annotations

import numpy as np
import pandas as pd

from core.algorithms.fingerprints import DEPTHS
from core.audit.results.node_risks import NodeRisks
from core.release import ORIGINAL
from core.words import format_percent

KNOWN = {
    "degree": "{links}",
    "degree_triangles": "{links} and the links among the neighbours",
    "neighbor_degrees": "{links} and each neighbour's number of links",
    "ego": "{links} and who of the neighbours are linked",
    "colour_refinement": "{links} and the whole network round it",
}
"""Background knowledge at each depth, in words."""

BRIEF = {
    "degree": "its links",
    "degree_triangles": "the links among its neighbours",
    "neighbor_degrees": "its neighbours' numbers of links",
    "ego": "which neighbours are linked",
    "colour_refinement": "the whole network round it",
}
"""The same in a row of a table: each depth includes the node's own links."""

MAX_RELEASES = 4


def describe_identity(nodes: NodeRisks, node: str, num_links: int) -> list[str]:
    """Sentences on the node's anonymity set on the original and on the releases.

    Empty if re-identification was not audited or the node is not at stake.
    """
    known, others = _find_telling(nodes, node)
    links = f"these {num_links} links" if num_links != 1 else "this one link"
    sentences = [
        f"{_count_alike(risk)} with {KNOWN[str(depth)].format(links=links)}."
        for depth, risk in known.items()
    ]
    if others is None:
        return sentences
    sentences[-1] = f"{sentences[-1][:-1]}: this knowledge identifies the person."
    hidden = others[others < 1]
    if len(others) and hidden.empty:
        sentences.append("It is just as unique on every other release.")
    parts = [f"{nodes.titles[str(r)]} ({_shorten(risk)})" for r, risk in hidden.items()]
    if parts:
        more = f" and {len(parts) - MAX_RELEASES} more" if len(parts) > MAX_RELEASES else ""
        sentences.append(f"Not unique by this on: {', '.join(parts[:MAX_RELEASES])}{more}.")
    return sentences


def list_hiding(nodes: NodeRisks, node: str) -> list[str]:
    """Releases on which a node that is unique on the original is not, the best one first."""
    _, others = _find_telling(nodes, node)
    return [] if others is None else [str(release) for release in others[others < 1].index]


def _find_telling(nodes: NodeRisks, node: str) -> tuple[pd.Series, pd.Series | None]:
    """The node's risks on the original up to the depth at which it is unique, and on each other
    release at that depth, lowest first; None if it is never unique."""
    number = np.array([nodes.find(node)])
    known = find_depth_risks(nodes, ORIGINAL, number).iloc[0].dropna()
    telling = known.index[known >= 1]
    if telling.empty:
        return known, None
    others = {
        release: find_depth_risks(nodes, release, number).get(telling[0])
        for release in nodes.releases
        if release != ORIGINAL
    }
    risks = pd.Series({r: np.nan if one is None else one.iloc[0] for r, one in others.items()})
    return known.loc[: telling[0]], risks.astype(float).dropna().sort_values(kind="stable")


def find_depth_risks(nodes: NodeRisks, release: str, numbers: np.ndarray) -> pd.DataFrame:
    """Re-identification probability with exact knowledge of nodes with these positions (k,): one
    row for each, one column per depth of what is known; NaN for nodes not at stake."""
    parts = {
        attack.scenario.method: part
        for (where, attack), part in nodes.parts.items()
        if where == release and attack.threat == "identity" and attack.scenario is not None
    }
    table = pd.DataFrame(index=range(len(numbers)))
    for depth in DEPTHS:
        if depth in parts:
            rows = parts[depth].find(numbers)
            table[depth] = np.where(rows < 0, np.nan, parts[depth].risk[rows])
    return table


def _count_alike(risk: float) -> str:
    """How many nodes are like one that is found with this probability."""
    alike = round(1 / risk) if risk > 0 else 0
    return {0: "Not found", 1: "The only one"}.get(alike, f"One of {alike:,}")


def _shorten(risk: float) -> str:
    """ "one of k" for a mean over repeats, or not found if the knowledge no longer matches."""
    if risk <= 0:
        return "no longer matches this knowledge"
    return f"found in {format_percent(risk)} of tries"
