"""Why a person is at risk: each threat is explained by what gives that secret away."""

from __future__ import annotations

import numpy as np
import pandas as pd

from core.audit.view import AuditView
from core.findings.attackers import compute_headlines
from core.findings.contacts import compare_contacts, count_same_neighbors
from core.findings.identity import KNOWN, find_depth_risks
from core.findings.labels import method_title
from core.findings.node_card import describe_node_reasons
from core.findings.numbers import format_number, format_percent
from core.findings.people import Secret, select_secret
from core.graph import Graph
from core.release import ORIGINAL

NOTHING_GAINED = 0.02
"""Advantage up to which an attacker is said to learn nothing about a person."""

CLEAR_EXCESS = 0.1
"""By how much neighbours or peers must exceed chance to be called the reason."""

_LOST = {
    "link": "its links",
    "included": "its links",
    "attribute": "its private value",
    "identity": "who it is",
}


def explain_node(
    view: AuditView,
    node: str,
    number: int,
    release: str = ORIGINAL,
    secret: Secret | None = None,
) -> list[str]:
    """Sentences, the threat that costs this person most first; of one secret only, if given.

    number  the node's number in the graph. Links are explained by shared contacts, a private
    column by neighbours' and peers' classes; neither by the other's evidence.
    """
    rows = view.nodes[(view.nodes.node == node) & (view.nodes.release == release)]
    if secret is not None:
        rows = select_secret(rows, secret)
    found = compute_headlines(rows).sort_values("advantage", ascending=False, kind="stable")
    sentences: list[str] = []
    for row in found.itertuples():
        if row.advantage <= NOTHING_GAINED:
            lost = _LOST.get(str(row.threat), "it")
            sentences.append(f"Nothing is learned about {lost} beyond the base rate.")
        elif row.threat == "link":
            graphs = (view.load_graph(), view.load_release(release, 0))
            sentences += explain_links(*graphs, number)
        elif row.threat == "attribute" and row.target:
            people = pd.DataFrame({"node": [node], "attack": [row.attack]})
            sentences += [f"{r}." for r in _explain_column(view, people, str(row.target))]
        elif row.threat == "attribute":
            sentences += describe_node_reasons(view.profile, node, release)
        else:
            sentences.append(f"{method_title(row.attack)} finds it by its links.")
    return list(dict.fromkeys(sentences))


def explain_people(
    view: AuditView, people: pd.DataFrame, secret: Secret, release: str = ORIGINAL
) -> list[str]:
    """One line for each row of `rank_people`: what gives this secret of this person away."""
    if secret.threat == "link":
        reasons = _explain_withheld(view, people, release)
    elif secret.threat == "identity":
        reasons = _explain_uniqueness(view.nodes, people, release)
    elif secret.threat == "attribute" and secret.target:
        reasons = _explain_column(view, people, secret.target)
    elif secret.threat == "attribute":
        reasons = _explain_classes(view.profile, people, release)
    else:
        reasons = [f"{method_title(attack)} tells its real links" for attack in people.attack]
    nothing = people.advantage <= NOTHING_GAINED
    return [
        "Nothing is learned beyond the base rate" if none else reason
        for none, reason in zip(nothing, reasons, strict=True)
    ]


def explain_links(original: Graph, release: Graph, number: int) -> list[str]:
    """What the release still tells of the links that it lacks: contacts that both ends share."""
    held, shown = (_list_neighbors(graph, number) for graph in (original, release))
    withheld = np.setdiff1d(held, shown)
    if not len(withheld):
        return ["None of its links was withheld in the first repeat."]
    adjacency = release.adjacency
    mine = np.zeros(release.num_nodes)
    mine[shown] = 1.0
    shared = np.asarray((adjacency != 0).astype(float) @ mine).ravel()
    strangers = np.setdiff1d(np.arange(original.num_nodes), np.append(held, number))
    ends = float(shared[withheld].mean())
    others = float(shared[strangers].mean()) if len(strangers) else 0.0
    text = (
        f"{len(withheld)} of its {len(held)} links were withheld in the first repeat; the other "
        f"ends share {format_number(ends)} contacts with it on average, people it is not linked "
        f"to {format_number(others)}"
    )
    return [f"{text}: {'shared contacts give links away' if ends > others else 'that hides them'}."]


def _explain_withheld(view: AuditView, people: pd.DataFrame, release: str) -> list[str]:
    table = compare_contacts(view.load_graph(), view.load_release(release, 0))
    table.index = pd.Index(view.load_graph().node_ids)
    lines = []
    for attack, row in zip(
        people.attack, table.reindex(people.node).itertuples(index=False), strict=True
    ):
        if not row.withheld > 0:
            lines.append(f"Links withheld in other repeats only; by {method_title(attack)}")
            continue
        lines.append(
            f"{row.withheld:.0f} of {row.links:.0f} links withheld; their other ends share "
            f"{format_number(row.ends)} contacts with it, strangers {format_number(row.others)}"
        )
    return lines


def _explain_classes(profile: pd.DataFrame, people: pd.DataFrame, release: str) -> list[str]:
    """By the mechanism that lies further above chance; says so where neither is above it."""
    rows = profile[profile.release == release].set_index("node").reindex(people.node)
    return [
        _name_mechanism(near, role, share, attack)
        for near, role, share, attack in zip(
            rows.ghratio_proximity, rows.ghratio_role, rows.class_share, people.attack, strict=True
        )
    ]


def _explain_column(view: AuditView, people: pd.DataFrame, column: str) -> list[str]:
    """The same for a further private column, of which there is no profile."""
    graph = view.load_graph().with_private(column)
    attribute = graph.attribute(column)
    ratio = pd.Series(count_same_neighbors(graph, attribute.codes), list(graph.node_ids))
    shares = pd.Series(
        np.where(attribute.codes >= 0, attribute.shares[attribute.codes], np.nan),
        list(graph.node_ids),
    )
    return [
        _name_mechanism(ratio[node], np.nan, shares[node], attack)
        for node, attack in zip(people.node, people.attack, strict=True)
    ]


def _name_mechanism(near: float, role: float, share: float, attack: str) -> str:
    title = method_title(attack)
    if share != share:
        return f"By {title}"
    excess = np.nan_to_num([near - share, role - share], nan=-1.0)
    if excess.max() <= CLEAR_EXCESS:
        neighbors = ""
        if near == near:
            neighbors = f"{format_percent(near)} of its neighbours share its value, "
        return f"{neighbors}{format_percent(share)} of all do: {title} sees more than that"
    if excess[0] >= excess[1]:
        who, value = "its neighbours", near
    else:
        who, value = "people with about as many links", role
    return f"{format_percent(value)} of {who} share its value, {format_percent(share)} of all do"


def _explain_uniqueness(nodes: pd.DataFrame, people: pd.DataFrame, release: str) -> list[str]:
    """The least that has to be known of a person to find it."""
    rows = nodes[(nodes.release == release) & nodes.node.isin(people.node)]
    risks = find_depth_risks(rows)
    lines = []
    for node, attack in zip(people.node, people.attack, strict=True):
        found = risks.loc[node].dropna() if node in risks.index else pd.Series(dtype=float)
        telling = found[found >= 1]
        if len(telling):
            lines.append(f"Unique by {KNOWN[str(telling.index[0])].format(links='its links')}")
        elif len(found) and found.max() > 0:
            known = KNOWN[str(found.idxmax())].format(links="its links")
            lines.append(f"One of {round(1 / found.max()):,} by {known}")
        else:
            lines.append(f"Found by {method_title(attack)}")
    return lines


def _list_neighbors(graph: Graph, number: int) -> np.ndarray:
    start, stop = graph.adjacency.indptr[number : number + 2]
    neighbors: np.ndarray = np.unique(graph.adjacency.indices[start:stop])
    return neighbors
