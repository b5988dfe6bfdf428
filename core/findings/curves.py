"""A defense's strengths in a trade-off: where it meets a limit, and what that costs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from core.findings.labels import is_higher_useful, metric_title
from core.findings.numbers import format_interval, format_number
from core.methods import SYMBOLS, Defense


@dataclass(frozen=True)
class Passing:
    """Where a curve meets a limit, by interpolation between the strengths tried.

    strength    from which on the risk is within the limit
    low, high   the same for the lower and upper ends of its intervals; None where no strength tried
                meets it
    utility     usefulness there
    is_between  False where even the weakest strength tried meets it
    """

    strength: float
    low: float | None
    high: float | None
    utility: float
    is_between: bool = True


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
        low, high = (
            self._cross(self.table[f"risk_{end}"].fillna(self.table.risk), limit)
            for end in ("low", "high")
        )
        scale = np.exp if self.is_log else float
        order = np.argsort(self.position)
        at = np.interp(place, self.position[order], self.table.utility.to_numpy(float)[order])
        ends = [None if end is None else float(scale(end)) for end in (low, high)]
        is_between = place != self.position[0]
        return Passing(float(scale(place)), ends[0], ends[1], float(at), is_between)

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
        """ "Random deletion: from strength 0.42 [0.38, 0.55] on, at link prediction AUC 0.71"."""
        found = self.find_passing(limit)
        if found is None:
            return f"{self.title}: at no strength tried"
        name = SYMBOLS.get(self.setting, self.setting)
        useful = metric_title(utility)
        cost = f"at {useful[0].lower()}{useful[1:]} {format_number(found.utility)}"
        if not found.is_between:
            proven = "" if found.high == found.strength else ", though its interval does not"
            return f"{self.title}: at every strength tried{proven}, {cost}"
        if found.low is None or found.high is None:
            value = f"{format_number(found.strength)}, though its interval does so at none"
        else:
            ends = sorted((found.low, found.high))
            value = f"{format_interval(found.strength, *ends)} on"
        return f"{self.title}: from {name} {value}, {cost}"


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


def answer_curves(curves: Sequence[Curve], limit: float, utility: str) -> str:
    """Which strength meets the limit, interval included, at the least cost; "" without curves."""
    real = [curve for curve in curves if not curve.is_data_independent]
    if not real:
        return ""
    found = [(curve, curve.find_passing(limit)) for curve in real]
    passing = [(curve, at) for curve, at in found if at is not None]
    proven = [(curve, at) for curve, at in passing if at.high is not None]
    if not passing:
        return f"No strength tried meets the limit of {limit:g}."
    sign = 1.0 if is_higher_useful(utility) else -1.0
    best, _ = max(proven or passing, key=lambda pair: sign * pair[1].utility)
    how = best.describe_passing(limit, utility)
    return f"The limit of {limit:g} is met at the least cost by {how}."
