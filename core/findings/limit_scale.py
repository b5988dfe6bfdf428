"""One scale for limits of different units: multiples of the limit, logarithmic."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from core.findings.verdict import Check

LOWEST = 0.1
"""Multiple of the limit at which a scale begins."""


@dataclass(frozen=True)
class LimitScale:
    """From `LOWEST` to `highest`, a power of ten."""

    highest: float

    @staticmethod
    def of(checks: Iterable[Check]) -> LimitScale:
        """A scale on which every measured value has its place."""
        most = max((check.severity for check in checks), default=0.0)
        return LimitScale(10.0 ** max(1, math.ceil(math.log10(most)) if most else 1))

    def place(self, multiple: float) -> float:
        """Share of the scale's length, in [0, 1], at a multiple of the limit."""
        if multiple <= LOWEST:
            return 0.0
        return math.log(multiple / LOWEST) / math.log(self.highest / LOWEST)

    def describe(self) -> str:
        """ "a tenth of the limit to 10 times the limit"."""
        return f"a tenth of the limit to {self.highest:,.0f} times the limit"
