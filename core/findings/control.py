"""Effect of being in a release: attack figures on released nodes minus those on control nodes."""

from __future__ import annotations

import pandas as pd

from core.audit.asked.scenarios import THREAT_TITLES
from core.findings.labels import THREAT_WORDS, metric_title
from core.findings.numbers import format_interval, format_row
from core.findings.tables import attack_rows, list_releases, main_metric
from core.release import ORIGINAL

NOTE = (
    "No link and no private value of control nodes is in a release. Their published columns "
    "count as known to the attacker. The same attackers are run on them without knowing that they "
    "were left out. Success on control nodes is therefore not due to the release. "
    "Re-identification has no such figure: nobody who is missing from a release can be found in it."
)


def tabulate_control(results: pd.DataFrame, control: pd.DataFrame) -> pd.DataFrame:
    """One row per threat and release: the attack's figures, their difference, its meaning and n.

    One attack per threat for all releases, the strongest on the original, so that the choice
    favours no release. `control` is that of an `AuditView`; empty if nobody was left out.
    """
    rows = []
    for threat in THREAT_TITLES:
        metric = main_metric(results, threat)
        found = attack_rows(results, metric, threat) if metric else pd.DataFrame()
        if found.empty or control.empty:
            continue
        both = found.merge(control, on=["release", "method", "metric"], suffixes=("", "_control"))
        attacks = both[(both.release == ORIGINAL) & ~both.is_baseline]
        if attacks.empty:
            continue
        chosen = both[both.method == attacks.loc[attacks.value.idxmax()].method]
        for release in list_releases(chosen):
            row = chosen[chosen.release == release].iloc[0]
            ends = (row.difference_low, row.difference_high)
            rows.append(
                {
                    "Threat": THREAT_WORDS[threat].title,
                    "Release": row.made.title,
                    "Attack": row.attack.title,
                    "Measure": metric_title(str(metric)),
                    "Released": format_row(row),
                    "Control nodes": format_interval(
                        row.value_control, row.low_control, row.high_control
                    ),
                    "Being in it adds": format_interval(row.difference, *ends),
                    "Beyond noise": _judge(*ends),
                    "n": f"{row.n:,} and {row.n_control:,}",
                }
            )
    return pd.DataFrame(rows)


def _judge(low: float, high: float) -> str:
    """Whether the interval of a difference excludes 0."""
    if pd.isna(low) or pd.isna(high):
        return "no interval"
    if low > 0:
        return "more"
    return "less" if high < 0 else "no"
