"""Metrics of releases: what each is called and what it means, in the order of the tables."""

from __future__ import annotations

from dataclasses import replace

from core.measures.metric_info import POSITIVE, SHARE, MetricInfo

STATISTICS = {
    "triangle_count": ("Triangles", "Groups of three people who all know each other.", POSITIVE),
    "wedge_count": ("Wedges", "Pairs of links that share an end.", POSITIVE),
    "claw_count": ("Claws", "Triples of links that share an end.", POSITIVE),
    "edge_entropy": (
        "Relative edge distribution entropy",
        "How evenly the links are spread over the nodes: 1 is perfectly even.",
        SHARE,
    ),
    "path_length": (
        "Characteristic path length",
        "Average number of steps between two nodes of the largest component.",
        POSITIVE,
    ),
    "diameter": (
        "Diameter",
        "Steps between the two nodes of the largest component furthest apart.",
        POSITIVE,
    ),
    "largest_component": (
        "Largest component",
        "Nodes in the largest connected part of the graph.",
        POSITIVE,
    ),
    "average_clustering": (
        "Average clustering",
        "How often two neighbours of a node are linked, averaged over all nodes.",
        SHARE,
    ),
}
"""Structure statistics: key → (title, help, range); each has its `mre_<key>` too."""


def list_homophily_metrics() -> list[MetricInfo]:
    """How often those around a node have its private value."""
    sets = {
        "proximity": ("Proximity homophily", "neighbours"),
        "role": ("Role homophily", "nodes with a similar number of links"),
        "combined": ("Combined homophily", "neighbours and nodes with a similar number of links"),
    }
    result = []
    for key, (title, who) in sets.items():
        result.append(
            MetricInfo(
                f"ghratio_{key}",
                title,
                f"Share of a node's {who} that have its private value, averaged over the nodes. "
                "It gives nothing away where it equals the share of that value in the graph.",
                range=SHARE,
            )
        )
        result.append(
            MetricInfo(
                f"ghratio_{key}_gap",
                f"{title} less class share",
                f"How much more often than chance a node's {who} have its private value. "
                "0: this channel gives nothing away.",
                better_for_privacy="lower",
                range=(-1.0, 1.0),
                chance=0.0,
            )
        )
    return result


def list_utility_metrics() -> list[MetricInfo]:
    """How useful a release is for learning."""
    return [
        MetricInfo(
            "link_prediction_auc",
            "Link prediction AUC",
            "How well a model trained on the release predicts links that were held back: "
            "usefulness for recommendations.",
            better_for_utility="higher",
            range=SHARE,
            chance=0.5,
        ),
        MetricInfo(
            "node_classification_f1",
            "Node classification F1",
            "Share of the utility labels that a model trained on the release gets right (micro "
            "F1).",
            better_for_utility="higher",
            range=SHARE,
        ),
        MetricInfo(
            "node_classification_auc",
            "Node classification AUC",
            "How well a model trained on the release ranks the utility labels.",
            better_for_utility="higher",
            range=SHARE,
            chance=0.5,
        ),
    ]


def list_structure_metrics() -> list[MetricInfo]:
    """How a release differs from the original."""
    result = [
        MetricInfo(
            "links_kept",
            "Links kept",
            "Share of the original links that the release contains.",
            better_for_utility="higher",
            range=SHARE,
        ),
        MetricInfo(
            "links_added",
            "Links added",
            "Links of the release that the original lacks, as a share of the original links.",
            better_for_utility="lower",
            range=POSITIVE,
        ),
        MetricInfo(
            "link_error",
            "Error of the links",
            "Mean absolute difference between the release's link weights and the original's, "
            "over all pairs of nodes.",
            better_for_utility="lower",
            range=POSITIVE,
        ),
        MetricInfo(
            "degree_ks",
            "Degree distribution distance (KS)",
            "Largest gap between the two cumulative degree distributions; 0 is equal.",
            better_for_utility="lower",
            range=SHARE,
        ),
        MetricInfo(
            "mmd_degree",
            "Degree distribution distance (MMD)",
            "Maximum mean discrepancy of the degree distributions; 0 is equal.",
            better_for_utility="lower",
            range=POSITIVE,
        ),
        MetricInfo(
            "mmd_clustering",
            "Clustering distribution distance (MMD)",
            "Maximum mean discrepancy of the clustering coefficients; 0 is equal.",
            better_for_utility="lower",
            range=POSITIVE,
        ),
    ]
    for key, (title, text, bounds) in STATISTICS.items():
        result.append(MetricInfo(key, title, text, range=bounds))
        result.append(
            MetricInfo(
                f"mre_{key}",
                f"{title}: relative error",
                f"Relative error of the release's value against the original's. {text}",
                better_for_utility="lower",
                range=POSITIVE,
            )
        )
    return result


PAIR_KINDS = {
    "visible": "links of the release",
    "hidden": "withheld links",
    "absent": "pairs without a link",
}
"""Which pairs a pair metric is about: the ending of its key → in words."""


def list_pair_metrics() -> list[MetricInfo]:
    """How near the ends of withheld links are to each other."""
    infos = [
        MetricInfo(
            "pair_path_length",
            "Steps between the ends",
            "Average number of links on the shortest path between the two ends, over the pairs "
            "that a path connects.",
            better_for_privacy="higher",
            range=POSITIVE,
        ),
        MetricInfo(
            "pair_disconnected",
            "Pairs without a path",
            "Share of the pairs whose ends no path connects.",
            better_for_privacy="higher",
            range=SHARE,
        ),
        MetricInfo(
            "pair_feature_cosine",
            "Feature similarity of the ends",
            "Cosine of the two ends' features. No change of links lowers it.",
            better_for_privacy="lower",
            range=(-1.0, 1.0),
        ),
        MetricInfo(
            "pair_embedding_cosine",
            "Embedding similarity of the ends",
            "Cosine of the two ends' embeddings, learned from the links without labels.",
            better_for_privacy="lower",
            range=(-1.0, 1.0),
        ),
    ]
    parts = [
        replace(
            info, key=f"{info.key}_{kind}", title=f"{info.title}: {title}", better_for_privacy=None
        )
        for info in infos
        for kind, title in PAIR_KINDS.items()
    ]
    return [*infos, *parts]
