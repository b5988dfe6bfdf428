"""Attacks that are clearly wrong: inverted, they are as good as they are bad.

An AUC whose interval lies wholly below one half tells the truth by inversion. Whoever compares
attacks or releases counts its distance from one half: an AUC of 0.30 is as strong as one of 0.70.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from core.findings.labels import method_title, metric_title, release_title
from core.findings.numbers import format_interval, format_number, format_row

INVERTIBLE = ("auc",)
"""Metrics of attacks that an attacker improves by inverting the scores."""

PHRASES = {
    "auc": "reaches an AUC of %s (a guess: 0.5)",
    "released_auc": "reaches an AUC of %s (a guess: 0.5)",
    "tpr_at_fpr_0.01": "finds %s at 1 %% FPR",
    "tpr_at_fpr_0.001": "finds %s at 0.1 %% FPR",
    "accuracy": "is right about %s of the people",
    "expected_found": "finds %s of the people",
    "hits_at_1": "finds %s of the people at the first guess",
}
"""Metric → what an attacker does who reaches a number of it."""

INVERTED = " inverted"
"""After the strength of an attack that is counted the other way."""

HALF = 0.5
MARK = "†"
"""Beside a raw value that is clearly below one half."""

MAX_NAMED = 3


def find_inverted(rows: pd.DataFrame) -> pd.Series:
    """Bool a row of finished results: an AUC clearly below one half, interval and all."""
    return rows.metric.isin(INVERTIBLE) & (rows.high < HALF)


def invert_scores(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with value, low and high of these attacks as their distance from one half + ½.

    Column `is_inverted` says which; all other rows stay as they are.
    """
    inverted = find_inverted(rows)
    result = rows.assign(is_inverted=inverted)
    result.loc[inverted, "value"] = 1 - rows.value[inverted]
    result.loc[inverted, "low"] = 1 - rows.high[inverted]
    result.loc[inverted, "high"] = 1 - rows.low[inverted]
    return result


def format_strength(row: Any) -> str:
    """ "0.70 [0.65, 0.75]", and "inverted" where the attack itself is the other way."""
    return format_row(row) + INVERTED * bool(row.is_inverted)


def describe_strength(metric: str, strength: str) -> str:
    """What an attacker does, in words for an answer: "reaches an AUC of 0.83".

    strength: the number, as a text. A metric without words of its own is named by its title.
    """
    number = strength.removesuffix(INVERTED)
    inverted = "" if number == strength else "(inverted) "
    phrase = PHRASES.get(metric)
    told = f"reaches {metric_title(metric)} {number}" if phrase is None else phrase % number
    return inverted + told


def explain_inverted(row: pd.Series) -> str:
    """What an attack's own value means; `row` of `invert_scores` whose `is_inverted` holds.

    "Attack AUC 0.30 [0.25, 0.35], clearly below one half: inverted, it reaches 0.70"
    """
    raw = format_interval(1 - row.value, 1 - row.high, 1 - row.low)
    return (
        f"{metric_title(row.metric)} {raw}, clearly below one half: inverted, it reaches "
        f"{format_number(row.value)}"
    )


def describe_inverted(rows: pd.DataFrame) -> str:
    """A warning that names the strongest such attacks of `invert_scores`; "" if there are none."""
    inverted = rows[rows.is_inverted].sort_values("value", ascending=False, kind="stable")
    if inverted.empty:
        return ""
    parts = [
        f"{method_title(row.method)} on {release_title(row.release)} (AUC "
        f"{format_interval(1 - row.value, 1 - row.high, 1 - row.low)}, inverted "
        f"{format_number(row.value)})"
        for row in inverted.head(MAX_NAMED).itertuples()
    ]
    more = len(inverted) - MAX_NAMED
    if more > 0:
        parts.append(f"{more} more")
    verb = "is" if len(inverted) == 1 else "are"
    return (
        f"Clearly below one half is no protection, it leaks by inversion: {'; '.join(parts)} "
        f"{verb} counted inverted."
    )
