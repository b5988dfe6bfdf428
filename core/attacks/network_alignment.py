"""Network alignment of a pseudonymous release with its original."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from core.attacks.identity.structural_alignment import StructuralAlignment
from core.attacks.identity.supervised_matcher import SupervisedMatcher
from core.context import Context
from core.errors import InputError
from core.graph import Graph
from core.measures.intervals import wilson_interval
from core.methods import IdentityAttack
from core.privacy.guarantees import draw_uniform_graph
from core.progress import PartProgress
from core.release import Release
from core.results import Matches
from core.threats import IdentityThreat
from core.words import format_percent

ATTACKS: tuple[type[IdentityAttack], ...] = (StructuralAlignment, SupervisedMatcher)
"""Attacks that need no seeds."""


@dataclass(frozen=True)
class Alignment:
    """Mapping of a release's nodes to the original's by one attack.

    nodes     (k,) distinct node of the original for each node of the release
    correct   edge correctness: share of the release's links mapped to links of the original; low,
              high: its 95 % interval (Wilson, 1927)
    baseline  the same for as many random links
    """

    attack: str
    nodes: np.ndarray
    correct: float
    low: float
    high: float
    baseline: float

    def describe(self) -> str:
        """Text of the result for the report."""
        shares = (self.correct, self.low, self.high, self.baseline)
        correct, low, high, baseline = map(format_percent, shares)
        text = (
            f"{correct} of the released links (95 % interval {low} to {high}) join people who are "
            f"linked in the original; of random links, {baseline}"
        )
        if self.low <= self.baseline:
            text += ". That is no better than random: the figures say nothing of single people"
        return text


def align_networks(
    original: Graph, release: Graph, context: Context, attacks: Sequence[IdentityAttack] = ()
) -> list[Alignment]:
    """One alignment per attack (`ATTACKS` by default), best first.

    Without ground truth a mapping is scored by the links it explains (edge correctness; Patro and
    Kingsford, Global network alignment using multiscale spectral signatures, Bioinformatics 2012).
    Raises InputError if the release has more nodes, or no links.
    """
    if release.num_nodes > original.num_nodes or not release.num_edges:
        raise InputError(
            "release",
            "must have links, and at most as many nodes as the original, to be found without ids",
            f"{release.num_nodes:,} nodes and {release.num_edges:,} links",
            "name the file of its pseudonyms by --ids map:FILE",
        )
    random = draw_uniform_graph(release, context)
    attacks = attacks or [attack() for attack in ATTACKS]
    progress, alignments = context.progress, []
    for number, attack in enumerate(attacks):
        counts = []
        for index, graph in enumerate((random, release)):
            part = PartProgress(progress, 2 * number + index, 2 * len(attacks))
            inner = replace(context.child(attack.info.key), progress=part)
            nodes = _run_attack(attack, original, graph, inner)
            counts.append(int(original.contains_pairs(nodes[graph.edges]).sum()))
        baseline, correct = (count / release.num_edges for count in counts)
        low, high = wilson_interval(counts[1], release.num_edges)
        alignments.append(Alignment(attack.info.title, nodes, correct, low, high, baseline))
    return sorted(alignments, key=lambda alignment: -alignment.correct)


def _run_attack(
    attack: IdentityAttack, original: Graph, release: Graph, context: Context
) -> np.ndarray:
    unknown, no_seeds = np.full(original.num_nodes, -1), np.zeros((0, 2), np.int64)
    threat = IdentityThreat(release, original, unknown, no_seeds, original.name)
    matches = attack.find(Release(release), threat, context)
    assert isinstance(matches, Matches)
    return assign_people(matches, original, release)


def assign_people(matches: Matches, original: Graph, release: Graph) -> np.ndarray:
    """(k,) distinct node of the original for each node of the release, assigned by descending
    confidence; remaining nodes by degree."""
    nodes = np.full(release.num_nodes, -1)
    best = matches.candidates[:, 0]
    for person in np.argsort(-matches.confidence, kind="stable"):
        if best[person] >= 0 and nodes[best[person]] < 0:
            nodes[best[person]] = person
    remaining = np.setdiff1d(np.arange(original.num_nodes), nodes)
    remaining = remaining[np.argsort(-original.degrees[remaining], kind="stable")]
    unassigned = np.flatnonzero(nodes < 0)
    unassigned = unassigned[np.argsort(-release.degrees[unassigned], kind="stable")]
    nodes[unassigned] = remaining[: len(unassigned)]
    return nodes
