"""Comparison of attacks with baseline attackers, at low FPR first and by AUC last.

Attacks of equal AUC can differ tenfold at low FPR (Carlini et al., IEEE S&P 2022), so no sentence
rests on AUC alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from core.audit.asked.attack import Attack
from core.audit.asked.knowledge import Joint
from core.audit.asked.scenarios import Threat
from core.findings.differences import estimate_difference, is_clear
from core.findings.inverted_scores import (
    describe_strength,
    explain_inverted,
    format_strength,
    invert_scores,
)
from core.findings.labels import LOW_FPR, metric_title
from core.findings.numbers import format_estimate, format_row
from core.findings.tables import attack_rows, main_metric

LOW_METRICS = ("tpr_at_fpr_0.001", LOW_FPR)
"""Metrics compared before the headline metric, lowest FPR first."""


@dataclass(frozen=True)
class BaselineComparison:
    """Rows of the best attack and the best baseline attacker by one metric.

    baseline  None if no baseline attacker was run
    second    the second best attack, or None
    """

    metric: str
    best: pd.Series
    baseline: pd.Series | None
    second: pd.Series | None = None

    @property
    def gap(self) -> float:
        """Difference between the best attack and the baseline; NaN without one."""
        return (
            float("nan") if self.baseline is None else float(self.best.value - self.baseline.value)
        )

    @property
    def beats(self) -> bool:
        """Whether the difference exceeds the noise of both."""
        return self.baseline is not None and self.gap > 0 and is_clear(self.best, self.baseline)


def compare_with_baseline(
    results: pd.DataFrame, threat: Threat, release: str, metrics: Sequence[str] = ()
) -> list[BaselineComparison]:
    """One comparison per computed metric, low FPR first and the headline metric last.

    With several secrets or several kinds of knowledge, attacks are compared with the baselines of
    their own kind; the pair with the largest gap is returned.
    """
    found = []
    wanted = metrics or (*LOW_METRICS, main_metric(results, threat))
    for metric in filter(None, dict.fromkeys(wanted)):
        rows = attack_rows(results, metric, threat)
        rows = invert_scores(rows[rows.release == release])
        secrets = pd.Series(list(map(_find_stake, rows.attack)), rows.index, object)
        own = [_compare(metric, part) for _, part in rows.groupby(secrets, sort=False)]
        known = [comparison for comparison in own if comparison is not None]
        if known:
            compared = [c for c in known if c.baseline is not None]
            best = max(compared, key=lambda c: c.gap, default=None)
            found.append(best or max(known, key=lambda c: float(c.best.value)))
    return found


def _compare(metric: str, rows: pd.DataFrame) -> BaselineComparison | None:
    real, baselines = rows[~rows.is_baseline], rows[rows.is_baseline]
    if real.empty:
        return None
    baseline = None if baselines.empty else baselines.loc[baselines.value.idxmax()]
    first = real.value.idxmax()
    rest = real.drop(index=first)
    second = None if rest.empty else rest.loc[rest.value.idxmax()]
    return BaselineComparison(metric, real.loc[first], baseline, second)


def _find_stake(attack: Attack) -> tuple[str, str]:
    """The private column that an attack targets, and its knowledge of the other columns."""
    known = attack.knowledge
    return attack.target, known.text if isinstance(known, Joint) else ""


def describe_comparisons(found: list[BaselineComparison]) -> str:
    """Sentences on the clearest leak: the lowest FPR at which the baseline is beaten, then the
    headline metric; "did not beat" only if no metric shows a difference."""
    headline = found[-1]
    clear = next((c for c in found if c.beats), None)
    if headline.baseline is None:
        return f"{_describe_best(headline)}. No baseline attacker was run."
    if clear is None:
        others = " or ".join(metric_title(c.metric) for c in found[:-1])
        more = f" It is not clearly above by {others} either." if others else ""
        return f"{_describe_best(headline)}{_explain_gap(headline)}{more}"
    text = f"{_describe_best(clear)}{_explain_gap(clear)}"
    if clear is headline:
        return text
    return f"{text} Overall, {_describe_best(headline, alone=True)}{_explain_gap(headline)}"


def _describe_best(found: BaselineComparison, alone: bool = False) -> str:
    """alone: without the second best attack."""
    text = f"{found.best.attack.title} {_format_value(found)}"
    if alone or found.second is None or is_clear(found.best, found.second):
        return text
    return f"{text}, within noise of {found.second.attack.title}"


def _format_value(found: BaselineComparison) -> str:
    row = found.best
    if row.is_inverted:
        return f"reaches {explain_inverted(row)}"
    return describe_strength(found.metric, format_row(row))


def _explain_gap(found: BaselineComparison) -> str:
    baseline = found.baseline
    if baseline is None:
        return "."
    strength = format_strength(baseline)
    other = f"the best baseline attacker, {baseline.attack.title} at {strength}"
    if found.gap <= 0:
        return f". It did not beat {other}."
    if found.beats:
        gap = format_estimate(estimate_difference(baseline, found.best))
        return f". That is {gap} above {other}."
    return f". It is not clearly above {other}."
