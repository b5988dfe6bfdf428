"""Supervised matcher: classifiers of matches trained on simulated releases."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import Field

from core.attacks.identity.candidate_matches import CandidateAttack, CandidateMatches
from core.attacks.identity.matcher_training import PERCOLATION_INTERVAL, MatcherTraining
from core.context import Context
from core.methods import MethodInfo

TRIALS = 4
"""Candidate overlaps."""
FIRST_OVERLAP = 0.85
MIN_OVERLAP = 0.2
STEEPNESS = 4.5
"""Decrease of log(found / expected) per unit of assumed overlap."""
MIN_STEP = 0.02
"""Tolerance of the overlap."""
MAX_EXCESS, MAX_DEFICIT = 0.3, 0.1
"""Tolerance of log(found / expected): too large an overlap gives wrong matches, too small a one
too few."""
MIN_GAIN = 0.03
"""Improvement of the mean probability between percolations below which rounds end."""


class SupervisedMatcher(CandidateAttack):
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
        summary="Trains a classifier of matches on simulated releases of the auxiliary graph.",
        source="After Sharad and Danezis, An automated social graph de-anonymization "
        "technique, WPES 2014; witnesses as in Yartseva and Grossglauser, COSN 2013, weighted "
        "by their probabilities",
        group="second graph",
        cost="seconds",
    )
    links_networks: ClassVar[bool] = True

    rounds: int = Field(
        18, ge=3, le=99, description="Maximum number of rounds; fewer if nothing new is found."
    )
    trees: int = Field(60, ge=1, le=1000, description="Trees of the classifier of each round.")

    def _match(self, real: CandidateMatches, targets: np.ndarray, context: Context) -> np.ndarray:
        overlap, low, high = FIRST_OVERLAP, MIN_OVERLAP, 1.0
        for trial in range(TRIALS):
            training = MatcherTraining(real, targets, overlap, self.trees, context)
            excess = self._run(training, real, targets, trial == TRIALS - 1)
            if excess < 0:
                high = overlap
            elif excess > 0:
                low = overlap
            following = overlap + 1.2 * excess / STEEPNESS
            if not low < following < high:
                following = (overlap + (low if excess < 0 else high)) / 2
            if not excess or abs(following - overlap) < MIN_STEP:
                break
            overlap = following
        return training.compute_confidence()

    def _run(
        self, training: MatcherTraining, real: CandidateMatches, targets: np.ndarray, is_last: bool
    ) -> float:
        """Result of `compare_probabilities`, at the end or as soon as the overlap is rejected.

        Too small an overlap is rejected at once or never, and only makes the attack conservative.
        """
        reached, excess = 0.0, 0.0
        for number in range(self.rounds):
            training.run_round(number, self.rounds)
            if number != 1 and (number + 1) % PERCOLATION_INTERVAL:
                continue
            excess = training.compare_probabilities()
            is_wrong = excess < -MAX_DEFICIT or (number == 1 and excess > MAX_EXCESS)
            mean = float(real.best[1][targets].mean())
            is_done = number > PERCOLATION_INTERVAL and mean <= (1 + MIN_GAIN) * reached
            if is_done or (is_wrong and not is_last):
                break
            reached = mean
        return excess if is_wrong else 0.0
