"""Supervised matcher: classifiers of matches trained on simulated releases."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import Field

from core.algorithms.matching import NUM_CANDIDATES
from core.attacks.identity.match_course import PERCOLATION, Course
from core.attacks.identity.pair_evidence import Board
from core.attacks.identity.percolation import place_first
from core.context import Context
from core.methods import IdentityAttack, MethodInfo
from core.release import Release
from core.results import Matches
from core.threats import IdentityThreat

TRIALS = 4
"""Candidate overlaps."""
FIRST_OVERLAP = 0.85
LEAST_OVERLAP = 0.2
STEEPNESS = 4.5
"""Decrease of log(found / expected) per unit of assumed overlap."""
LEAST_STEP = 0.02
"""Tolerance of the overlap."""
MODESTY, BOLDNESS = 0.3, 0.1
"""Tolerance of log(found / expected): too large an overlap gives wrong matches, too small a one
too few."""
LEAST_GAIN = 0.03
"""Improvement of the mean probability between percolations below which rounds end."""


class SupervisedMatcher(IdentityAttack):
    """A cascade of classifiers of pairs, trained on simulated releases with known matches.

    The attacker simulates a release of its auxiliary graph with the real one's numbers of links and
    triangles and processes both alike: candidates by structure and witnesses, boosted trees that
    estimate the probability of each, rounds in which matches are witnesses with the last round's
    probability, and percolation where it finds more in the simulation. The overlap of the two
    graphs is found by trial: if it is assumed too large, less is found in the real release than in
    the simulated one. Confidence is the accuracy in the simulation.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="supervised_matcher",
        title="Supervised matcher",
        summary="Makes a release of its own graph and learns there what a right match looks like.",
        source="In the way of Sharad and Danezis, An automated social graph de-anonymization "
        "technique, WPES 2014; witnesses as in Yartseva and Grossglauser, COSN 2013, weighed by "
        "their chances",
        group="second graph",
        cost="seconds",
    )

    rounds: int = Field(
        18, ge=3, le=99, description="Rounds at most; fewer where nothing new is found."
    )
    trees: int = Field(60, ge=1, le=1000, description="Trees of the classifier of each round.")

    def find(self, release: Release, threat: IdentityThreat, context: Context) -> Matches:
        real = Board(threat.known, release.graph, threat.seeds)
        asked = np.diff(real.here[0]) > 0
        asked[threat.seeds[:, 0]] = False
        confidence = np.zeros(len(asked))
        if asked.any() and len(real.there[1]):
            confidence[asked] = self._match(real, asked, context).calibrate()[asked]
        order = np.argsort(-real.chances, axis=1, kind="stable")[:, :NUM_CANDIDATES]
        candidates = np.take_along_axis(real.guesses, order, axis=1)
        return place_first(Matches(candidates, confidence), *threat.seeds.T)

    def _match(self, real: Board, asked: np.ndarray, context: Context) -> Course:
        """The finished course of the best fitting overlap."""
        overlap, low, high = FIRST_OVERLAP, LEAST_OVERLAP, 1.0
        for trial in range(TRIALS):
            course = Course(real, asked, overlap, self.trees, context)
            excess = self._run(course, real, asked, trial == TRIALS - 1)
            if excess < 0:
                high = overlap
            elif excess > 0:
                low = overlap
            following = overlap + 1.2 * excess / STEEPNESS
            if not low < following < high:
                following = (overlap + (low if excess < 0 else high)) / 2
            if not excess or abs(following - overlap) < LEAST_STEP:
                break
            overlap = following
        return course

    def _run(self, course: Course, real: Board, asked: np.ndarray, is_last: bool) -> float:
        """Result of `Course.compare`, at the end or as soon as the overlap is rejected.

        Too small an overlap is rejected at once or never, and only makes the attack conservative.
        """
        reached, excess = 0.0, 0.0
        for number in range(self.rounds):
            course.hold(number, self.rounds)
            if number != 1 and (number + 1) % PERCOLATION:
                continue
            excess = course.compare()
            is_wrong = excess < -BOLDNESS or (number == 1 and excess > MODESTY)
            mean = float(real.best[1][asked].mean())
            is_done = number > PERCOLATION and mean <= (1 + LEAST_GAIN) * reached
            if is_done or (is_wrong and not is_last):
                break
            reached = mean
        return excess if is_wrong else 0.0
