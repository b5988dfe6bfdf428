"""Titles of threats, metrics and running parts, and the direction of each metric."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.audit.asked.attack import Attack
from core.measures.metrics import METRICS

if TYPE_CHECKING:
    from core.audit.results.view import RunningCell


@dataclass(frozen=True)
class ThreatWords:
    """Name of the threat, its aim, its items, and what people are exposed to."""

    attack: str
    aim: str
    unit: str
    exposed_on: str

    @property
    def title(self) -> str:
        return self.attack.capitalize()


THREAT_WORDS: dict[str, ThreatWords] = {
    "link": ThreatWords("link inference", "find withheld links", "pair", "withheld links"),
    "included": ThreatWords(
        "inference of released links", "find released links", "pair", "released links"
    ),
    "attribute": ThreatWords(
        "attribute inference", "infer the private attribute", "node", "the private attribute"
    ),
    "identity": ThreatWords(
        "re-identification", "find nodes behind their pseudonyms", "node", "who they are"
    ),
    "": ThreatWords("inference", "find a secret", "case", "a secret"),
}
"""Wording per threat; "" for an attack that this version does not know."""

LOW_FPR = "tpr_at_fpr_0.01"
"""Reported before AUC, since attacks of equal AUC can differ tenfold at a low FPR."""

MAIN_ATTACK_METRICS = ("auc", "accuracy", "released_auc", "expected_found", "hits_at_1")
"""Headline metrics of attacks, in order of preference."""

MAIN_UTILITY_METRICS = (
    "node_classification_auc",
    "node_classification_f1",
    "link_prediction_auc",
    "link_f1",
)
"""Headline measures of usefulness, in order of preference."""


def metric_title(key: str) -> str:
    """Title of the metric, or its key in words if this version does not know it."""
    info = METRICS.get(key)
    return info.title if info else key.replace("_", " ").capitalize()


def is_attack_metric(key: str) -> bool:
    """Whether the metric measures the success of an attack."""
    info = METRICS.get(key)
    return info is not None and info.group == "attack"


def is_lower_safer(key: str) -> bool:
    """Whether a lower value means less exposure."""
    info = METRICS.get(key)
    return info is None or info.better_for_privacy != "higher"


def is_higher_useful(key: str) -> bool:
    """Whether a larger value of a utility metric means a more useful release."""
    info = METRICS.get(key)
    return info is None or info.better_for_utility != "lower"


def has_utility_direction(key: str) -> bool:
    """Whether the metric can be an axis of usefulness."""
    info = METRICS.get(key)
    return info is not None and info.better_for_utility is not None


def chance_level(metric: str) -> float | None:
    """Value reached by guessing, if it does not depend on the data."""
    info = METRICS.get(metric)
    return None if info is None else info.chance


def axis_title(metric: str) -> str:
    """Title with an arrow and direction for a horizontal axis: "Attack AUC   ← safer"."""
    if is_attack_metric(metric):
        hint = "← safer" if is_lower_safer(metric) else "safer →"
    else:
        hint = "more useful →" if is_higher_useful(metric) else "← more useful"
    return f"{metric_title(metric)}   {hint}"


def describe_attacker(attack: Attack | None) -> str:
    """ " by Adamic–Adar", to follow a figure; "" for a figure of the release itself."""
    return "" if attack is None else f" by {attack.title}"


def describe_running(cell: RunningCell) -> str:
    """A part that is being computed: "GPS on original", "Making EdgeRand (ε = 6)"."""
    title = cell.release if cell.made.is_original else cell.made.title
    if cell.kind == "publish":
        return f"Making {title}"
    return f"Measuring {title}" if cell.attack is None else f"{cell.attack.title} on {title}"
