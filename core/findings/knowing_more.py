"""What attackers reach who know more: the defense, several releases, or that links are inside."""

from __future__ import annotations

import pandas as pd

from core.audit.knowledge import ADAPTIVE, Composition
from core.audit.scenarios import Scenario
from core.findings.differences import is_clear
from core.findings.inverted_scores import invert_scores
from core.findings.labels import method_title, metric_title, release_title
from core.findings.numbers import format_interval
from core.findings.tables import attack_rows, list_releases, main_metric

PRECISION, RECOVERED = "released_precision", "recovered_at_precision_0.9"


def tabulate_inside(results: pd.DataFrame) -> pd.DataFrame:
    """Release, Attack, Real among the links, Links named 9 in 10 right, Pairs, Repeats: one row a
    release and attack on released links; empty where none has finished."""
    found = attack_rows(results, RECOVERED, "included")
    real = attack_rows(results, PRECISION, "included").set_index(["release", "method"])
    rows = []
    for release in list_releases(found):
        for row in found[found.release == release].itertuples():
            known = (row.release, row.method) in real.index
            share = _interval(real.loc[(row.release, row.method)]) if known else "–"
            rows.append(
                (
                    release_title(release),
                    method_title(row.method),
                    share,
                    _interval(row),
                    row.n,
                    row.seeds,
                )
            )
    columns = ["Release", "Attack", "Real among its links", "Links named, 9 in 10 right"]
    return pd.DataFrame(rows, columns=[*columns, "Pairs", "Repeats"])


def answer_inside(results: pd.DataFrame) -> list[str]:
    """One sentence a release: how many of its links are real, and how many of the real ones the
    best attacker names nine in ten right."""
    found = attack_rows(results, RECOVERED, "included")
    real = attack_rows(results, PRECISION, "included")
    sentences = []
    for release in list_releases(found):
        rows = found[found.release == release]
        best = rows.loc[rows.value.idxmax()]
        # of one release: who holds several judges the links of any of them
        held = real.method.map(
            lambda method: isinstance(Scenario.parse(method).knowledge, Composition)
        )
        shares = real[(real.release == release) & ~held.astype(bool)]
        share = f"{_interval(shares.iloc[0])} of the links are real; " if len(shares) else ""
        sentences.append(
            f"In **{release_title(release)}**, {share}{method_title(best.method)} names a share of "
            f"{_interval(best)} of the graph's links with nine in ten of them right ({best.n:,} "
            f"pairs a repeat)."
        )
    return sentences


def answer_adaptive(results: pd.DataFrame) -> list[str]:
    """One sentence a release and threat: the strongest who know the defense against the
    strongest who do not."""
    sentences = []
    for threat in ("link", "attribute"):
        metric = main_metric(results, threat)
        if metric is None:
            continue
        rows = attack_rows(results, metric, threat)
        rows = invert_scores(rows[~rows.is_baseline])
        adaptive = rows[[Scenario.parse(method).knowledge == ADAPTIVE for method in rows.method]]
        for release in list_releases(adaptive):
            knows = adaptive[adaptive.release == release]
            rest = rows[(rows.release == release) & ~rows.method.isin(adaptive.method)]
            if rest.empty:
                continue
            best, other = (part.loc[part.value.idxmax()] for part in (knows, rest))
            gain = "more" if best.value > other.value else "less"
            told = f"that is {gain}" if is_clear(best, other) else "no more than the noise of both"
            sentences.append(
                f"On **{release_title(release)}**, who knows the defense reaches "
                f"{metric_title(metric)} {_interval(best)} ({method_title(best.method)}), who does "
                f"not {_interval(other)} ({method_title(other.method)}), over {best.n:,} cases a "
                f"repeat: {told}."
            )
    return sentences


def _interval(row: object) -> str:
    return format_interval(*(float(getattr(row, name)) for name in ("value", "low", "high")))
