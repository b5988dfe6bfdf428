"""One-line reasons for a node's risk, supported by the attack and its figures.

Screen, card and report use `explain_people`. A reason is given only if the advantage is above
chance including its interval; neighbours are named only if the attack uses links and if more of
them share the value than chance explains.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from core.algorithms.pairs import count_shared_neighbors
from core.audit.asked.attack import Attack
from core.audit.results.node_risks import NodeRisks
from core.audit.results.view import AuditView
from core.findings.identity import BRIEF, find_depth_risks
from core.findings.numbers import format_number
from core.findings.people import Secret, list_secrets
from core.findings.tables import select_release
from core.graph import Graph
from core.measures.intervals import wilson_interval
from core.release import ORIGINAL
from core.words import begin_sentence, format_percent

NOTHING_GAINED = 0.02
"""Advantage up to which an attacker is said to learn nothing about a node."""

CLEAR_EXCESS = 0.1
"""Excess over chance above which role peers are called the reason."""

MIN_NEIGHBORS = 3
"""Fewest neighbours for their values to be evidence."""


def explain_node(view: AuditView, node: str, secret: Secret | None = None) -> list[str]:
    """One sentence per secret of a node on the original, which says of what it speaks, or on one
    secret; largest advantage first."""
    secrets = [secret] if secret is not None else list_secrets(view.nodes)
    number, found = view.nodes.find(node), []
    for each in secrets:
        headline = view.nodes.find_headline(ORIGINAL, each)
        figure = None if headline is None else headline.find(number)
        if figure is not None:
            row = (number, node, round(figure.advantage, 9), figure.gain.low, figure.attack)
            names = ["number", "node", "advantage", "low", "attack"]
            (reason,) = explain_people(view, pd.DataFrame([row], columns=names), each)
            of = f"{begin_sentence(each.attack)}: " if secret is None else ""
            found.append((-figure.advantage, f"{of}{reason}."))
    return [text for _, text in sorted(found, key=lambda item: item[0])]


def explain_people(
    view: AuditView, people: pd.DataFrame, secret: Secret, release: str = ORIGINAL
) -> list[str]:
    """One line per row of `rank_people`: the reason for the risk on this secret."""
    lines = [_explain_chance(row) for row in people.itertuples()]
    is_clear = np.array([not line for line in lines], bool)
    if is_clear.any():  # reasons read the graph, which a table without any need not load
        reasons = iter(_explain_gains(view, people[is_clear], secret, release))
        lines = [line or next(reasons) for line in lines]
    return lines


def _explain_gains(
    view: AuditView, people: pd.DataFrame, secret: Secret, release: str
) -> list[str]:
    """The reasons of advantages above chance."""
    if secret.threat == "link":
        reasons = _explain_links(view, people, release)
    elif secret.threat == "identity":
        reasons = _explain_uniqueness(view.nodes, people, release)
    elif secret.threat == "attribute":
        reasons = _explain_values(view, people, secret.target, release)
    else:
        reasons = [f"{attack.name} tells its real links" for attack in people.attack]
    return reasons


def compare_contacts(original: Graph, release: Graph, nodes: np.ndarray) -> pd.DataFrame:
    """links, withheld, ends, others of each of `nodes` (k,), numbers in `original`.

    withheld  number of its `links` that the release lacks
    ends      mean number of common neighbours with the other ends of those in the release
    others    the same with all nodes it is not linked to; NaN if there are none
    """
    num_nodes = original.num_nodes
    is_asked = np.zeros(num_nodes, bool)
    is_asked[nodes] = True
    edges = original.edges[is_asked[original.edges].any(axis=1)]
    gone = ~release.contains_pairs(edges)
    shared = count_shared_neighbors(release, edges)
    links = np.bincount(edges.ravel(), minlength=num_nodes)[nodes]
    withheld = np.bincount(edges[gone].ravel(), minlength=num_nodes)[nodes]
    ends = np.bincount(edges[gone].ravel(), np.repeat(shared[gone], 2), num_nodes)[nodes]
    # Walks of two steps end at strangers, at one's links, or where they began.
    a, b = release.edges.T
    walks = np.bincount(a, release.degrees[b], num_nodes) + np.bincount(
        b, release.degrees[a], num_nodes
    )
    linked = np.bincount(edges.ravel(), np.repeat(shared, 2), num_nodes)[nodes]
    strangers = num_nodes - 1 - links
    with np.errstate(invalid="ignore", divide="ignore"):
        return pd.DataFrame(
            {
                "links": links,
                "withheld": withheld,
                "ends": ends / withheld,
                "others": ((walks - release.degrees)[nodes] - linked) / strangers,
            }
        )


def count_same_neighbors(graph: Graph, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(n,) neighbours with the node's own value, and (n,) neighbours with a known value; both 0
    for a node without a value."""
    a, b = graph.edges.T
    known = (codes[a] >= 0) & (codes[b] >= 0)
    ends = np.concatenate([a[known], b[known]])
    same = np.tile(codes[a[known]] == codes[b[known]], 2)
    return (
        np.bincount(ends[same], minlength=graph.num_nodes),
        np.bincount(ends, minlength=graph.num_nodes),
    )


def _explain_chance(row: Any) -> str:
    """Statement that nothing needs explaining; "" if the advantage is above chance."""
    if row.advantage <= NOTHING_GAINED:
        return "Nothing is learned beyond the base rate"
    if pd.isna(row.low):
        return "Not clearly above chance: tested in one split"
    return "" if row.low > 0 else "Not clearly above chance"


def _explain_links(view: AuditView, people: pd.DataFrame, release: str) -> list[str]:
    """Common neighbours, for attacks that use them and if they exceed those of unlinked pairs."""
    original = view.load_graph()
    nodes = original.find_nodes(people.node)
    table = compare_contacts(original, view.load_release(release, 0), nodes)
    lines = []
    rows = table.itertuples(index=False)
    for attack, row in zip(people.attack, rows, strict=True):
        title = attack.name
        # Whether the attack ranks pairs without a common neighbour last.
        is_local = getattr(attack.method, "is_local", False)
        if not row.withheld > 0:
            lines.append(f"By {title}; withheld in other splits")
        elif row.ends > row.others and is_local:
            lines.append(
                f"Common neighbours: {_format_mean(row.ends)} at withheld links, "
                f"else {_format_mean(row.others)}"
            )
        else:
            lines.append(f"By {title}")
    return lines


def _format_mean(count: float) -> str:
    """A mean number of neighbours: one decimal from 1 to 10."""
    return f"{count:.1f}" if 1 <= count < 9.95 else format_number(count)


def _explain_values(view: AuditView, people: pd.DataFrame, target: str, release: str) -> list[str]:
    """Neighbours or role peers, whichever is further above chance and significant."""
    column = target or view.spec.threats.private
    if column is None:
        return [f"By {attack.name}" for attack in people.attack]
    graph = view.load_graph().with_private(column)
    attribute = graph.column(column)
    same, known = count_same_neighbors(view.load_release(release, 0), attribute.codes)
    places = graph.find_nodes(people.node)
    shares = np.where(attribute.codes >= 0, attribute.shares[attribute.codes], np.nan)
    rows = pd.DataFrame(
        {"same": same[places], "known": known[places], "share": shares[places], "role": np.nan}
    )
    if not target and len(view.profile):
        profile = select_release(view.profile, release)
        profile = profile[profile.node.isin(people.node)].set_index("node")
        rows["role"] = profile.ghratio_role.reindex(people.node).to_numpy(float)
    return [
        _format_mechanism(attack, row)
        for attack, row in zip(people.attack, rows.itertuples(index=False), strict=True)
    ]


def _format_mechanism(attack: Attack, row: Any) -> str:
    """row: same, known (neighbours), share (of all nodes), role (share of role peers)."""
    title = attack.name
    if not getattr(attack.method, "reads_links", True):
        return f"{title} reads it from published columns"
    if pd.isna(row.share):
        return f"By {title}"
    everybody = f"{format_percent(row.share)} of all"
    near = row.same / row.known if row.known else np.nan
    is_near = row.known >= MIN_NEIGHBORS and wilson_interval(row.same, row.known)[0] > row.share
    is_role = row.role - row.share > CLEAR_EXCESS
    if is_near and not (is_role and row.role > near):
        return f"{row.same:.0f} of {row.known:.0f} neighbours share its value, {everybody}"
    if is_role:
        return f"{format_percent(row.role)} of role peers share its value, {everybody}"
    return f"{title} sees beyond its neighbours"


def _explain_uniqueness(nodes: NodeRisks, people: pd.DataFrame, release: str) -> list[str]:
    """The least background knowledge that identifies a node."""
    risks = find_depth_risks(nodes, release, people.number.to_numpy())
    lines = []
    for place, attack in enumerate(people.attack):
        found = risks.iloc[place].dropna()
        if found.empty or found.max() <= 0:
            lines.append(f"Found by {attack.name}")
            continue
        depth, risk = str(found.idxmax()), float(found.max())
        known = BRIEF[depth]
        lines.append(
            f"Unique by {known}" if risk >= 1 else f"One of {round(1 / risk):,} by {known}"
        )
    return lines
