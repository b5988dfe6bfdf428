"""Guarantees that several mechanisms share, in one wording."""

from __future__ import annotations

from core.release import Guarantee

EDGE_RELATION = "graphs on the same node set that differ in one undirected link"
NODE_RELATION = "graphs on the same node set in which one node has any other links"
NOT_COVERED = (
    "node set",
    "node features",
    "labels and other attributes",
    "links withheld from the release",
)


def make_edge_guarantee(
    epsilon: float,
    accountant: str = "single mechanism",
    delta: float = 0.0,
    epsilon_naive: float | None = None,
    note: str = "",
) -> Guarantee:
    """(ε, δ)-edge DP under a trusted curator."""
    return Guarantee(
        unit="edge",
        relation=EDGE_RELATION,
        epsilon=epsilon,
        delta=delta,
        accountant=accountant,
        trust="central",
        epsilon_naive=epsilon_naive,
        not_covered=NOT_COVERED,
        note=note,
    )


def make_node_guarantee(
    epsilon: float,
    accountant: str,
    delta: float = 0.0,
    epsilon_naive: float | None = None,
    note: str = "",
) -> Guarantee:
    """(ε, δ)-node DP, bounded: the node set is public, all links of one node may differ."""
    return Guarantee(
        unit="node",
        relation=NODE_RELATION,
        epsilon=epsilon,
        delta=delta,
        accountant=accountant,
        trust="central",
        epsilon_naive=epsilon_naive,
        not_covered=NOT_COVERED,
        note=note,
    )


def describe_data_use(data_free: bool, is_count_public: bool, otherwise: str = "") -> str:
    """Note on a synthesis: what of the data it used, where it is a twin or was told the number
    of links; `otherwise` is what its own releases say."""
    used = otherwise
    if data_free:
        used = (
            "No data was used."
            if is_count_public
            else "Of the data, only the number of links was used."
        )
    public = "The number of links was given as public." if is_count_public else ""
    return f"{used} {public}".strip()
