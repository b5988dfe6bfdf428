"""Rows of an audit's tables for figures: numeric, finished, in a fixed order."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from core.audit.asked.release_info import ReleaseInfo
from core.audit.asked.scenarios import Threat
from core.audit.results.view import REPEATS
from core.audit.store.states import State
from core.findings.inverted_scores import invert_scores
from core.findings.labels import (
    LOW_FPR,
    MAIN_ATTACK_METRICS,
    MAIN_UTILITY_METRICS,
    has_utility_direction,
    is_attack_metric,
)
from core.once import find_once
from core.release import ORIGINAL
from core.results import RELEASE
from core.words import count_noun


def select_results(
    results: pd.DataFrame,
    metric: str | None = None,
    releases: Collection[str] | None = None,
    method: str | None = None,
) -> pd.DataFrame:
    """Finished rows with value, low and high as float64 (NaN without interval)."""
    wanted = (results.status == State.DONE).to_numpy()
    for column, value in (("metric", metric), ("method", method)):
        if value is not None and wanted.any():
            wanted = wanted & (results[column] == value).to_numpy()
    if releases is not None and wanted.any():
        wanted = wanted & results.release.isin(list(releases)).to_numpy()
    rows = results.take(np.flatnonzero(wanted)).reset_index(drop=True)
    for column in ("value", "low", "high"):
        if rows[column].dtype != "float64":
            rows[column] = pd.to_numeric(rows[column], errors="coerce").astype("float64")
    has_value = rows.value.notna()
    return rows if has_value.all() else rows[has_value].reset_index(drop=True)


def list_releases(results: pd.DataFrame) -> list[str]:
    """Releases in the order of the audit, original first."""
    column = results.release
    if isinstance(column.dtype, pd.CategoricalDtype):  # of a row per node, runs of one release
        codes = column.cat.codes.to_numpy()
        column = column[np.append(codes[:1] >= 0, codes[1:] != codes[:-1])]
    found = column.unique().tolist()
    return sorted(found, key=lambda release: release != ORIGINAL)


def select_release(profile: pd.DataFrame, release: str) -> pd.DataFrame:
    """Rows of a release; not copied where they are neighbours, as in `AuditView.profile`."""
    rows = np.flatnonzero(profile.release == release)
    if len(rows) and rows[-1] - rows[0] == len(rows) - 1:
        return profile.iloc[rows[0] : rows[-1] + 1]
    return profile.iloc[rows]


def list_made(results: pd.DataFrame) -> dict[str, ReleaseInfo]:
    """Id → release, in the order of `list_releases`."""
    first = results.drop_duplicates("release").set_index("release").made
    return {release: first[release] for release in list_releases(results)}


def find_threats(rows: pd.DataFrame) -> pd.Series:
    """Threat of the attack of each row; None for measures of the release itself."""
    threats = [None if attack is None else attack.threat for attack in rows.attack]
    return pd.Series(threats, rows.index, object)


def list_metrics(results: pd.DataFrame, of: str, threat: Threat | None = None) -> list[str]:
    """Metrics with a value, the headline first.

    of: "attack", or "release" for what can be an axis of usefulness.
    """
    rows = select_results(results)
    rows = rows[(rows.method == RELEASE) == (of == "release")]
    if threat is not None:
        rows = rows[find_threats(rows) == threat]
    found = list(dict.fromkeys(rows.metric))
    keep = is_attack_metric if of == "attack" else has_utility_direction
    found = [metric for metric in found if keep(metric)]
    first = MAIN_ATTACK_METRICS if of == "attack" else MAIN_UTILITY_METRICS
    return sorted(found, key=lambda m: (m not in first, first.index(m) if m in first else 0))


def list_threats(results: pd.DataFrame) -> list[Threat]:
    """Threats present in the results, in the standard order."""
    found = set(find_threats(results.drop_duplicates("method")))
    threats: list[Threat] = ["link", "attribute", "identity"]
    return [threat for threat in threats if threat in found]


@find_once
def main_metric(results: pd.DataFrame, threat: Threat) -> str | None:
    """The headline metric of a threat: AUC where it was computed, else accuracy."""
    return next(iter(list_metrics(results, "attack", threat)), None)


@find_once
def find_doubles(results: pd.DataFrame) -> frozenset[str]:
    """Ids of the attacks that are a baseline attacker's formula on these links: those that equal it
    there by `equal_unweighted`, and reach the same in every figure that can be compared. While an
    audit runs one may be ahead of the other, so that its means are of other repeats."""
    attacks = results.drop_duplicates("method").attack
    known = {a.id: a for a in attacks if a is not None and a.method is not None}
    likes = {}
    for attack in known.values():
        key = getattr(attack.method, "equal_unweighted", "")
        if key and (other := known.get(attack.id.replace(attack.method_id, key, 1))):
            likes[attack.id] = other.id
    is_asked = results.method.isin([*likes, *likes.values()])
    figures: dict[str, dict[tuple[str, str], dict[str, Any]]] = {}
    columns = ["method", "release", "metric", "value", "seeds", *({REPEATS} & {*results})]
    for row in select_results(results[is_asked])[columns].to_dict("records"):
        figures.setdefault(row["method"], {})[row["release"], row["metric"]] = row
    found = set()
    for name, like in likes.items():
        own, other = figures.get(name, {}), figures.get(like, {})
        if other and all(_may_be_equal(own[f], other[f]) for f in own.keys() & other.keys()):
            found.add(name)
    return frozenset(found)


def _may_be_equal(own: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether no repeat that both rows have differs; without repeats, whether the means are equal
    or of different numbers of them."""
    mine, same = own.get(REPEATS), other.get(REPEATS)
    if isinstance(mine, Mapping) and isinstance(same, Mapping) and mine and same:
        return all(mine[repeat] == same[repeat] for repeat in mine.keys() & same.keys())
    return bool(own["value"] == other["value"] or own["seeds"] != other["seeds"])


def attack_rows(results: pd.DataFrame, metric: str, threat: Threat | None = None) -> pd.DataFrame:
    """Finished attack rows of one metric, with `is_baseline` and `threat` columns; a formula that
    ran as an attack and as a baseline attacker once, as the latter."""
    rows, doubles = select_results(results, metric), find_doubles(results)
    attacks = rows.attack.tolist()
    kept = [a is not None and (threat is None or a.threat == threat) for a in attacks]
    kept = [is_kept and a.id not in doubles for a, is_kept in zip(attacks, kept, strict=True)]
    if not all(kept):
        rows = rows[np.array(kept, bool)].reset_index(drop=True)
    found = [attack for attack, is_kept in zip(attacks, kept, strict=True) if is_kept]
    rows["is_baseline"] = np.array([attack.is_baseline for attack in found], bool)
    rows["threat"] = pd.Series([attack.threat for attack in found], rows.index, object)
    return rows


def compute_worst_attacks(
    results: pd.DataFrame, metric: str, threat: Threat | None
) -> pd.DataFrame:
    """One row per release: the strongest attack, baseline attackers included.

    Attacks clearly below chance are inverted (`is_inverted`, core.findings.inverted_scores).
    """
    rows = invert_scores(attack_rows(results, metric, threat))
    return sort_releases(rows.loc[rows.groupby("release", sort=False).value.idxmax()], results)


def sort_releases(rows: pd.DataFrame, results: pd.DataFrame) -> pd.DataFrame:
    """The rows in the order of `list_releases`, numbered anew; those of a release as they were."""
    order = {release: i for i, release in enumerate(list_releases(results))}
    return rows.sort_values(
        "release", key=lambda column: column.map(order), kind="stable", ignore_index=True
    )


def describe_sample(rows: pd.DataFrame, unit: str, intervals: str = "error bars show") -> str:
    """ "1,055 pairs in each of 5 repeats, each with a new split and new noise; error bars show
    95 % intervals."

    unit       what n counts; "" to leave n out
    intervals  what shows them; "" where nothing does
    """
    if rows.empty:
        return "nothing computed yet"
    counts, text = span_counts(rows.n, unit) if unit else "", span_counts(rows.seeds, "repeat")
    if counts:
        text = f"{counts} in each of {text}"
    if rows.seeds.max() > 1:
        text += ", each with a new split and new noise"
    has_interval = rows[["low", "high"]].notna().all(axis=1).any()
    return f"{text}; {intervals} 95 % intervals." if intervals and has_interval else f"{text}."


def find_level(results: pd.DataFrame, threat: Threat | None) -> float:
    """The FPR to name beside a ROC curve: 1 %, or 10 % where the sample does not resolve it."""
    is_resolved = not attack_rows(results, LOW_FPR, threat).empty
    return 0.01 if is_resolved else 0.1


def describe_missing(results: pd.DataFrame, releases: Sequence[str] | None = None) -> pd.DataFrame:
    """Results without a value: release, method, attack, made, metrics, status in words, reason."""
    rows = results[results.status != State.DONE]
    rows = rows.assign(status=rows.status.str.replace("_", " "))
    if releases is not None:
        rows = rows[rows.release.isin(list(releases))]
    columns = ["release", "method", "status", "reason"]
    if rows.empty:
        return pd.DataFrame(columns=[*columns, "metrics", "attack", "made"])
    grouped = rows.groupby(columns, sort=False, dropna=False)
    metrics = grouped.metric.agg(lambda m: ", ".join(dict.fromkeys(map(str, m))))
    # Not as keys: a missing attack would come out as NaN.
    first = rows.drop_duplicates(columns)
    return (
        metrics.rename("metrics")
        .reset_index()
        .assign(attack=first.attack.to_numpy(), made=first.made.to_numpy())
    )


def span_counts(values: pd.Series, noun: str) -> str:
    """ "40 nodes", "38–40 nodes" if they differ, "" if unknown."""
    counts = pd.to_numeric(values, errors="coerce").dropna().astype(int)
    counts = counts[counts > 0]
    if counts.empty:
        return ""
    low, high = counts.min(), counts.max()
    span = "" if low == high else f"{low:,}–"
    return f"{span}{count_noun(high, noun)}"
