"""A defense's strengths in a trade-off: where it meets a limit, and what that costs."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from core.audit.asked.scenarios import Threat
from core.findings.differences import is_clear
from core.findings.labels import is_higher_useful, metric_title
from core.findings.numbers import TOLD, format_number
from core.findings.tradeoff import compute_tradeoff
from core.findings.verdict import Verdict
from core.findings.verdict_words import list_uncleared
from core.methods import Defense
from core.words import join_words

NOUNS = ("strength", "budget", "target")
"""Settings whose name can be said: "a strength of 0.9"; others are written as in titles."""


class Useful(NamedTuple):
    """Usefulness between two strengths tried: value and interval, NaN without one, and repeat →
    value where both have repeats; compared as a row of results is."""

    value: float
    low: float
    high: float
    repeats: Mapping[int, float]


@dataclass(frozen=True)
class Passing:
    """Where a curve meets a limit, by interpolation between the strengths tried.

    strength  from which on, towards the strongest, the figure is within the limit
    proven    from which on the intervals that count are too; None at no strength tried
    utility   usefulness at `proven`, or without one at `strength`
    """

    strength: float
    proven: float | None
    utility: Useful


@dataclass(frozen=True, eq=False)
class Curve:
    """One defense at several strengths.

    symbol    how titles write the strength
    table     rows of `compute_tradeoff`, the weakest first, with the column strength: as titles and
              guarantees state it, 2ε where both ends report a link
    position  (k,) strengths on the scale on which they are even
    """

    title: str
    symbol: str
    is_log: bool
    is_data_independent: bool
    table: pd.DataFrame

    @property
    def position(self) -> np.ndarray:
        values = self.table.strength.to_numpy(float)
        return np.asarray(np.log(values) if self.is_log else values)

    def find_passing(self, limit: float) -> Passing | None:
        """Where the risk meets the limit; None at no strength tried."""
        ends = self.table.risk_end
        place = self._cross(np.minimum(self.table.risk, ends), limit)  # a bound told may lie above
        if place is None:
            return None
        proven = self._cross(ends, limit)
        scale = np.exp if self.is_log else float
        useful = self._interpolate(place if proven is None else proven)
        return Passing(
            float(scale(place)), None if proven is None else float(scale(proven)), useful
        )

    def _interpolate(self, place: float) -> Useful:
        """Usefulness at a position. Its interval is that of two figures that err together, the
        widest it can be."""
        rows = self.table.iloc[np.argsort(self.position)]
        at = np.sort(self.position)
        right = int(np.clip(np.searchsorted(at, place), 1, len(at) - 1))
        share = float((place - at[right - 1]) / (at[right] - at[right - 1]))
        weights = ((right - 1, 1 - share), (right, share))
        used = [(rows.iloc[row], weight) for row, weight in weights if weight > 1e-9]
        value, low, high = (
            sum(weight * float(row[name]) for row, weight in used)
            for name in ("utility", "utility_low", "utility_high")
        )
        known = [row.utility_repeats for row, _ in used]
        repeats: dict[int, float] = {}
        if all(isinstance(each, Mapping) for each in known):
            repeats = {
                repeat: sum(weight * row.utility_repeats[repeat] for row, weight in used)
                for repeat in known[0]
                if all(repeat in each for each in known)
            }
        return Useful(value, low, high, repeats)

    def _cross(self, risk: pd.Series, limit: float) -> float | None:
        """Place after the last strength that exceeds the limit."""
        values, position = risk.to_numpy(float), self.position
        over = np.flatnonzero(values > limit)
        if not len(over):
            return float(position[0])
        last = int(over[-1])
        if last == len(values) - 1:
            return None
        if np.isinf(values[last]):
            return float(position[last + 1])
        share = (values[last] - limit) / (values[last] - values[last + 1])
        return float(position[last] + share * (position[last + 1] - position[last]))

    def describe_passing(self, limit: float, utility: str) -> str:
        """ "Random deletion, at a strength of 0.55 or more (by the figure alone at 0.42 or more),
        at link prediction AUC 0.71": where the limit is met, and where the figure is below it."""
        found = self.find_passing(limit)
        if found is None:
            return f"{self.title}, at no strength tried"
        useful = metric_title(utility)
        cost = f"at {useful[0].lower()}{useful[1:]} {format_number(found.utility.value)}"
        name = f"a {self.symbol} of" if self.symbol in NOUNS else f"{self.symbol} ="
        is_rising = self.table.strength.iloc[-1] > self.table.strength.iloc[0]
        side = "or more" if is_rising else "or less"
        alone = f"{format_number(found.strength)} {side}"
        if found.proven is None:
            return f"{self.title}, by the figure alone at {name} {alone}, not proven, {cost}"
        if np.isclose(found.proven, self.table.strength.iloc[0]):
            return f"{self.title}, at every strength tried, {cost}"
        sure = f"{format_number(found.proven)} {side}"
        rest = "" if sure == alone else f" (by the figure alone at {alone})"
        return f"{self.title}, at {name} {sure}{rest}, {cost}"


def list_curves(table: pd.DataFrame) -> list[Curve]:
    """Defenses with at least two strengths among the releases of a `compute_tradeoff` table."""
    groups: dict[tuple[str, str], list[tuple[float, int, Defense]]] = {}
    for number, made in enumerate(table.made):
        defense = made.defense
        if defense is None or defense.acts_by is None:
            continue
        config = dict(defense.config)
        value = config.pop(defense.acts_by.setting)
        if value is not None:
            key = defense.info.key, json.dumps(config, sort_keys=True)
            groups.setdefault(key, []).append((float(value), number, defense))
    curves = []
    for members in groups.values():
        if len(members) < 2:
            continue
        strength = members[0][2].acts_by
        assert strength is not None
        members.sort(key=lambda m: m[0], reverse=strength.weakest > strength.strongest)
        rows = table.iloc[[number for _, number, _ in members]].reset_index(drop=True)
        symbol, times = members[0][2].describe_sign(strength.setting)
        curves.append(
            Curve(
                _title_curve(members[0][2]),
                symbol,
                strength.is_log,
                rows.made.iloc[0].is_data_independent,
                rows.assign(strength=[times * value for value, _, _ in members]),
            )
        )
    return curves


def _title_curve(defense: Defense) -> str:
    """The defense with its changed settings but the strength."""
    assert defense.acts_by is not None
    fields = type(defense).model_fields
    usual = {defense.acts_by.setting: fields[defense.acts_by.setting].default}
    is_free = bool(getattr(defense, "data_free", False))
    others: dict[str, Any] = {
        **defense.config,
        **usual,
        **({"data_free": False} if is_free else {}),
    }
    title = type(defense).model_validate(others).label
    return f"{title}, without the data" if is_free else title


def answer_curves(
    curves: Sequence[Curve], limit: float, risk: str, utility: str, uncleared: Collection[str] = ()
) -> str:
    """Which strength meets the limit of a measure of risk, interval included, and which of several
    at the least cost, where that is beyond noise; "" without curves.

    uncleared  ids of releases that may not be published, by this limit or another
    """
    real = [curve for curve in curves if not curve.is_data_independent]
    if not real:
        return ""
    what = f"the limit of {limit:g} on {metric_title(risk)}"
    found = [(curve, curve.find_passing(limit)) for curve in real]
    proven = [(curve, at) for curve, at in found if at is not None and at.proven is not None]
    if not proven:
        return f"No strength tried is proven to meet {what}."
    sign = 1.0 if is_higher_useful(utility) else -1.0
    best, cost = max(proven, key=lambda pair: sign * pair[1].utility.value)
    others = [(curve, at.utility) for curve, at in proven if curve is not best]
    tied = [curve for curve, useful in others if not is_clear(cost.utility, useful)]

    def describe(curve: Curve) -> str:
        if TOLD in curve.table and curve.table[TOLD].any():  # the place would tell the figures
            return curve.title
        return curve.describe_passing(limit, utility)

    # Releases of one strength stand apart and may cost less.
    rank = "met" if tied else "met at the least cost" if others else "met only"
    text = f"On the curves, {what} is {rank} by {describe(best)}."
    if tied:
        ways = "; ".join(map(describe, tied))
        text += f" As useful within noise: {ways}."
    return text + _describe_cleared(real, [best, *tied], uncleared)


def _describe_cleared(
    curves: Sequence[Curve], named: Sequence[Curve], uncleared: Collection[str]
) -> str:
    """That no strength tried of the curves that are named may be published, and which others may;
    "" where one of theirs may."""

    def list_cleared(among: Sequence[Curve]) -> list[str]:
        rows = pd.concat([curve.table for curve in among])
        return list(rows.title[~rows.release.isin(list(uncleared))])

    if list_cleared(named):
        return ""
    if not (cleared := list_cleared(curves)):
        return " None of the strengths tried is cleared for publishing."
    verb = "is" if len(cleared) == 1 else "are"
    return f" None of these is cleared for publishing; on the curves, {join_words(cleared)} {verb}."


def answer_strengths(
    results: pd.DataFrame,
    verdict: Verdict,
    threat: Threat,
    risk: str,
    utility: str,
    attack: str | None = None,
) -> str:
    """`answer_curves` on all releases with the policy's limit, as page and report have it; ""
    without a limit or curves.

    attack  one attack, or None for the worst case
    """
    limit = verdict.policy.find_limit(threat, risk)
    table = compute_tradeoff(results, risk, utility, attack, threat, verdict)
    if limit is None or table.empty:
        return ""
    answer = answer_curves(list_curves(table), limit, risk, utility, list_uncleared(verdict))
    alone = attack is not None and answer
    return f"By {table.by.iloc[0].title} alone: {answer}" if alone else answer
