"""What one metric is: its name, its good direction, its range, its words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

Better = Literal["lower", "higher"]
INFINITY = math.inf
ANY = (-INFINITY, INFINITY)
SHARE = (0.0, 1.0)
POSITIVE = (0.0, INFINITY)


@dataclass(frozen=True)
class MetricInfo:
    """key: name in results and scripts.

    title, unit         for axes and tables; unit is empty for pure numbers
    better_for_privacy  which way protects people: lower, higher, or None (no direction)
    better_for_utility  which way keeps the release useful
    range               smallest and largest possible value; intervals are clipped to it
    chance              the value of an attacker who guesses, where it is one number
    help                one or two plain sentences
    """

    key: str
    title: str
    help: str
    unit: str = ""
    better_for_privacy: Better | None = None
    better_for_utility: Better | None = None
    range: tuple[float, float] = ANY
    chance: float | None = None

    @property
    def group(self) -> Literal["attack", "homophily", "utility", "structure", "pairs"]:
        """Where the metric is shown."""
        if self.key.startswith("ghratio"):
            return "homophily"
        if self.key.startswith("pair_"):
            return "pairs"
        if self.better_for_privacy:
            return "attack"
        named = self.key.startswith(("link_prediction", "node_classification"))
        return "utility" if named else "structure"
