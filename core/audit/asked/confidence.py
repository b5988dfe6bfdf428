"""Level of intervals that hold together, for decisions that look at many of them."""

from __future__ import annotations

from collections import Counter

from core.audit.asked.scenarios import list_scenarios
from core.audit.asked.spec import AuditSpec

ERROR = 0.05


def compute_level(spec: AuditSpec) -> float:
    """Level of each interval such that all of them together miss with probability `ERROR`, or the
    spec's `confirmation_error`: shared among looks, limits, attacks and releases (Bonferroni).

    A look follows each repeat after which the audit may stop. A confirmation is decided by these
    intervals after its last repeat too; any other audit that runs them all is not.
    """
    assert spec.policy is not None
    looks = spec.num_repeats - max(spec.policy["repeats"], 2)
    looks = max(looks + (spec.confirmation_error is not None), 1)
    attacks = Counter[str](scenario.threat for _, _, scenario in list_scenarios(spec))
    compared = sum(max(attacks[limit["threat"]], 1) for limit in spec.policy["limits"])
    error = spec.confirmation_error or ERROR
    return float(1 - error / (looks * compared * (1 + len(spec.defenses))))
