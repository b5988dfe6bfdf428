"""One person among those who look the same: on the original, and on each release."""

from __future__ import annotations

import pandas as pd

from core.algorithms.fingerprints import DEPTHS
from core.audit.scenarios import Scenario
from core.audit.view import spell
from core.findings.labels import attack_threat, release_title
from core.findings.numbers import format_percent
from core.release import ORIGINAL

KNOWN = {
    "degree": "{links}",
    "degree_triangles": "{links} and the links among the neighbours",
    "neighbor_degrees": "{links} and each neighbour's number of links",
    "ego": "{links} and who of the neighbours are linked",
    "colour_refinement": "{links} and the whole network round it",
}
"""What is known of a person at each depth, in words."""

MAX_RELEASES = 4


def describe_identity(nodes: pd.DataFrame, node: str, num_links: int) -> list[str]:
    """Sentences: one of how many the person is by what is known, and where it is unique no more.

    nodes  `AuditView.nodes`. Empty where identity was not audited or the person has no links.
    """
    known, others = _find_telling(nodes, node)
    links = f"these {num_links} links" if num_links != 1 else "this one link"
    sentences = [
        f"{f'One of {round(1 / risk):,}' if risk > 0 else 'No longer to be found'} with "
        f"{KNOWN[str(depth)].format(links=links)}."
        for depth, risk in known.items()
    ]
    if others is None:
        return sentences
    sentences[-1] = f"{sentences[-1][:-1]}: whoever knows them has found this person."
    hidden = others[others < 1]
    if len(others) and hidden.empty:
        sentences.append("It is just as unique on every other release.")
    parts = [f"{release_title(str(r))} ({_shorten(risk)})" for r, risk in hidden.items()]
    if parts:
        more = f" and {len(parts) - MAX_RELEASES} more" if len(parts) > MAX_RELEASES else ""
        sentences.append(f"Not unique by this on: {', '.join(parts[:MAX_RELEASES])}{more}.")
    return sentences


def list_hiding(nodes: pd.DataFrame, node: str) -> list[str]:
    """The releases on which a person who is unique on the original is so no more, by what gives
    the person away there; the one that hides best first."""
    _, others = _find_telling(nodes, node)
    return [] if others is None else [str(release) for release in others[others < 1].index]


def _find_telling(nodes: pd.DataFrame, node: str) -> tuple[pd.Series, pd.Series | None]:
    """The person's risks on the original up to the depth by which it is unique, and those by that
    depth on each other release, the lowest first; None where it never is."""
    risks = find_depth_risks(nodes[nodes.node == node], "release").T
    if risks.empty or ORIGINAL not in risks.columns:
        return pd.Series(dtype=float), None
    known = risks[ORIGINAL].dropna()
    telling = known.index[known >= 1]
    if telling.empty:
        return known, None
    others = risks.loc[telling[0]].drop(ORIGINAL).dropna()
    return known.loc[: telling[0]], others.sort_values(kind="stable")


def find_depth_risks(nodes: pd.DataFrame, across: str = "node") -> pd.DataFrame:
    """Mean chance of being found by exact knowledge; a column a depth, the least known first.

    across  "node" or "release": what the rows are
    """
    rows = nodes[nodes.risk.notna()]
    keys = {
        attack: Scenario.parse(attack).method
        for attack in rows.attack.unique()
        if attack_threat(attack) == "identity"
    }
    rows = spell(rows[rows.attack.isin(list(keys))])
    rows = rows.assign(depth=rows.attack.map(keys))
    rows = rows[rows.depth.isin(DEPTHS)]
    if rows.empty:
        return pd.DataFrame()
    wide = rows.pivot_table("risk", across, "depth", sort=False)
    return wide[[depth for depth in DEPTHS if depth in wide.columns]]


def _shorten(risk: float) -> str:
    """A mean over repeats: one of so many, or not found by knowledge that no longer fits."""
    if risk <= 0:
        return "what is known fits it no more"
    return f"found in {format_percent(risk)} of tries"
