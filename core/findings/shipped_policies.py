"""The shipped policies in the form of a policy file.

Every number is a starting point set by this tool; papers or standards that motivate a metric are
named. Raise a policy's `version` with any change of it.
"""

from __future__ import annotations

from typing import Any

LOW_FALSE_ALARMS = "set by this tool; judged at a low FPR: Carlini et al., IEEE S&P 2022, §III"
ADVANTAGE = "set by this tool; advantage over the base rate: Yeom et al., IEEE CSF 2018, Def. 4"
RANKING = "set by this tool; 0.5 is guessing"
PRECISION = "set by this tool; links that can be named with at most one error in ten"
IDENTITY = "set by this tool; singling out: GDPR recital 26, WP216 §2.2"
BUDGET = "set by this tool; read with NIST SP 800-226 §2.3: above it a guarantee is too weak"
GROUPS = "set by this tool; no group may carry much more of the risk than another"

UNSURE: dict[str, Any] = {"optional": True}
REVIEW: dict[str, Any] = {"weight": "review", "optional": True}

LIMITS: tuple[tuple[str, str, str, str, str, dict[str, Any], tuple[float, float, float]], ...] = (
    ("links_1", "link", "tpr_at_fpr_0.01",
     "Withheld links found (TPR at 1 % FPR)", LOW_FALSE_ALARMS, {}, (0.05, 0.1, 0.2)),
    ("links_01", "link", "tpr_at_fpr_0.001",
     "Withheld links found (TPR at 0.1 % FPR)", LOW_FALSE_ALARMS, UNSURE, (0.01, 0.03, 0.1)),
    ("links_auc", "link", "auc",
     "Link inference on withheld links (AUC)", RANKING, {}, (0.65, 0.7, 0.8)),
    ("included", "included", "recovered_at_precision_0.9",
     "Released links recovered at 90 % precision", PRECISION, {}, (0.1, 0.3, 0.6)),
    ("attribute_share", "attribute", "class_advantage_share",
     "Private values exposed in the worst class", ADVANTAGE, {}, (0.05, 0.1, 0.2)),
    ("attribute_1", "attribute", "tpr_at_fpr_0.01",
     "Rarer private value recognised (TPR at 1 % FPR)", LOW_FALSE_ALARMS, UNSURE, (0.05, 0.1, 0.2)),
    ("attribute_auc", "attribute", "auc",
     "Attribute inference (AUC)", RANKING, {}, (0.6, 0.7, 0.8)),
    ("found", "identity", "expected_found",
     "People re-identified", IDENTITY, {}, (0.05, 0.1, 0.2)),
    ("groups", "attribute", "group_gap",
     "Gap in advantage between groups", GROUPS, REVIEW, (0.1, 0.15, 0.25)),
    ("epsilon_edge", "release", "epsilon_edge",
     "ε of edge-DP", BUDGET, REVIEW, (1, 3, 6)),
    ("epsilon_link", "release", "epsilon_link",
     "ε of link-local DP", BUDGET, REVIEW, (1, 3, 6)),
    ("epsilon_node", "release", "epsilon_node",
     "ε of node-DP", BUDGET, REVIEW, (3, 6, 10)),
)  # fmt: skip
"""Name, threat, metric, title and source of a limit, its flags, and its values for the public, a
partner and colleagues."""

RECIPIENTS = (
    ("public", "Public", "minutes", 3,
     "Anybody may keep the release and join it with other data. Every attack of the tool that "
     "runs on a graph of its size must have run, adaptively too. The limits are a starting "
     "point, not law."),
    ("partner", "Partner under contract", "seconds", 3,
     "One recipient, bound by contract not to re-identify anybody. Attacks that take seconds "
     "must have run. The limits are a starting point, not law."),
    ("internal", "Internal", "instant", 2,
     "Colleagues in a controlled environment with logged access and no export. Instant attacks "
     "must have run. The limits are a starting point, not law."),
)  # fmt: skip
"""Key, title, effort, repeats and summary of a policy, strictest first."""

SHIPPED: tuple[dict[str, Any], ...] = tuple(
    {
        "key": key,
        "version": 5,
        "title": title,
        "summary": summary,
        "effort": effort,
        "repeats": repeats,
        "attackers": {"adaptive": effort == "minutes"},
        "limits": [
            dict(name=name, threat=threat, metric=metric, limit=values[place],
                 title=what, source=source, **more)
            for name, threat, metric, what, source, more, values in LIMITS
        ],
    }
    for place, (key, title, effort, repeats, summary) in enumerate(RECIPIENTS)
)  # fmt: skip
