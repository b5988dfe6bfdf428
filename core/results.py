"""What attacks and measures return: raw scores, and numbers with their uncertainty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

RELEASE = "release"
"""In place of an attack: the measures of a release itself."""


@dataclass(frozen=True, eq=False)
class PairScores:
    """Scores (k,) float64 for the k pairs of a LinkThreat, higher = more likely a link.

    facts: figures worth recording with the result, such as what an attacker learned from.
    """

    scores: np.ndarray
    facts: dict[str, float | str] | None = None

    def __post_init__(self) -> None:
        scores = np.asarray(self.scores, dtype=np.float64)
        if scores.ndim != 1 or not np.isfinite(scores).all():
            raise ValueError("pair scores must be one finite number per pair")
        object.__setattr__(self, "scores", scores)


@dataclass(frozen=True, eq=False)
class ClassProbabilities:
    """Probabilities (n, C) float64 for every node, rows sum to one.

    facts     figures worth recording with the result, such as the choice that tuning made
    held_out  (n, C) what the attack says of known nodes where it was not told of them, NaN in
              other rows; None where finding its settings did not take that
    """

    probabilities: np.ndarray
    facts: dict[str, float | str] | None = None
    held_out: np.ndarray | None = None

    def __post_init__(self) -> None:
        values = np.asarray(self.probabilities, dtype=np.float64)
        if values.ndim != 2 or not np.isfinite(values).all() or (values < -1e-9).any():
            raise ValueError("class probabilities must be finite, not negative, one row per node")
        if not np.allclose(values.sum(axis=1), 1.0, atol=1e-5):
            raise ValueError("class probabilities must sum to one in each row")
        object.__setattr__(self, "probabilities", values)


@dataclass(frozen=True, eq=False)
class AnonymitySets:
    """Whom an attacker cannot tell from each person, by what is known of them.

    sizes     (n,) int64 how many of the release fit what is known of person i
    contains  (n,) bool whether the person is one of them
    """

    sizes: np.ndarray
    contains: np.ndarray

    def __post_init__(self) -> None:
        if self.sizes.shape != self.contains.shape or (self.sizes < self.contains).any():
            raise ValueError("an anonymity set that contains its person must count them")


@dataclass(frozen=True, eq=False)
class Matches:
    """Whom an attacker takes each person of the second graph for.

    candidates  (k, c) int64 nodes of the release, the likeliest first, −1 where there are fewer
    confidence  (k,) float64 the attacker's own probability that the first one is right
    """

    candidates: np.ndarray
    confidence: np.ndarray

    def __post_init__(self) -> None:
        if self.candidates.ndim != 2 or len(self.candidates) != len(self.confidence):
            raise ValueError("matches must be one row of candidates and one number per person")
        if not ((self.confidence >= 0) & (self.confidence <= 1)).all():
            raise ValueError("the confidence in a match must lie between 0 and 1")


@dataclass(frozen=True)
class Estimate:
    """A number with its interval. No bare number reaches a page or the report.

    value, low, high   point and 95 % interval; all None where the sample cannot resolve it
    n       what was counted (pairs or nodes per repeat);  seeds  number of repeats
    how     method of the interval in a few words, or the reason for a missing value
    """

    value: float | None
    low: float | None
    high: float | None
    n: int
    seeds: int = 1
    how: str = ""

    @property
    def is_known(self) -> bool:
        return self.value is not None

    def __format__(self, spec: str) -> str:
        """`f"{e:.2f}"` → "0.84 [0.80, 0.88]"; the reason where there is no value."""
        if self.value is None:
            return self.how or "not resolved"
        spec = spec or ".2f"
        if self.low is None or self.high is None:
            return format(self.value, spec)
        return f"{self.value:{spec}} [{self.low:{spec}}, {self.high:{spec}}]"


@dataclass(frozen=True)
class Measurement:
    """One metric of one repeat; `combine_measurements` turns repeats into an Estimate.

    value     None where it cannot be computed; `reason` says why
    variance  sampling variance of `value` over pairs or nodes within the repeat, 0 if exact
    n         pairs or nodes counted
    population  whose secrets: "released", or "control" for people who were left out
    """

    metric: str
    value: float | None
    variance: float = 0.0
    n: int = 0
    reason: str = ""
    population: Literal["released", "control"] = "released"
