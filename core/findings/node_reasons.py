"""Why a person is at risk: each threat is explained by what gives that secret away."""

from __future__ import annotations

import numpy as np

from core.audit.view import AuditView
from core.findings.attackers import compute_headlines
from core.findings.labels import method_title
from core.findings.node_card import describe_node_reasons
from core.findings.numbers import format_number
from core.graph import Graph
from core.release import ORIGINAL

NOTHING_GAINED = 0.02
"""Advantage up to which an attacker is said to learn nothing about a person."""


def explain_node(view: AuditView, node: str, number: int, release: str = ORIGINAL) -> list[str]:
    """Sentences, the threat that costs this person most first.

    number  the node's number in the graph. Links are explained by shared contacts, the private
    column by neighbours' and peers' classes; neither by the other's evidence.
    """
    rows = view.nodes[(view.nodes.node == node) & (view.nodes.release == release)]
    found = compute_headlines(rows).sort_values("advantage", ascending=False, kind="stable")
    sentences: list[str] = []
    for row in found.itertuples():
        if row.advantage <= NOTHING_GAINED:
            secret = "its links" if row.threat in ("link", "included") else "its private value"
            sentences.append(f"Nothing is learned about {secret} beyond the base rate.")
        elif row.threat == "link":
            graphs = (view.load_graph(), view.load_release(release, 0))
            sentences += explain_links(*graphs, number)
        elif row.threat == "attribute":
            sentences += describe_node_reasons(view.profile, node, release)
        else:
            sentences.append(f"{method_title(row.attack)} finds it by its links.")
    return list(dict.fromkeys(sentences))


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


def _list_neighbors(graph: Graph, number: int) -> np.ndarray:
    start, stop = graph.adjacency.indptr[number : number + 2]
    neighbors: np.ndarray = np.unique(graph.adjacency.indices[start:stop])
    return neighbors
