"""Usefulness of a release (METHODS §2): predicting links and labels from it.

The recipient has the release only: structure, weights and features as published. Without features
each node gets one free row (`core.models.encoders.make_inputs`).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from core.context import Context
from core.graph import Graph
from core.measures.ranking import compute_auc, compute_node_margins, measure_class_probabilities
from core.release import Release
from core.results import ClassProbabilities, Measurement
from core.threats import AttributeThreat, Threats

HIDDEN, EPOCHS, LR, WEIGHT_DECAY, DROPOUT = 64, 200, 0.01, 5e-4, 0.5
"""Label classifier: a 2-layer GCN as trained by Kipf and Welling (2017), with 64 hidden units."""

MAX_SIZE = 2_000_000
"""Largest number of nodes plus links; the auto-encoder of larger releases would take minutes of
a core per repeat."""


def describe_excess(graph: Graph) -> str:
    """Reason why no model is trained on a release of this size, or ""."""
    size = graph.num_nodes + graph.num_edges
    if size <= MAX_SIZE:
        return ""
    return f"left out above {MAX_SIZE:,} nodes and links: it would take too long on {size:,}"


def measure_utility(
    release: Release, threats: Threats, context: Context
) -> tuple[list[Measurement], np.ndarray | None]:
    """link_prediction_auc, node_classification_f1 (micro), node_classification_auc (two classes),
    and the (n,) margins of the label behind the latter two, if any.

    Missing with a reason without test links or a utility column.
    """
    labels, margins = measure_labels(release.graph, threats.utility, context)
    return [measure_link_prediction(release.graph, threats, context), *labels], margins


def measure_link_prediction(graph: Graph, threats: Threats, context: Context) -> Measurement:
    """AUC of the test links against as many non-links, by a graph auto-encoder's cosine.

    The auto-encoder is trained on the release without labels and is the one that attacks use.
    """
    metric = "link_prediction_auc"
    links, absent = threats.test_links, threats.test_non_links
    if links is None or absent is None or not len(links) or not len(absent):
        reason = "no links were held back for testing: that comes with withheld links"
        return Measurement(metric, None, reason=reason)
    excess = describe_excess(graph)
    if excess:
        return Measurement(metric, None, reason=excess)
    from core.models.gae import share_gae

    scores = share_gae(graph, context).score(np.concatenate([links, absent]))
    truth = np.arange(len(scores)) < len(links)
    auc, influence = compute_auc(scores, truth)
    return Measurement(metric, auc, float((influence**2).sum()), len(scores))


def measure_labels(
    graph: Graph, threat: AttributeThreat | None, context: Context
) -> tuple[list[Measurement], np.ndarray | None]:
    """F1 and AUC over the label's hidden nodes of a GCN trained on its known ones, and the (n,)
    margins of the same GCN."""
    names = {"accuracy": "node_classification_f1", "auc": "node_classification_auc"}
    if threat is None or not threat.known.any() or not threat.hidden.any():
        reason = "no utility column with known and unknown labels was chosen"
        return [Measurement(metric, None, reason=reason) for metric in names.values()], None
    excess = describe_excess(graph)
    if excess:
        return [Measurement(metric, None, reason=excess) for metric in names.values()], None
    labels = infer_labels(graph, threat, context)
    found = {m.metric: m for m in measure_class_probabilities(labels, threat)}
    if threat.num_classes > 2:
        reason = "defined for two classes; see the F1"
        found["auc"] = Measurement("auc", None, n=found["auc"].n, reason=reason)
    measured = [replace(found[key], metric=metric) for key, metric in names.items()]
    return measured, compute_node_margins(labels.probabilities, threat)


def infer_labels(graph: Graph, threat: AttributeThreat, context: Context) -> ClassProbabilities:
    """Label probabilities (n, C) by a 2-layer GCN; uses `threat.observed` only."""
    import torch

    from core.models.encoders import Block, Encoder, make_inputs, num_columns
    from core.models.training import train

    device = context.device.torch_name
    inputs, block = make_inputs(graph, device), Block.of_graph(graph, "gcn", device)
    sizes = [num_columns(inputs), HIDDEN, threat.num_classes]
    model = Encoder("gcn", sizes, context.seed.child("node_classification"), DROPOUT).to(device)
    known = torch.from_numpy(np.flatnonzero(threat.known)).to(device)
    labels = torch.from_numpy(threat.observed[threat.known]).to(device)

    def compute_loss(_epoch: int) -> torch.Tensor:
        return torch.nn.functional.cross_entropy(model(inputs, block)[known], labels)

    train(
        model.parameters(),
        compute_loss,
        epochs=EPOCHS,
        lr=LR,
        weight_decay=WEIGHT_DECAY,
        progress=context.progress,
        message="label classifier",
        curve="utility_loss",
    )
    model.eval()
    with torch.no_grad():
        probabilities = torch.softmax(model(inputs, block).double(), dim=1)
    return ClassProbabilities(probabilities.cpu().numpy())
