"""Classification margins of the private value and the label, per release (NetFense §5)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from core.audit.results.view import AuditView
from core.audit.store.states import State
from core.findings.numbers import format_row
from core.findings.tables import select_results

WHATS = ("private", "label")


LEAVES_INVERTED = -0.1
"""Margins below it leak by inversion."""


def list_margin_attacks(view: AuditView) -> list[str]:
    """Attribute attacks with stored probabilities, baseline attackers last."""
    done = view.results[view.results.status == State.DONE].method.unique()
    found = [a for a in view.summary.attacks if a.id in done and a.threat == "attribute"]
    return [attack.id for attack in sorted(found, key=lambda attack: attack.is_baseline)]


def compute_margin_table(
    view: AuditView, attack: str, releases: Sequence[str], absolute: bool = False
) -> pd.DataFrame:
    """Quantiles and shares of the margins of the private value under an attack, and of the label
    under the classifier that measures usefulness; one row per release: what, release, n, p5, q1,
    median, q3, p95, mean, mean_absolute, below_zero, below_inverted.

    With `absolute`, quantiles and mean are those of the absolute margin.
    """
    rows = []
    for what in WHATS:
        for release in releases:
            margins = view.load_margins(release, attack if what == "private" else None)
            if not len(margins):
                continue
            shown = np.abs(margins) if absolute else margins
            quantiles = np.quantile(shown, (0.05, 0.25, 0.5, 0.75, 0.95))
            rows.append(
                {
                    "what": what,
                    "release": release,
                    "n": len(margins),
                    **dict(zip(("p5", "q1", "median", "q3", "p95"), quantiles, strict=True)),
                    "mean": shown.mean(),
                    "mean_absolute": np.abs(margins).mean(),
                    "below_zero": (margins < 0).mean(),
                    "below_inverted": (margins < LEAVES_INVERTED).mean(),
                }
            )
    return pd.DataFrame(rows)


def answer_margins(results: pd.DataFrame, attack: str, releases: Sequence[str]) -> str:
    """Confidence and error of the attack on each of two releases, beside the class prior's."""
    parts, who = [], None
    for release in releases:
        rows = select_results(results, None, [release], attack).set_index("metric")
        if not {"margin_absolute", "share_below_zero"} <= set(rows.index):
            continue
        size, wrong = (
            format_row(rows.loc[metric]) for metric in ("margin_absolute", "share_below_zero")
        )
        who, made = rows.attack.iloc[0], rows.made.iloc[0]
        parts.append(
            f"{size} from undecided and names another class for a share of {wrong} on "
            f"{'the original' if made.is_original else made.title}"
        )
    if who is None:
        return ""
    text = f"{who.title} is on average {', and '.join(parts)}."
    prior = select_results(results, "margin_absolute", releases)
    prior = prior[[attack.is_blind for attack in prior.attack]]
    if who.is_blind or prior.empty:
        return text
    size = format_row(prior.iloc[0])
    return f"{text} Knowing the class shares alone, one is {size} from undecided."
