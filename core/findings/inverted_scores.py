"""Attacks clearly below chance, whose inverted scores are an attack.

An AUC whose interval lies wholly below 0.5 carries information by inversion. Comparisons of attacks
or releases therefore use the distance from 0.5: an AUC of 0.30 is as strong as one of 0.70.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from core.findings.labels import metric_title
from core.findings.numbers import format_interval, format_number, format_row

INVERTIBLE = ("auc",)
"""Metrics that an attacker improves by inverting the scores."""

PHRASES = {
    "auc": "reaches an AUC of %s",
    "released_auc": "reaches an AUC of %s",
    "tpr_at_fpr_0.01": "finds %s of the secrets at 1 %% FPR",
    "tpr_at_fpr_0.001": "finds %s of the secrets at 0.1 %% FPR",
    "accuracy": "is right about %s of the nodes",
    "expected_found": "finds %s of the nodes",
    "hits_at_1": "finds %s of the nodes at the first guess",
}
"""Metric → verb phrase for an attack that reaches a value of it."""

INVERTED = " inverted"
"""Suffix of the strength of an inverted attack."""

HALF = 0.5
MARK = "†"
"""Suffix of a raw value that is clearly below 0.5."""

MAX_NAMED = 3


def invert_scores(rows: pd.DataFrame) -> pd.DataFrame:
    """The finished rows, inverted where the whole interval of an AUC lies below 0.5: value, low and
    high become their distance from 0.5, plus 0.5.

    Column `is_inverted` marks them; all other rows are unchanged.
    """
    inverted = rows.metric.isin(INVERTIBLE) & (rows.high < HALF)
    result = rows.assign(is_inverted=inverted)
    if not inverted.any():
        return result
    result.loc[inverted, "value"] = 1 - rows.value[inverted]
    result.loc[inverted, "low"] = 1 - rows.high[inverted]
    result.loc[inverted, "high"] = 1 - rows.low[inverted]
    return result


def find_mirrored_ends(rows: pd.DataFrame) -> pd.Series:
    """Upper end of what the inverted scores of each row of `invert_scores` may reach; NaN where
    inversion means nothing, and of rows that are inverted already."""
    is_open = rows.metric.isin(INVERTIBLE) & ~rows.is_inverted
    return (1 - rows.low).where(is_open)


def format_strength(row: Any) -> str:
    """ "0.70 [0.65, 0.75]", with "inverted" if the scores were inverted."""
    return format_row(row) + (INVERTED if row.is_inverted else "")


def describe_strength(metric: str, strength: str) -> str:
    """Verb phrase for a sentence: "reaches an AUC of 0.83".

    strength: the number as text. Metrics without a phrase of their own use their title.
    """
    number = strength.removesuffix(INVERTED)
    inverted = "" if number == strength else "(inverted) "
    phrase = PHRASES.get(metric)
    if phrase is not None and " of " in number:  # "fewer than 10 of 300"
        phrase = phrase.replace("%s of the", "%s")
    phrased = f"reaches {metric_title(metric)} {number}" if phrase is None else phrase % number
    return inverted + phrased


def explain_inverted(row: pd.Series) -> str:
    """Explanation of a raw value; `row` of `invert_scores` with `is_inverted`.

    "Attack AUC 0.30 [0.25, 0.35], clearly below one half: inverted, it reaches 0.70"
    """
    raw = format_interval(1 - row.value, 1 - row.high, 1 - row.low)
    return (
        f"{metric_title(row.metric)} {raw}, clearly below one half: inverted, it reaches "
        f"{format_number(row.value)}"
    )


def describe_inverted(rows: pd.DataFrame) -> str:
    """Warning that names the strongest such attacks of `invert_scores`; "" if there are none."""
    inverted = rows[rows.is_inverted].sort_values("value", ascending=False, kind="stable")
    if inverted.empty:
        return ""
    parts = [
        f"{row.attack.title} on {row.made.title}, AUC {format_number(1 - row.value)}"
        for row in inverted.head(MAX_NAMED).itertuples()
    ]
    more = len(inverted) - MAX_NAMED
    if more > 0:
        parts.append(f"{more} more")
    return (
        "An AUC clearly below 0.5 is no protection: whoever inverts the guesses is right. Counted "
        f"inverted: {'; '.join(parts)}."
    )
