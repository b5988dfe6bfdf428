"""Proximity of the ends of withheld links, beside that of links and of unlinked pairs."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from core.findings.differences import find_noise
from core.findings.labels import release_title
from core.findings.numbers import format_row
from core.findings.tables import list_releases, select_results
from core.release import ORIGINAL
from core.results import RELEASE

METRICS = {
    "pair_path_length": "Steps<br>apart",
    "pair_disconnected": "Without<br>a path",
    "pair_feature_cosine": "Feature<br>similarity",
    "pair_embedding_cosine": "Embedding<br>similarity",
}
"""Metric without its kind → short axis title."""


KINDS = {"hidden": "Withheld links", "absent": "Pairs without a link", "visible": "Links released"}


COLUMNS = ["release", "title", "metric", "kind", "value", "low", "high", "n", "seeds"]


MOVED_BY_LINKS = ("pair_path_length", "pair_embedding_cosine")
"""Proximities that a change of links can affect, in the order that link attacks use them."""


def compute_pair_table(
    results: pd.DataFrame, releases: Sequence[str] | None = None
) -> pd.DataFrame:
    """Rows release × metric × kind ("hidden", "absent", "visible") with value and interval."""
    rows = select_results(results, method=RELEASE)
    rows = rows[rows.metric.str.startswith("pair_")]
    rows = rows.assign(
        metric=rows.metric.map(lambda key: key.rpartition("_")[0]),
        kind=rows.metric.map(lambda key: key.rpartition("_")[2]),
        title=rows.release.map(release_title),
    )
    if releases is not None:
        rows = rows[rows.release.isin(list(releases))]
    return rows[rows.metric.isin(METRICS) & rows.kind.isin(KINDS)][COLUMNS].reset_index(drop=True)


def answer_pair_profile(results: pd.DataFrame) -> str:
    """Whether proximity reveals withheld links, before and after; "" if unknown."""
    table = compute_pair_table(results)
    metric = next((m for m in MOVED_BY_LINKS if _find_gap(table, ORIGINAL, m) is not None), None)
    if metric is None:
        return ""
    hidden, absent = (_find_row(table, ORIGINAL, metric, kind) for kind in ("hidden", "absent"))
    noun = "steps apart" if metric == "pair_path_length" else "alike by their embeddings"
    text = (
        f"On the original, the ends of withheld links are {format_row(hidden)} {noun}, those of "
        f"pairs without a link {format_row(absent)}"
    )
    gaps = {
        release: gap
        for release in list_releases(table)
        if (gap := _find_gap(table, release, metric)) is not None
    }
    if not _is_clear(table, ORIGINAL, metric):
        return f"{text}: proximity does not distinguish them."
    is_far = (gaps[ORIGINAL] < 0) == (metric == "pair_path_length")
    way = "farther" if is_far else "nearer"
    text += f": withheld links are {way}, which link attacks exploit."
    others = {release: gap for release, gap in gaps.items() if release != ORIGINAL}
    if not others:
        return text
    best = min(others, key=lambda release: abs(others[release]))
    pair = [format_row(_find_row(table, best, metric, kind)) for kind in ("hidden", "absent")]
    verdict = "does not narrow the gap"
    if abs(others[best]) < abs(gaps[ORIGINAL]):
        rows = [
            _find_row(table, release, metric, kind)
            for release in (best, ORIGINAL)
            for kind in ("hidden", "absent")
        ]
        beyond = abs(gaps[ORIGINAL]) - abs(others[best]) > find_noise(*rows)
        verdict = "narrows the gap" if beyond else "does not clearly narrow the gap"
    if not _is_clear(table, best, metric):
        verdict = "closes the gap within the sampling error"
    name = release_title(best)
    return f"{text} {name} {verdict}: {pair[0]} against {pair[1]}."


def _find_row(table: pd.DataFrame, release: str, metric: str, kind: str) -> pd.Series | None:
    rows = table[(table.release == release) & (table.metric == metric) & (table.kind == kind)]
    return None if rows.empty else rows.iloc[0]


def _find_gap(table: pd.DataFrame, release: str, metric: str) -> float | None:
    """Value of absent pairs minus that of hidden ones."""
    rows = [_find_row(table, release, metric, kind) for kind in ("absent", "hidden")]
    return None if rows[0] is None or rows[1] is None else rows[0].value - rows[1].value


def _is_clear(table: pd.DataFrame, release: str, metric: str) -> bool:
    """Whether the intervals of hidden and absent pairs are disjoint."""
    rows = [_find_row(table, release, metric, kind) for kind in ("absent", "hidden")]
    if rows[0] is None or rows[1] is None:
        return False
    return bool(rows[0].low > rows[1].high or rows[1].low > rows[0].high)
