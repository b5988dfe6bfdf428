"""Which figures a limit can hold: those that the attacks of its threat, or the measures of a
release, have, and that are safer where they are lower."""

from __future__ import annotations

from core.measures.metrics import ATTACK_METRICS, METRICS

PEOPLE = ("advantage_share", "group_gap")
"""Figures of attacks on any secret."""

BY_THREAT: dict[str, tuple[str, ...]] = {
    "link": (
        "auc",
        "tpr_at_fpr_0.01",
        "tpr_at_fpr_0.001",
        "precision_at_50",
        "precision_at_100",
        "precision_at_500",
        *PEOPLE,
    ),
    "included": (
        "released_auc",
        "released_precision",
        "released_precision_top_tenth",
        "recovered_at_precision_0.9",
        "recovered_at_precision_0.99",
        "released_tpr_at_fpr_0.001",
        *PEOPLE,
    ),
    "attribute": (
        "auc",
        "tpr_at_fpr_0.01",
        "tpr_at_fpr_0.001",
        "accuracy",
        "balanced_accuracy",
        "class_advantage_share",
        "forecast_advantage_share",
        "margin",
        "margin_absolute",
        "margin_gain",
        "share_below_zero",
        "absolute_error",
        "error_reduction",
        "close_share",
        *PEOPLE,
    ),
    "identity": (
        "expected_found",
        "share_unique",
        "share_below_5",
        "k_anonymity",
        "hits_at_1",
        "hits_at_10",
        "mrr",
        "precision_at_0.9_confidence",
        "named_at_0.9_confidence",
        *PEOPLE,
    ),
    "release": (
        "epsilon_edge",
        "epsilon_link",
        "epsilon_node",
        *(key for key in METRICS if key not in {info.key for info in ATTACK_METRICS}),
    ),
}
"""Threat → metrics measured on it, whatever their direction."""

TWO_SIDED = {"margin": "margin_absolute"}
"""Metrics that leak on either side of 0, and what to limit instead."""

_SAFER_HIGHER = {key for key, info in METRICS.items() if info.better_for_privacy == "higher"}


def refuse_metric(threat: str, metric: str) -> str:
    """Why no limit can be set on a metric of a threat; "" if one can."""
    if metric not in BY_THREAT[threat]:
        return f"must be of a metric of the threat “{threat}”, not {metric}"
    if metric in TWO_SIDED:
        return f"must not be of {metric}, which leaks far below 0 as well: use {TWO_SIDED[metric]}"
    if {metric, metric.rpartition("_")[0]} & _SAFER_HIGHER:  # a pair metric, or one kind of pair
        return f"must be of a metric that is safer where it is lower, not {metric}"
    return ""
