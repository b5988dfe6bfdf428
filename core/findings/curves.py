"""A defense's strengths in a trade-off: where it meets a limit, and what that costs."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from core.findings.labels import is_higher_useful, metric_title
from core.findings.numbers import TOLD, format_number
from core.methods import SYMBOLS, Defense


@dataclass(frozen=True)
class Passing:
    """Where a curve meets a limit, by interpolation between the strengths tried.

    strength  from which on the figure is within the limit
    proven    from which on its whole interval is; None at no strength tried
    utility   usefulness at `proven`, or without one at `strength`
    """

    strength: float
    proven: float | None
    utility: float


@dataclass(frozen=True, eq=False)
class Curve:
    """One defense at several strengths.

    table     rows of `compute_tradeoff`, the weakest first, with the column strength
    position  (k,) strengths on the scale on which they are even
    """

    title: str
    setting: str
    is_log: bool
    is_data_independent: bool
    table: pd.DataFrame

    @property
    def position(self) -> np.ndarray:
        values = self.table.strength.to_numpy(float)
        return np.asarray(np.log(values) if self.is_log else values)

    def find_passing(self, limit: float) -> Passing | None:
        """Where the risk meets the limit; None at no strength tried."""
        place = self._cross(self.table.risk, limit)
        if place is None:
            return None
        proven = self._cross(self.table.risk_high.fillna(self.table.risk), limit)
        scale = np.exp if self.is_log else float
        order = np.argsort(self.position)
        at = place if proven is None else proven
        utility = np.interp(at, self.position[order], self.table.utility.to_numpy(float)[order])
        sure = None if proven is None else float(scale(proven))
        return Passing(float(scale(place)), sure, float(utility))

    def _cross(self, risk: pd.Series, limit: float) -> float | None:
        """Place after the last strength that exceeds the limit."""
        values, position = risk.to_numpy(float), self.position
        over = np.flatnonzero(values > limit)
        if not len(over):
            return float(position[0])
        last = int(over[-1])
        if last == len(values) - 1:
            return None
        share = (values[last] - limit) / (values[last] - values[last + 1])
        return float(position[last] + share * (position[last + 1] - position[last]))

    def describe_passing(self, limit: float, utility: str) -> str:
        """ "Random deletion, from strength 0.55 on (by the figure alone from 0.42), at link
        prediction AUC 0.71": the strength from which the whole interval meets the limit."""
        found = self.find_passing(limit)
        if found is None:
            return f"{self.title}, at no strength tried"
        name, useful = SYMBOLS.get(self.setting, self.setting), metric_title(utility)
        cost = f"at {useful[0].lower()}{useful[1:]} {format_number(found.utility)}"
        alone = format_number(found.strength)
        if found.proven is None:
            return f"{self.title}, by the figure alone from {name} {alone} on, not proven, {cost}"
        if np.isclose(found.proven, self.table.strength.iloc[0]):
            return f"{self.title}, at every strength tried, {cost}"
        sure = format_number(found.proven)
        rest = "" if sure == alone else f" (by the figure alone from {alone})"
        return f"{self.title}, from {name} {sure} on{rest}, {cost}"


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
        made = rows.made.iloc[0]
        curves.append(
            Curve(
                _title_curve(members[0][2]),
                strength.setting,
                strength.is_log,
                made.is_data_independent,
                rows.assign(strength=[value for value, _, _ in members]),
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
    """Which strength meets the limit of a measure of risk, interval included, at the least cost; ""
    without curves.

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
    best, _ = max(proven, key=lambda pair: sign * pair[1].utility)
    how = best.describe_passing(limit, utility)
    if TOLD in best.table and best.table[TOLD].any():  # the place would tell the figures
        how = best.title
    # Releases of one strength stand apart and may cost less.
    text = f"On the curves, {what} is met at the least cost by {how}."
    if best.table.release.isin(list(uncleared)).all():
        text += " None of the strengths tried is cleared for publishing."
    return text
