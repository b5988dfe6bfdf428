"""Results of attacks and measures: raw scores, and figures with their uncertainty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

RELEASE = "release"
"""Method id of the measures of a release itself."""

ONE_SCORE = "one_score"
"""Fact of a link attack that gave all judged pairs one score."""


@dataclass(frozen=True, eq=False)
class PairScores:
    """Scores (k,) float64 for the k pairs of a LinkThreat, higher = more likely a link.

    facts: figures recorded with the result.
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

    facts     figures recorded with the result, such as tuned settings
    held_out  (n, C) out-of-fold predictions of known nodes, NaN in other rows; None if tuning did
              not produce them
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
    """Anonymity set of each node under given background knowledge.

    sizes     (n,) int64 number of nodes of the release that match the knowledge about node i
    contains  (n,) bool whether node i is among them
    confidence  (n,) the attacker's probability of that; None: it takes its knowledge for exact
    """

    sizes: np.ndarray
    contains: np.ndarray
    confidence: np.ndarray | None = None

    def __post_init__(self) -> None:
        if self.sizes.shape != self.contains.shape or (self.sizes < self.contains).any():
            raise ValueError("an anonymity set that contains its person must count them")


@dataclass(frozen=True, eq=False)
class Matches:
    """Candidates of an attacker for each node of the auxiliary graph.

    candidates  (k, c) int64 nodes of the release, likeliest first, −1 if fewer
    confidence  (k,) float64 the attacker's probability that the first one is right
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
    """A number with its interval.

    value, low, high   point and 95 % interval; all None if the sample cannot resolve it
    n       number counted (pairs or nodes per repeat);  seeds  number of repeats
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
        """`f"{e:.2f}"` → "0.84 [0.80, 0.88]"; the reason if there is no value."""
        if self.value is None:
            return self.how or "not resolved"
        spec = spec or ".2f"
        if self.low is None or self.high is None:
            return format(self.value, spec)
        return f"{self.value:{spec}} [{self.low:{spec}}, {self.high:{spec}}]"


@dataclass(frozen=True)
class Measurement:
    """One metric of one repeat; `combine_measurements` turns repeats into an Estimate.

    value     None if it cannot be computed; `reason` states why
    variance  sampling variance of `value` over pairs or nodes within the repeat, 0 if exact, None
              if unknown
    n         pairs or nodes counted
    trials    of a share: independent outcomes, yes or no, of which it is one; 0: it is none, or of
              an earlier version
    population  "released", or "control" for control nodes
    """

    metric: str
    value: float | None
    variance: float | None = 0.0
    n: int = 0
    reason: str = ""
    population: Literal["released", "control"] = "released"
    trials: float = 0.0
