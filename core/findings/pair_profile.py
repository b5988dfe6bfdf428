"""Proximity of the ends of withheld links, beside that of links and of unlinked pairs."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from core.findings.differences import find_noise
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
        title=[made.title for made in rows.made],
    )
    if releases is not None:
        rows = rows[rows.release.isin(list(releases))]
    return rows[rows.metric.isin(METRICS) & rows.kind.isin(KINDS)][COLUMNS].reset_index(drop=True)


def answer_pair_profile(results: pd.DataFrame) -> str:
    """Whether proximity reveals withheld links, before and after; "" if unknown."""
    table = compute_pair_table(results)
    metric = next((m for m in MOVED_BY_LINKS if _find_pair(table, ORIGINAL, m) is not None), None)
    if metric is None:
        return ""
    pairs = {
        release: pair
        for release in list_releases(table)
        if (pair := _find_pair(table, release, metric)) is not None
    }
    hidden, absent = pairs[ORIGINAL]
    noun = "steps apart" if metric == "pair_path_length" else "alike by their embeddings"
    text = (
        f"On the original, the ends of withheld links are {format_row(hidden)} {noun}, those of "
        f"pairs without a link {format_row(absent)}"
    )
    if not _is_clear(hidden, absent):
        return f"{text}: within noise, so that proximity is not shown to tell them apart."
    gaps = {release: far.value - near.value for release, (near, far) in pairs.items()}
    is_far = (gaps[ORIGINAL] < 0) == (metric == "pair_path_length")
    way = "farther" if is_far else "nearer"
    text += f": withheld links are {way}, which link attacks exploit."
    others = [release for release in pairs if release != ORIGINAL]
    if not others:
        return text
    best = min(others, key=lambda release: abs(gaps[release]))
    verdict = "does not narrow the gap"
    if abs(gaps[best]) < abs(gaps[ORIGINAL]):
        beyond = abs(gaps[ORIGINAL]) - abs(gaps[best]) > find_noise(*pairs[best], hidden, absent)
        verdict = "narrows the gap" if beyond else "does not clearly narrow the gap"
    if not _is_clear(*pairs[best]):
        verdict = "closes the gap within the sampling error"
    shown = " against ".join(map(format_row, pairs[best]))
    return f"{text} {pairs[best][0].title} {verdict}: {shown}."


def _find_pair(
    table: pd.DataFrame, release: str, metric: str
) -> tuple[pd.Series, pd.Series] | None:
    """Rows of hidden and of absent pairs; None unless both were measured."""
    rows = table[(table.release == release) & (table.metric == metric)]
    hidden, absent = rows[rows.kind == "hidden"], rows[rows.kind == "absent"]
    return None if hidden.empty or absent.empty else (hidden.iloc[0], absent.iloc[0])


def _is_clear(hidden: pd.Series, absent: pd.Series) -> bool:
    """Whether the difference is beyond noise."""
    return bool(abs(hidden.value - absent.value) > find_noise(hidden, absent))
