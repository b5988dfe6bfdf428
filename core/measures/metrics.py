"""Title, direction, range and explanation of every metric, used by figures, pages and report."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

Better = Literal["lower", "higher"]
INFINITY = math.inf
ANY = (-INFINITY, INFINITY)
SHARE = (0.0, 1.0)
POSITIVE = (0.0, INFINITY)


@dataclass(frozen=True)
class MetricInfo:
    """key: name in results and scripts.

    title, unit         for axes and tables; unit is empty for pure numbers
    better_for_privacy  direction that protects people: lower, higher, or None
    better_for_utility  direction that keeps the release useful
    range               smallest and largest possible value; intervals are clipped to it
    chance              value reached by guessing, if it is one number
    is_share            it counts cases out of all, so that sentences tell a natural frequency
    help                one or two plain sentences
    """

    key: str
    title: str
    help: str
    unit: str = ""
    better_for_privacy: Better | None = None
    better_for_utility: Better | None = None
    range: tuple[float, float] = ANY
    chance: float | None = None
    is_share: bool = False

    @property
    def group(self) -> Literal["attack", "homophily", "utility", "structure", "pairs"]:
        """Page on which the metric is shown."""
        if self.key.startswith("ghratio"):
            return "homophily"
        if self.key.startswith("pair_"):
            return "pairs"
        if self.better_for_privacy:
            return "attack"
        named = self.key.startswith(("link_prediction", "node_classification"))
        return "utility" if named else "structure"


def _describe(key: str, title: str, text: str, **more: Any) -> MetricInfo:
    """A share of cases unless `more` has another range or says otherwise."""
    is_share = more.get("range", SHARE) == SHARE and "auc" not in key
    return MetricInfo(key, title, text, **{"range": SHARE, "is_share": is_share, **more})


def _attack(
    key: str, title: str, text: str, *, better: Better = "lower", **more: Any
) -> MetricInfo:
    return _describe(key, title, text, better_for_privacy=better, **more)


def _usefulness(
    key: str, title: str, text: str, *, better: Better = "higher", **more: Any
) -> MetricInfo:
    return _describe(key, title, text, better_for_utility=better, **more)


ATTACK_METRICS = (
    _attack(
        "auc",
        "Attack AUC",
        "How well the attacker ranks the truth above the rest: 0.5 is guessing, 1 is certain.",
        chance=0.5,
    ),
    _attack(
        "accuracy",
        "Attack accuracy",
        "Share of the hidden values that the attacker guesses right. Compare it with the class "
        "prior attacker: large classes are easy to guess.",
    ),
    _attack(
        "balanced_accuracy",
        "Attack balanced accuracy",
        "Share guessed right within each class, averaged over the classes.",
        is_share=False,
    ),
    _attack(
        "tpr_at_fpr_0.01",
        "TPR at 1 % FPR",
        "Share of the secrets that the attacker names while accusing wrongly in 1 % of the cases: "
        "what a careful attacker finds.",
        chance=0.01,
    ),
    _attack(
        "tpr_at_fpr_0.001",
        "TPR at 0.1 % FPR",
        "Share of the secrets that the attacker names while accusing wrongly in 1 of 1,000 cases. "
        "Needs at least 1,000 negative cases.",
        chance=0.001,
    ),
    _attack(
        "advantage_share",
        "People exposed",
        "Share of the people at stake on whose secret the attacker puts more than 0.2 above the "
        "base rate. An attacker who guesses exposes nobody.",
        chance=0.0,
    ),
    _attack(
        "class_advantage_share",
        "People exposed in the worst class",
        "Of each class, the share of its own people on whose secret the attacker puts more than "
        "0.2 above the base rate; the largest of them. Shows a rare class that is found out. "
        "Classes with fewer than ten people at stake count together.",
        chance=0.0,
    ),
    _attack(
        "forecast_advantage_share",
        "People exposed by the attacker's own forecast",
        "People exposed where the attacker's confidence is calibrated on the values that it knew, "
        "instead of on the truth that only the evaluation has.",
        chance=0.0,
    ),
    _attack(
        "group_gap",
        "Gap between groups",
        "How much more the attacker gains on the group of people it serves best than on the one "
        "it serves worst; the groups are chosen on other people than are compared.",
        range=(-1.0, 1.0),
        chance=0.0,
    ),
    _attack(
        "margin",
        "Margin of the true class",
        "Probability of the true class minus the highest other one. Near 0 is safe; far below 0 "
        "leaks as well, because the attacker only has to invert his guess. Compare it with the "
        "class prior attacker, whose margin is above 0 wherever one class is larger.",
        range=(-1.0, 1.0),
    ),
    _attack(
        "margin_gain",
        "Margin above the class shares",
        "How much larger the margin of the true class is than the class shares alone make it, "
        "with the attacker's word calibrated. 0: the attacker knows nothing of anybody.",
        range=(-2.0, 2.0),
        chance=0.0,
    ),
    _attack(
        "margin_absolute",
        "Absolute margin",
        "Mean distance of the margin from 0, the attacker's certainty either way; compare it with "
        "the class prior attacker's.",
        is_share=False,
    ),
    _attack(
        "error_reduction",
        "Error taken away",
        "For a private number: by how much the attacker's estimates are nearer the truth than the "
        "median of the known numbers, as a share of that error. 0: no nearer; 1: exact.",
        range=(-INFINITY, 1.0),
        chance=0.0,
    ),
    _attack(
        "close_share",
        "Numbers estimated closely",
        "For a private number: share of the people whose number the attacker estimates to within "
        "a quarter of the column's interquartile range either way. Compare it with the class "
        "prior attacker, who says the median of everybody.",
    ),
    _attack(
        "absolute_error",
        "Mean error of the estimate",
        "For a private number: how far the attacker's estimate is from the truth on average, in "
        "the unit of the column.",
        better="higher",
        range=POSITIVE,
    ),
    _attack(
        "share_below_zero",
        "Margins below zero",
        "Share of the hidden nodes whose true class the attacker ranks below another.",
        better="higher",
    ),
    *(
        _attack(
            f"precision_at_{count}",
            f"Right among the first {count} named",
            f"Share of withheld links among the {count} pairs that the attacker would name first, "
            "out of all pairs without a released link. A guesser's share is next to nothing.",
        )
        for count in (50, 100, 500)
    ),
    _attack(
        "released_auc",
        "Released links: AUC",
        "How well the attacker ranks the links that went into the release above all other pairs: "
        "0.5 is guessing, 1 is certain.",
        chance=0.5,
    ),
    _attack(
        "released_precision",
        "Released links: real ones",
        "Share of the links of the release that are links of the graph that was defended.",
    ),
    _attack(
        "released_precision_top_tenth",
        "Released links: real ones among the likeliest tenth",
        "Share of real links among the tenth of the release's links that the attacker believes "
        "most.",
    ),
    *(
        _attack(
            f"recovered_at_precision_{share}",
            f"Links recovered, {words} right",
            f"Largest share of the graph's links that the attacker can name so that {words} of the "
            "pairs it names are links.",
            chance=0.0,
        )
        for share, words in ((0.9, "nine in ten"), (0.99, "99 in 100"))
    ),
    _attack(
        "released_tpr_at_fpr_0.001",
        "Released links: TPR at 0.1 % FPR",
        "Share of the graph's links that the attacker names while naming 1 in 1,000 of the other "
        "pairs.",
        chance=0.001,
    ),
    _attack(
        "expected_found",
        "Expected share found",
        "Share of the people whom an attacker finds who guesses among all that fit what is known "
        "of a person.",
    ),
    _attack(
        "share_unique",
        "Unique people",
        "Share of the people at stake whom what is known fits alone: whoever knows it has found "
        "them.",
    ),
    _attack(
        "share_below_5",
        "Hidden among fewer than five",
        "Share of the people at stake whom what is known fits together with at most three others.",
    ),
    _attack(
        "hits_at_1",
        "Found by a second graph",
        "Share of the people whom the attacker, holding a second graph of them, takes for the "
        "right node of the release.",
    ),
    _attack(
        "hits_at_10",
        "Among ten candidates",
        "Share of the people who are among the ten nodes that the attacker thinks likeliest.",
    ),
    _attack(
        "mrr",
        "Mean reciprocal rank",
        "One over the place of the right node in the attacker's list of ten, 0 where it is not in "
        "it, averaged over the people.",
        is_share=False,
    ),
    _attack(
        "precision_at_0.9_confidence",
        "Right when sure",
        "Share of the attacker's matches that are right, among those of which he is at least 90 % "
        "sure.",
    ),
    _attack(
        "named_at_0.9_confidence",
        "Named for sure",
        "Share of the people of whose node the attacker is at least 90 % sure.",
    ),
    _attack(
        "k_anonymity",
        "Smallest group",
        "The k of k-anonymity: how many people share what is known, in the smallest such group.",
        unit="people",
        better="higher",
        range=POSITIVE,
    ),
)
"""Success of attacks: on any secret, on links, and on identities."""

UTILITY_METRICS = (
    _usefulness(
        "link_prediction_auc",
        "Link prediction AUC",
        "How well a model trained on the release predicts links that were held back: usefulness "
        "for recommendations.",
        chance=0.5,
    ),
    _usefulness(
        "node_classification_f1",
        "Node classification F1",
        "Share of the utility labels that a model trained on the release gets right (micro F1).",
    ),
    _usefulness(
        "node_classification_auc",
        "Node classification AUC",
        "How well a model trained on the release ranks the utility labels.",
        chance=0.5,
    ),
)
"""Usefulness of a release for learning."""

STRUCTURE_METRICS = (
    _usefulness(
        "links_kept", "Links kept", "Share of the original links that the release contains."
    ),
    _usefulness(
        "links_added",
        "Links added",
        "Links of the release that the original lacks, as a share of the original links.",
        better="lower",
        range=POSITIVE,
    ),
    _usefulness(
        "link_f1",
        "Links right (F1)",
        "Harmonic mean of the share of the original's links that the release contains and of the "
        "share of the release's links that are the original's: added links count as well as lost "
        "ones.",
        is_share=False,
    ),
    _usefulness(
        "value_sum_error",
        "Error of sums of link values",
        "How far the sums of the values of a node's links are off, as a share of the original's "
        "sums: weights, or the column of numbers that suffers most.",
        better="lower",
        range=POSITIVE,
    ),
    _usefulness(
        "strength_rank",
        "Rank of strengths",
        "Spearman correlation of the sums of the values of each node's links with the original's: "
        "weights, or the column of numbers that suffers most.",
        range=(-1.0, 1.0),
    ),
    _usefulness(
        "time_rank",
        "Rank of times",
        "Spearman correlation of the mean times of the links that release and original share.",
        range=(-1.0, 1.0),
    ),
    _usefulness(
        "link_error",
        "Error of the links",
        "Mean absolute difference between the release's link weights and the original's, over all "
        "pairs of nodes.",
        better="lower",
        range=POSITIVE,
    ),
    _usefulness(
        "degree_ks",
        "Degree distribution distance (KS)",
        "Largest gap between the two cumulative degree distributions; 0 is equal.",
        better="lower",
        is_share=False,
    ),
    _usefulness(
        "mmd_degree",
        "Degree distribution distance (MMD)",
        "Maximum mean discrepancy of the degree distributions; 0 is equal.",
        better="lower",
        range=POSITIVE,
    ),
    _usefulness(
        "mmd_clustering",
        "Clustering distribution distance (MMD)",
        "Maximum mean discrepancy of the clustering coefficients; 0 is equal.",
        better="lower",
        range=POSITIVE,
    ),
)
"""Differences between a release and the original."""

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

QUERIES = {
    "num_nodes": ("Nodes", "Nodes of the graph; releases keep them, so that it is 0."),
    "num_links": ("Links", "Links of the graph."),
    "mean_degree": ("Average degree", "Links of a node on average."),
    "degree_variance": ("Degree variance", "Variance of the links of a node."),
    "longest_distance": (
        "Longest distance",
        "Steps between the two connected nodes furthest apart, in any component.",
    ),
    "mean_distance": ("Mean distance", "Average number of steps between two connected nodes."),
    "global_clustering": ("Global clustering", "Share of the pairs of links that close up."),
    "modularity": ("Modularity", "Modularity of the communities that Louvain's method finds."),
    "assortativity": ("Assortativity", "Correlation of the degrees at the ends of links."),
}
"""Queries of PGB that are compared by `mre_<key>`: key → (title, help)."""

QUERY_METRICS = (
    _usefulness(
        "degree_kl",
        "Degree distribution (KL)",
        "Kullback–Leibler divergence of the release's degrees from the original's, in nats.",
        better="lower",
        range=POSITIVE,
    ),
    _usefulness(
        "distance_kl",
        "Distance distribution (KL)",
        "Kullback–Leibler divergence of the steps between connected nodes, in nats.",
        better="lower",
        range=POSITIVE,
    ),
    _usefulness(
        "community_nmi",
        "Communities (NMI)",
        "Normalised mutual information of the communities found in both: 1 is the same.",
        is_share=False,
    ),
    _usefulness(
        "eigenvector_mae",
        "Eigenvector centrality (MAE)",
        "Mean gap between the centralities of equal rank, over the most central hundredth.",
        better="lower",
        is_share=False,
    ),
)
"""The other queries of PGB (core.measures.queries)."""

PAIR_METRICS = (
    _attack(
        "pair_path_length",
        "Steps between the ends",
        "Average number of links on the shortest path between the two ends, over the pairs that a "
        "path connects.",
        better="higher",
        range=POSITIVE,
    ),
    _attack(
        "pair_disconnected",
        "Pairs without a path",
        "Share of the pairs whose ends no path connects.",
        better="higher",
    ),
    _attack(
        "pair_feature_cosine",
        "Feature similarity of the ends",
        "Cosine of the two ends' features. No change of links lowers it.",
        range=(-1.0, 1.0),
    ),
    _attack(
        "pair_embedding_cosine",
        "Embedding similarity of the ends",
        "Cosine of the two ends' embeddings, learned from the links without labels.",
        range=(-1.0, 1.0),
    ),
)
"""Distance between the ends of withheld links; each is also reported per kind of pair."""

PAIR_KINDS = {
    "visible": "links of the release",
    "hidden": "withheld links",
    "absent": "pairs without a link",
}
"""Suffix of a pair metric → its kind of pair, in words."""

GHRATIO_SETS = {
    "proximity": ("Proximity homophily", "neighbours"),
    "role": ("Role homophily", "nodes with a similar number of links"),
    "combined": ("Combined homophily", "neighbours and nodes with a similar number of links"),
}
"""Homophily ratios: key → (title, compared set)."""


def _list_homophily() -> Iterator[MetricInfo]:
    for key, (title, who) in GHRATIO_SETS.items():
        yield MetricInfo(
            f"ghratio_{key}",
            title,
            f"Share of a node's {who} that have its private value, averaged over the nodes. "
            "It gives nothing away where it equals the share of that value in the graph.",
            range=SHARE,
            is_share=True,
        )
        yield _attack(
            f"ghratio_{key}_gap",
            f"{title} less class share",
            f"How much more often than chance a node's {who} have its private value. "
            "0: this channel gives nothing away.",
            range=(-1.0, 1.0),
            chance=0.0,
        )


def _list_statistics() -> Iterator[MetricInfo]:
    for key, (title, text, bounds) in STATISTICS.items():
        yield MetricInfo(key, title, text, range=bounds)
        help_ = f"Relative error of the release's value against the original's. {text}"
        name = f"{title}: relative error"
        yield _usefulness(f"mre_{key}", name, help_, better="lower", range=POSITIVE)


def _list_queries() -> Iterator[MetricInfo]:
    for key, (title, text) in QUERIES.items():
        help_ = f"Relative error of the release's value against the original's. {text}"
        name = f"{title}: relative error"
        yield _usefulness(f"mre_{key}", name, help_, better="lower", range=POSITIVE)
    yield from QUERY_METRICS


def _list_pairs() -> Iterator[MetricInfo]:
    yield from PAIR_METRICS
    for info in PAIR_METRICS:
        for kind, words in PAIR_KINDS.items():
            key, title = f"{info.key}_{kind}", f"{info.title}: {words}"
            yield replace(info, key=key, title=title, better_for_privacy=None)


METRICS: dict[str, MetricInfo] = {
    info.key: info
    for info in (
        *ATTACK_METRICS,
        *_list_homophily(),
        *UTILITY_METRICS,
        *STRUCTURE_METRICS,
        *_list_statistics(),
        *_list_queries(),
        *_list_pairs(),
    )
}
"""All metrics by key, in the order of tables."""
