"""Results of adaptive attackers and of attacks on released links."""

from __future__ import annotations

import numpy as np
import pandas as pd

from core.audit.asked.knowledge import Composition
from core.audit.asked.scenarios import Threat
from core.audit.results.view import AuditView
from core.findings.differences import is_clear
from core.findings.inverted_scores import invert_scores
from core.findings.labels import metric_title
from core.findings.numbers import format_row
from core.findings.private_columns import answer_private_columns
from core.findings.tables import attack_rows, list_releases, main_metric, select_results
from core.release import ORIGINAL

PRECISION, RECOVERED = "released_precision", "recovered_at_precision_0.9"


def explain_stronger(view: AuditView, threat: Threat) -> list[str]:
    """Sentences on adaptive attackers, combined columns, the odds of a named pair and released
    links."""
    results = view.results
    sentences = answer_adaptive(results, threat)
    if threat == "attribute":
        sentences += answer_private_columns(view)
    if threat == "link" and (odds := answer_odds(results)):
        sentences.append(odds)
    return sentences + answer_inside(results)


def answer_odds(results: pd.DataFrame) -> str:
    """Precision among the first hundred pairs named on the original; "" if it was not computed."""
    rows = select_results(results, "precision_at_100", [ORIGINAL])
    if rows.empty:
        return ""
    best = rows.loc[rows.value.idxmax()]
    return (
        f"Of the 100 unlinked pairs that {best.attack.title} ranks highest, a share of "
        f"{format_row(best)} are withheld links."
    )


def tabulate_inside(results: pd.DataFrame) -> pd.DataFrame:
    """One row per release and attack on released links: both measures, pairs, repeats."""
    found = attack_rows(results, RECOVERED, "included")
    real = attack_rows(results, PRECISION, "included").set_index(["release", "method"])
    rows = []
    for release in list_releases(found):
        for row in found[found.release == release].itertuples():
            known = (row.release, row.method) in real.index
            share = format_row(real.loc[(row.release, row.method)]) if known else "–"
            title, method = row.made.title, row.attack.title
            rows.append((title, method, share, format_row(row), row.n, row.seeds))
    columns = ["Release", "Attack", "Real share of its links", "Recall at 90 % precision"]
    return pd.DataFrame(rows, columns=[*columns, "Pairs", "Repeats"])


def answer_inside(results: pd.DataFrame) -> list[str]:
    """One sentence per release: the share of its links that are real, and how many of the real
    ones the best attacker names at a precision of 90 %. On the original every link is real."""
    found = attack_rows(results, RECOVERED, "included")
    real = attack_rows(results, PRECISION, "included")
    alone = [not isinstance(attack.knowledge, Composition) for attack in real.attack]
    real = real[np.array(alone, bool)]  # several releases together show the links of any of them
    sentences = []
    for release in list_releases(found):
        if release == ORIGINAL:
            continue
        rows = found[found.release == release]
        best = rows.loc[rows.value.idxmax()]
        shares = real[real.release == release]
        share = (
            f"a share of {format_row(shares.iloc[0])} of the links is real. " if len(shares) else ""
        )
        sentences.append(
            f"With {best.made.title}, {share}{best.attack.title} recovers "
            f"{format_row(best)} of the graph's links at a precision of 90 %."
        )
    return sentences


def answer_adaptive(results: pd.DataFrame, threat: Threat) -> list[str]:
    """One sentence per defended release: the strongest adaptive against the strongest standard
    attacker."""
    metric = main_metric(results, threat)
    if metric is None:
        return []
    rows = attack_rows(results, metric, threat)
    rows = invert_scores(rows[~rows.is_baseline & (rows.release != ORIGINAL)])
    adaptive = rows[np.array([attack.is_adaptive for attack in rows.attack], bool)]
    sentences = []
    for release in list_releases(adaptive):
        knows = adaptive[adaptive.release == release]
        rest = rows[(rows.release == release) & ~rows.method.isin(adaptive.method)]
        if rest.empty:
            continue
        best, other = (part.loc[part.value.idxmax()] for part in (knows, rest))
        gain = "more" if best.value > other.value else "less"
        conclusion = (
            f"that is {gain}" if is_clear(best, other) else "the difference is within the noise"
        )
        sentences.append(
            f"With {best.made.title}, an adaptive attacker reaches "
            f"{metric_title(metric)} {format_row(best)} by {best.attack.title}, a standard "
            f"one {format_row(other)} by {other.attack.title}: {conclusion}."
        )
    return sentences
