"""Guarantees that several mechanisms share, in one wording."""

from __future__ import annotations

from core.release import Guarantee

EDGE_RELATION = "graphs on the same node set that differ in one undirected link"
NOT_COVERED = (
    "node set", "node features", "labels and other attributes", "links withheld from the release",
)


def make_edge_guarantee(epsilon: float, accountant: str = "single mechanism") -> Guarantee:
    """Pure ε-edge DP under a trusted curator."""
    return Guarantee(
        unit="edge", relation=EDGE_RELATION, epsilon=epsilon, accountant=accountant,
        trust="central", not_covered=NOT_COVERED,
    )
