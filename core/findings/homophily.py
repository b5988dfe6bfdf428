"""GHRatios against the class shares (GPS Eq. 3–5, Fig. 2): why structure reveals attributes."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtri

from core.algorithms.ghratio import choose_tolerance
from core.algorithms.ghratio_jackknife import SETS, compute_margins
from core.audit.results.view import AuditView
from core.audit.store.describe import to_json
from core.findings.facts import build_figure, format_frequency_pairs
from core.findings.numbers import format_interval, format_row
from core.findings.page_summary import Card, PageSummary, describe_figure
from core.findings.tables import list_releases, select_release, select_results
from core.measures.groups import MIN_GROUP
from core.node_column import MISSING
from core.partitioned.graph import PartitionedGraph
from core.partitioned.links import ONE_PROCESS
from core.release import ORIGINAL
from core.results import RELEASE

MECHANISMS = {
    "ghratio_proximity": "Neighbours",
    "ghratio_role": "Role peers",
    "ghratio_combined": "Both",
}
"""Column of the profile → compared set: neighbours, nodes of similar degree, the union."""


WHO = {"proximity": "neighbours", "role": "role peers"}

NUM_BINS = 20


STEP = 0.2
"""Width of a group of nodes, in excess of the ratio over chance."""


def compute_gps_gains(view: AuditView) -> pd.DataFrame:
    """mechanism, excess (middle of a step), value, low, high, n: mean advantage of GPS on the
    original over nodes whose ratio exceeds their class share by so much, with its 95 % interval
    over nodes. The excess, because ratio and base rate both follow the class share.

    The first form of the attack on the main private column; none where it did not run. Groups
    smaller than `MIN_GROUP` are left out.
    """
    own = (pair for pair in view.nodes.parts if (pair[0], pair[1].target) == (ORIGINAL, ""))
    found = next((p for p in own if getattr(p[1].method, "routes_by_homophily", False)), None)
    columns, rows = ["mechanism", "excess", "value", "low", "high", "n"], []
    if found is not None:
        part = view.nodes.parts[found]
        gains = pd.Series(part.advantage, view.nodes.names.take(part.nodes))
        profile = select_release(view.profile, ORIGINAL).set_index("node")
        for key in WHO:
            excess = profile[f"ghratio_{key}"] - profile.class_share.astype(float)
            excess = excess.reindex(gains.index).dropna()
            for place, own in gains[excess.index].groupby(np.floor(excess / STEP)):
                if len(own) >= MIN_GROUP:
                    half = 1.96 * own.std() / math.sqrt(len(own))
                    ends = own.mean(), own.mean() - half, own.mean() + half
                    rows.append((key, (place + 0.5) * STEP, *ends, len(own)))
    return pd.DataFrame(rows, columns=columns)


def describe_gps(gains: pd.DataFrame) -> str:
    """Whether GPS gains more from nodes whose neighbours, or role peers, are most alike than from
    those whose are least: the surer of the two differences, at 95 % for both together
    (Bonferroni), or that neither is beyond noise; "" without two groups."""
    ends = []
    for key, rows in gains.groupby("mechanism", sort=False):
        if len(rows) > 1:
            first, last = rows.iloc[0], rows.iloc[-1]
            noise = math.hypot(last.high - last.value, first.high - first.value)
            score = 1.96 * abs(last.value - first.value) / noise if noise else 0.0
            ends.append((score, WHO[str(key)], first, last))
    if not ends:
        return ""
    score, who, first, last = max(ends, key=lambda end: end[0])
    if score <= -ndtri(0.025 / len(ends)):
        names = " or ".join(end[1] for end in ends)
        return f"GPS gains no more where more {names} share the value, beyond noise"
    told = f"{format_row(last)} where the most {who} share the value beyond chance"
    return f"Advantage of GPS: {told}, {format_row(first)} where the fewest do"


def list_classes(view: AuditView) -> tuple[str, ...]:
    """All values of the private column, in its order; empty without one."""
    column = view.spec.threats.private
    graph = view.load_graph() if column is None else view.load_graph().with_private(column)
    return () if column is None else graph.column(column).classes


def compute_ghratio_histogram(
    profile: pd.DataFrame, releases: Sequence[str] | None = None
) -> pd.DataFrame:
    """mechanism, release, ratio (bin centre), share (of the nodes with a ratio), nodes."""
    parts = []
    shown = [name for name in list_releases(profile) if releases is None or name in releases]
    rows = {name: select_release(profile, name) for name in shown}
    for name in MECHANISMS:
        for release in shown:
            values = rows[release][name].to_numpy(float)
            values = values[~np.isnan(values)]
            if len(values) == 0:
                continue
            counts, edges = np.histogram(values, NUM_BINS, (0, 1))
            parts.append(
                pd.DataFrame(
                    {
                        "mechanism": name,
                        "release": release,
                        "ratio": (edges[:-1] + edges[1:]) / 2,
                        "share": counts / len(values),
                        "nodes": counts,
                    }
                )
            )
    columns = ["mechanism", "release", "ratio", "share", "nodes"]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=columns)


def compute_reference_share(profile: pd.DataFrame) -> float:
    """Mean over nodes of their class share: the expected ratio without homophily."""
    shares = select_release(profile, list_releases(profile)[0]).class_share
    return float(pd.to_numeric(shares, errors="coerce").mean())


def explain_missing_ratios(view: AuditView) -> str:
    """Reason why an audit has no GHRatios: nothing to measure, not yet, or not measured."""
    column = view.spec.threats.private
    if column is None:
        return (
            "This audit has no private column, so there is no homophily to measure. "
            "Choose one on the Data page and run the attacks again."
        )
    if view.summary.state.is_active:
        who = view.spec.nodes.many
        return f"Still running: how alike {who} are in {column} appears here once it is measured."
    if isinstance(view.load_graph(), PartitionedGraph):
        return f"Homophily of {column} was not measured: that {ONE_PROCESS}."
    return f"Homophily of {column} was not measured: resume the audit, or look at what failed."


Margins = Callable[[str], Mapping[str, float]]
"""Release → metric → half of its interval over nodes."""

HOW = (
    "Intervals leave out one node at a time with its links (jackknife), for neighbours share links"
)


def make_margins(view: AuditView, sets: Collection[str] = SETS) -> Margins:
    """Noise of a release's mean ratios: `compute_margins` on its first repeat, once a release;
    empty where no ratio was measured."""

    @cache
    def measure(release: str) -> Mapping[str, float]:
        rows = select_release(view.profile, release)
        ratios = [rows[name].notna().to_numpy() for name in MECHANISMS]
        is_known = np.logical_or.reduce(ratios)
        column = view.spec.threats.private
        if column is None or not is_known.any():
            return {}
        attribute = view.load_graph().with_private(column).column(column)
        codes = np.where(is_known, attribute.codes, MISSING)
        tolerance = choose_tolerance(view.load_release(ORIGINAL, 0))
        graph = view.load_release(release, 0)
        return compute_margins(graph, codes, len(attribute.classes), tolerance, sets)

    return measure


def widen(row: pd.Series, margins: Margins) -> pd.Series:
    """A finished row with the wider of two intervals: its own, of repeats and independent nodes,
    and that of nodes that share links."""
    if pd.isna(row.low):
        return row
    margin = margins(row.release).get(row.metric, math.nan)
    if math.isnan(margin):
        return row
    least = -1.0 if row.metric.endswith("_gap") else 0.0
    ends = min(row.low, row.value - margin), max(row.high, row.value + margin)
    row = row.copy()
    row["low"], row["high"] = max(ends[0], least), min(ends[1], 1.0)
    return row


def describe_homophily(view: AuditView) -> list[dict[str, Any]]:
    """metric, value, low and high of each mean ratio of the original, for scripts; empty without
    one. The intervals are those that pages and report show."""
    margins = make_margins(view)
    metrics = [f"{name}{end}" for name in MECHANISMS for end in ("", "_gap")]
    found = (_find_row(view.results, metric, margins) for metric in metrics)
    rows = [row for row in found if row is not None]
    return [
        {name: to_json(row[name]) for name in ("metric", "value", "low", "high")} for row in rows
    ]


def summarize_homophily(view: AuditView) -> PageSummary:
    """Similarity of nodes to neighbours and role peers, against chance: a mean over nodes, of which
    each counts once however many links it has."""
    noun, margins = view.spec.nodes, make_margins(view, WHO)
    found = {}
    for key, who in WHO.items():
        ratio = _find_row(view.results, f"ghratio_{key}", margins)
        gap = _find_row(view.results, f"ghratio_{key}_gap", margins)
        if ratio is not None and gap is not None:
            found[who] = build_figure(ratio), build_figure(gap)
    pairs = [(figure.value, figure.value - gap.value) for figure, gap in found.values()]
    sides = [_find_side(gap) for _, gap in found.values()]
    shown = format_frequency_pairs(pairs, [side != 0 for side in sides])
    cards, exact, leaks, is_tested = [], [], [], False
    for (who, (figure, gap)), side, texts in zip(found.items(), sides, shown, strict=True):
        compared = f"chance {texts[1]}"
        exact += [describe_figure(figure), describe_figure(gap)]
        if side is not None:
            is_tested = True
            if side > 0:
                leaks.append((gap.value, who, texts))
            compared += ", beyond noise" if side else ", within noise"
        title = f"Same-value {who}, mean"
        cards.append(Card(title, texts[0], compared, None, describe_figure(figure)))
    if is_tested:
        exact.append(f"{HOW}.")
    sentence = "Homophily has not been measured."
    if leaks:
        _, who, texts = max(leaks)
        sentence = (
            f"Averaged over {noun.many}, {texts[0]} {who} share a {noun.one}'s value, against "
            f"{texts[1]} by chance: a difference beyond noise."
        )
    elif is_tested and len(cards) == len(WHO):
        sentence = f"Neither neighbours nor role peers share a {noun.one}'s value beyond chance."
    elif is_tested:  # of links between two modes the neighbours may have no value at all
        (who,) = found
        sentence = f"The {who} of a {noun.one} share its value no more than chance gives."
    elif cards:
        sentence = "Too few splits to distinguish homophily from chance."
    return PageSummary(tuple(cards), sentence, tuple(exact))


def _find_side(gap: Any) -> int | None:
    """1 or −1 where a gap is above or below 0 beyond noise, 0 within it, None without an
    interval."""
    if pd.isna(gap.low) or pd.isna(gap.high):
        return None
    return 1 if gap.low > 0 else -1 if gap.high < 0 else 0


def _find_row(
    results: pd.DataFrame, metric: str, margins: Margins, release: str = ORIGINAL
) -> pd.Series | None:
    rows = select_results(results, metric, [release], RELEASE)
    return None if rows.empty else widen(rows.iloc[0], margins)


def answer_mechanisms(view: AuditView, results: pd.DataFrame) -> list[str]:
    """One sentence per mechanism: its effect on the original, and the release that hides it
    best."""
    names = {
        "proximity": "a node's neighbours",
        "role": "a node's role peers",
        "combined": "a node's neighbours and role peers together",
    }
    sentences, margins = [], make_margins(view)
    for key, who in names.items():
        ratio = _find_row(results, f"ghratio_{key}", margins)
        gap = _find_row(results, f"ghratio_{key}_gap", margins)
        if ratio is None or gap is None:
            continue
        side = _find_side(gap)
        if side is None:
            verdict = "one repeat does not show whether this differs from chance"
        elif side == 0:
            verdict = "no more than chance gives"
        elif side > 0:
            verdict = f"{format_row(gap)} more than chance"
        else:
            verdict = f"{format_interval(-gap.value, -gap.high, -gap.low)} less than chance"
        text = (
            f"On the original, averaged over nodes, {format_row(ratio)} of {who} "
            f"share its value: {verdict}"
        )
        rows = select_results(results, f"ghratio_{key}_gap", method=RELEASE)
        others = rows[rows.release != ORIGINAL]
        if len(others) and side:
            best = widen(others.loc[others.value.abs().idxmin()], margins)
            text += f"; with {best.made.title} the difference is {format_row(best)}"
        sentences.append(text + ".")
    return sentences
