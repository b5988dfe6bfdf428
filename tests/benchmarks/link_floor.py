"""How much withheld links are told by what no change of other links takes away: the floor.

    python -m tests.benchmarks.link_floor [cora citeseer lastfm_asia] [--splits 0,1,2]

10 % of the links are withheld and 10 % held back; everything else is released as it is. AUC on the
withheld links of a pair classifier that learns on links of the release, from one kind of evidence:

  cosine, not learned   of the ends' features, whatever the links are
  features of the ends  and, from released links, which kinds of features link
  features around them  of their neighbours and second neighbours
  degrees               of the ends
  communities           in which the ends are, and how densely these are linked
  all                   columns of the pair classifier
  who was moved         number of ends that `record_swapping` moved, to whoever knows them

Mean over the splits, with the standard deviation, each inverted if below chance.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping

import numpy as np
import torch

from core.algorithms.communities import find_communities
from core.algorithms.pairs import hide_in_turn
from core.attacks.link.pair_classifier import ENOUGH, PairClassifier, fit_pair_classifier
from core.attacks.link.pair_features import FEATURE_COLUMNS, describe_pairs, list_columns
from core.attacks.link.pair_likeness import CLUSTER_COLUMNS
from core.context import Context
from core.data.catalogue import load_dataset
from core.data.splits import draw_threats
from core.defenses.record_swapping import RecordSwapping
from core.graph import Graph
from core.measures.ranking import compute_auc
from core.node_column import NodeColumn
from core.release import Release
from core.seeding import Seed
from core.threats import Threats
from tests.benchmarks.finite import print_finite

COSINE = "feature cosine"
ENDS = (COSINE, "latent cosine", *CLUSTER_COLUMNS)
COMMUNITIES = ("same community", "link density between communities")


def list_evidence(graph: Graph) -> Mapping[str, tuple[str, ...]]:
    """Columns of `describe` by kind of evidence."""
    kinds = {
        "features of the ends": ENDS,
        "features around them": tuple(n for n in FEATURE_COLUMNS if n not in ENDS),
    }
    found = kinds if graph.features is not None else {}
    degrees = ("lower degree", "higher degree")
    everything = (*list_columns(graph, False), *COMMUNITIES)
    return {**found, "degrees": degrees, "communities": COMMUNITIES, "all": everything}


def describe(graph: Graph, pairs: np.ndarray, context: Context) -> dict[str, np.ndarray]:
    """Columns (k,) of pairs (k, 2) by name."""
    table = describe_pairs(graph, pairs, context, has_embedding=False)
    columns = dict(zip(list_columns(graph, False), table.T, strict=True))
    labels = find_communities(graph, context.rng("communities"))
    member = np.eye(labels.max() + 1)[labels]
    links = member.T @ (graph.adjacency @ member)
    mass = links.sum(axis=1)
    density = np.log((links + 1.0) / (np.outer(mass, mass) / max(mass.sum(), 1.0) + 1.0))
    i, j = labels[pairs].T
    found = (i == j).astype(np.float64), density[i, j]
    return {**columns, **dict(zip(COMMUNITIES, found, strict=True))}


def swap_records(threats: Threats, context: Context) -> tuple[Release, np.ndarray]:
    """A release of `record_swapping`, and who of the (n,) people stands elsewhere in it."""
    nodes = np.arange(threats.visible.num_nodes)
    place = NodeColumn("place", nodes, tuple(map(str, nodes)))
    graph = threats.visible.with_attributes({"place": place})
    release = RecordSwapping().publish(graph, threats, context)
    return release, release.graph.attributes["place"].codes != nodes


def measure(threats: Threats, context: Context) -> dict[str, float]:
    """AUC on the withheld links by kind of evidence."""
    graph, link, learned = threats.visible, threats.link, PairClassifier()
    assert link is not None
    tables, truths = [], []
    rounds = hide_in_turn(
        graph, learned.share, learned.max_links, learned.rounds, context.rng("hidden"), ratio=2.0
    )
    for number, (reduced, hidden, absent) in enumerate(rounds):
        pairs = np.concatenate([hidden, absent])
        tables.append(describe(reduced, pairs, context.child("round", number)))
        truths.append(np.arange(len(pairs)) < len(hidden))
        if sum(truth.sum() for truth in truths) >= ENOUGH:
            break
    asked, truth = describe(graph, link.pairs, context), np.concatenate(truths)
    scores = {}
    if graph.features is not None:
        scores["cosine, not learned"] = asked[COSINE]
    for kind, names in list_evidence(graph).items():
        shown = [np.column_stack([table[name] for name in names]) for table in [*tables, asked]]
        classifier = fit_pair_classifier(np.concatenate(shown[:-1]), truth, context.child(kind))
        scores[kind] = classifier.compute_logits(shown[-1])
    is_moved = swap_records(threats, context)[1]
    scores["who was moved"] = is_moved[link.pairs].sum(axis=1).astype(np.float64)
    aucs = {kind: compute_auc(values, link.truth)[0] for kind, values in scores.items()}
    return {kind: max(auc, 1.0 - auc) for kind, auc in aucs.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("graphs", nargs="*", default=["cora", "citeseer", "lastfm_asia"])
    parser.add_argument("--splits", default="0,1,2")
    options = parser.parse_args()
    torch.set_num_threads(1)
    for name in options.graphs:
        graph, rows = load_dataset(name).graph, []
        for split in map(int, options.splits.split(",")):
            threats = draw_threats(graph, Seed(split), hide_links=0.1)
            rows.append(measure(threats, Context(Seed(split).child("floor"))))
        for kind in rows[0]:
            values = [row[kind] for row in rows]
            spread = np.std(values, ddof=len(values) > 1)
            print(f"{name:12} {kind:22} {np.mean(values):.3f} ({spread:.3f})", flush=True)


if __name__ == "__main__":
    print_finite(main)
