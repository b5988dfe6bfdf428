"""The policies that the tool ships, as the data that a policy file holds.

Every number is set by this tool as a starting point; where a paper or a standard is the reason
for judging by that metric, it is named. Raise a policy's `version` with any change of it.
"""

from __future__ import annotations

from typing import Any

LOW_FALSE_ALARMS = "set by this tool; judged at a low FPR: Carlini et al., IEEE S&P 2022, §III"
ADVANTAGE = "set by this tool; advantage over the base rate: Yeom et al., IEEE CSF 2018, Def. 4"
RANKING = "set by this tool; 0.5 is guessing"
PRECISION = "set by this tool; links that can be named with at most one error in ten"
IDENTITY = "set by this tool; singling out: GDPR recital 26, WP216 §2.2"
BUDGET = "set by this tool; read with NIST SP 800-226 §2.3: above it a promise says too little"
GROUPS = "set by this tool; no group may carry much more of the risk than another"

TITLES = {
    "links_1": "Withheld links: TPR at 1 % FPR",
    "links_01": "Withheld links: TPR at 0.1 % FPR",
    "links_auc": "Ranking of withheld links (AUC)",
    "included": "Links of the release named with 90 % precision",
    "attribute_share": "People of a class whose value is inferred beyond chance",
    "attribute_1": "Rarer value: TPR at 1 % FPR",
    "attribute_auc": "Ranking of the private value (AUC)",
    "found": "People who can be singled out by their links",
    "groups": "Largest gap between groups",
    "epsilon_edge": "Promised ε for one link (central)",
    "epsilon_link": "Promised ε for one link (local)",
    "epsilon_node": "Promised ε for one person",
}

MEASURED: dict[str, tuple[str, str, str, dict[str, Any]]] = {
    "links_1": ("link", "tpr_at_fpr_0.01", LOW_FALSE_ALARMS, {}),
    "links_01": ("link", "tpr_at_fpr_0.001", LOW_FALSE_ALARMS, {"optional": True}),
    "links_auc": ("link", "auc", RANKING, {}),
    "included": ("included", "recovered_at_precision_0.9", PRECISION, {}),
    "attribute_share": ("attribute", "class_advantage_share", ADVANTAGE, {}),
    "attribute_1": ("attribute", "tpr_at_fpr_0.01", LOW_FALSE_ALARMS, {"optional": True}),
    "attribute_auc": ("attribute", "auc", RANKING, {}),
    "found": ("identity", "expected_found", IDENTITY, {}),
    "groups": ("attribute", "group_gap", GROUPS, {"weight": "review", "optional": True}),
    "epsilon_edge": ("release", "epsilon_edge", BUDGET, {"weight": "review", "optional": True}),
    "epsilon_link": ("release", "epsilon_link", BUDGET, {"weight": "review", "optional": True}),
    "epsilon_node": ("release", "epsilon_node", BUDGET, {"weight": "review", "optional": True}),
}
"""Name of a limit → threat, metric, source and what is special about it."""


def _limits(**values: float) -> list[dict[str, Any]]:
    found = []
    for name, value in values.items():
        threat, metric, source, more = MEASURED[name]
        fields = {"name": name, "threat": threat, "metric": metric, "limit": value}
        found.append({**fields, "title": TITLES[name], "source": source, **more})
    return found


SHIPPED: tuple[dict[str, Any], ...] = (
    {
        "key": "public",
        "version": 1,
        "title": "Public",
        "summary": "Anybody may hold it, for ever, beside anything else that is known. Every "
        "attack of the tool must have been tried. A starting point, not law.",
        "effort": "minutes",
        "repeats": 3,
        "limits": _limits(
            links_1=0.05, links_01=0.01, links_auc=0.65, included=0.1,
            attribute_share=0.05, attribute_1=0.05, attribute_auc=0.6,
            found=0.05, groups=0.1, epsilon_edge=1, epsilon_link=1, epsilon_node=3,
        ),
    },
    {
        "key": "partner",
        "version": 1,
        "title": "Partner under contract",
        "summary": "One recipient who is bound not to re-identify anybody and can be held to it. "
        "Attacks that take seconds must have been tried. A starting point, not law.",
        "effort": "seconds",
        "repeats": 3,
        "limits": _limits(
            links_1=0.1, links_01=0.03, links_auc=0.7, included=0.3,
            attribute_share=0.1, attribute_1=0.1, attribute_auc=0.7,
            found=0.1, groups=0.15, epsilon_edge=3, epsilon_link=3, epsilon_node=6,
        ),
    },
    {
        "key": "internal",
        "version": 1,
        "title": "Internal",
        "summary": "Colleagues in a controlled room, with access logged and nothing taken out. "
        "Instant attacks must have been tried. A starting point, not law.",
        "effort": "instant",
        "repeats": 2,
        "limits": _limits(
            links_1=0.2, links_01=0.1, links_auc=0.8, included=0.6,
            attribute_share=0.2, attribute_1=0.2, attribute_auc=0.8,
            found=0.2, groups=0.25, epsilon_edge=6, epsilon_link=6, epsilon_node=10,
        ),
    },
)  # fmt: skip
