"""Transport matcher: belief propagation over candidate matches, scaled to a one-to-one plan."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import Field

from core.algorithms.belief_matching import (
    Squares,
    count_squares,
    fill_squares,
    pass_messages,
    scale_to_plan,
)
from core.algorithms.matching import NO_MATCH, weigh_witnesses
from core.attacks.identity.candidate_matches import CandidateAttack, CandidateMatches
from core.attacks.identity.matcher_training import simulate_matches
from core.context import Context
from core.measures.node_risk import fit_isotonic
from core.methods import MethodInfo

FIRST_OVERLAP, MIN_OVERLAP = 0.75, 0.2
TRIALS = 4
"""Overlaps that are tried, with `TRIAL_ROUNDS` rounds each."""
TRIAL_ROUNDS = 2
STEEPNESS = 4.5
"""By how much the logarithm of found over expected falls as the assumed overlap grows by 1."""
OVERLAP_TOLERANCE = 0.1
"""That logarithm, below which the overlap is taken for right."""
MESSAGE_POWERS = (0.5, 0.8)
"""Powers of the messages, chosen on the simulations: the evidence of neighbours that are linked to
each other is not independent, least of all in dense graphs."""
FEATURE_POWER = 0.5
"""Power of the structural evidence, which is partly that of the messages."""
GAIN = 10.0
"""Factor of the evidence of a matched neighbour; 1 would hold in a random graph."""
DAMPING = 0.6
STEPS = 10
"""Message passings of a round."""
SINKHORN = 10
MAX_LOG_ODDS = 30.0
"""Log odds of a seed, and the largest of all."""
MIN_CALIBRATION_NODES, MAX_SIMULATIONS = 1000, 3
"""Minimum number of nodes to calibrate on: small graphs are simulated several times."""
MAX_SQUARES = 1_500_000
"""Most squares in a round, of which there are about 45: under two CPU minutes at 1,000 nodes."""
NUM_EXPANDED = 20
"""Candidates of each node whose neighbours become candidates."""
MIN_PROBABILITY = 1e-4


class TransportMatcher(CandidateAttack):
    """Messages between candidate matches of linked people, and a transport plan of the beliefs.

    Candidates are those of similar neighbourhoods and, from round to round, those whom the last
    plan's matches have as neighbours. The attacker simulates releases of the known graph, on which
    it fits the similarity and chooses the power of the messages. Confidence is the plan's
    probability times the accuracy at that probability in the simulations. The overlap is chosen
    such that the mean probability in the simulation equals that in the release.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="transport_matcher",
        title="Transport matcher",
        summary="Passes beliefs between candidate matches of linked people, one to one.",
        source="After Bayati et al., Message-passing algorithms for sparse network "
        "alignment, TKDD 2013, with Sinkhorn's scaling (Cuturi, NeurIPS 2013) for the constraints",
        group="second graph",
        cost="minutes",
        version=2,
    )
    links_networks: ClassVar[bool] = True

    rounds: int = Field(5, ge=1, le=50, description="Rounds of candidate search.")
    candidates: int = Field(
        64,
        ge=2,
        le=1000,
        description="Candidates per node by structure, and as many by neighbours.",
    )

    def _match(self, real: CandidateMatches, targets: np.ndarray, context: Context) -> np.ndarray:
        """Match the real pair of graphs; (k,) calibrated probability of each best candidate."""
        overlap = self._estimate_overlap(real, targets, context)
        count = min(-(-MIN_CALIBRATION_NODES // int(targets.sum())), MAX_SIMULATIONS)
        simulated, truths = simulate_matches(real, targets, overlap, count, context)
        beliefs = [
            MatchBeliefs(matches, targets, overlap, self.candidates, context)
            for matches in simulated
        ]
        results = []
        for power in MESSAGE_POWERS:
            for each in beliefs:
                each.run(self.rounds, power)
            best = [each.matches.best for each in beliefs]
            right = [(image == t)[targets] for (image, _), t in zip(best, truths, strict=True)]
            results.append((np.concatenate([c[targets] for _, c in best]), np.concatenate(right)))
        chosen = int(np.argmax([right.sum() for _, right in results]))
        MatchBeliefs(real, targets, overlap, self.candidates, context).run(
            self.rounds, MESSAGE_POWERS[chosen]
        )
        # One wrong match beyond all others: few right ones are not enough for certainty.
        probabilities = np.append(results[chosen][0], 1.0)
        is_right = np.append(results[chosen][1], False).astype(float)
        real_probabilities = real.best[1]
        calibrated = fit_isotonic(
            probabilities, is_right, np.ones(len(probabilities)), real_probabilities
        )
        # Simulations differ from the release: accuracy there and probability here must be high.
        return np.asarray((calibrated * real_probabilities).clip(0.0, 1.0))

    def _estimate_overlap(
        self, real: CandidateMatches, targets: np.ndarray, context: Context
    ) -> float:
        """Share of the known links that the release has, by the beliefs it leads to."""
        overlap, low, high = FIRST_OVERLAP, MIN_OVERLAP, 1.0
        for _ in range(TRIALS):
            simulated, _ = simulate_matches(real, targets, overlap, 1, context)
            means = []
            for matches in (real, simulated[0]):
                beliefs = MatchBeliefs(matches, targets, overlap, self.candidates, context)
                beliefs.run(min(TRIAL_ROUNDS, self.rounds), MESSAGE_POWERS[0])
                means.append(max(float(matches.best[1][targets].mean()), 1e-9))
            excess = float(np.log(means[0] / means[1]))
            if abs(excess) < OVERLAP_TOLERANCE:
                break
            low, high = (low, overlap) if excess < 0 else (overlap, high)
            following = overlap + excess / STEEPNESS
            overlap = following if low < following < high else (low + high) / 2
        return overlap


class MatchBeliefs:
    """Candidates of one pair of graphs with their log odds, improved round by round."""

    def __init__(
        self,
        matches: CandidateMatches,
        targets: np.ndarray,
        overlap: float,
        width: int,
        context: Context,
    ) -> None:
        self.matches, self._width, self._context = matches, width, context
        self._count, self._overlap = int(targets.sum()), overlap
        matches.find_nearest(width)
        known, published = (
            positions.astype(np.float64)
            for positions in (matches.known_positions, matches.published_positions)
        )
        mean, variance = known[targets].mean(axis=0), np.maximum(known[targets].var(axis=0), 1e-6)
        self._known_rarity = (0.25 * (known - mean) ** 2 / variance).sum(axis=1)
        self._published_rarity = (0.25 * (published - mean) ** 2 / variance).sum(axis=1)
        self._spread = 0.5 * np.log(variance).sum()

    def run(self, rounds: int, power: float) -> None:
        """Match anew; sets the candidates to the plan's best ones."""
        self.matches.reset()
        self._codes, self._values = np.empty(0, np.int64), np.empty(0)
        for number in range(rounds):
            self._context.progress.update(number, rounds, "matching")
            self._run_round(power)

    def _run_round(self, power: float) -> None:
        matches = self.matches
        top, squares_count = self._list_candidates()
        rows, places = np.nonzero(top != NO_MATCH)
        images = top[rows, places]
        order = np.lexsort((images, rows))
        rows, places, images = rows[order], places[order], images[order]
        degrees, other = (
            np.diff(matches.known_neighbors[0])[rows],
            np.diff(matches.published_neighbors[0])[images],
        )
        slots, other_slots = np.append(0, np.cumsum(degrees)), np.append(0, np.cumsum(other))
        squares = Squares(*(np.empty(squares_count, np.int32) for _ in Squares._fields))
        starts = np.searchsorted(rows, np.arange(len(top) + 1))
        fill_squares(
            *matches.known_neighbors,
            *matches.published_neighbors,
            starts,
            images,
            slots,
            other_slots,
            squares,
        )
        share = np.minimum(self._overlap / np.maximum(np.maximum(degrees, other), 1), 0.8)
        weights = GAIN * self._count * share / (1.0 - share)
        prior = self._compute_prior(rows, images)
        scales = np.ones(matches.known.num_nodes), np.ones(matches.published.num_nodes)
        codes = rows * np.int64(matches.published.num_nodes) + images
        values = self._look_up_log_odds(codes, prior)
        messages, other_messages = np.zeros(slots[-1]), np.zeros(other_slots[-1])
        plan = scale_to_plan(rows, images, values, *scales, 2 * SINKHORN)
        for step in range(STEPS):
            self._context.progress.check()
            total = pass_messages(
                squares, plan, weights, power, DAMPING if step else 0.0,
                slots, messages, other_slots, other_messages,
            )  # fmt: skip
            values = np.minimum(prior + total, MAX_LOG_ODDS)
            plan = scale_to_plan(rows, images, values, *scales, SINKHORN)
        self._codes, self._values = codes, values
        table = np.zeros(top.shape)
        table[rows, places] = plan
        best = np.argsort(-table, axis=1, kind="stable")[:, :NUM_EXPANDED]
        matches.set_candidates(np.take_along_axis(top, best, 1), np.take_along_axis(table, best, 1))

    def _list_candidates(self) -> tuple[np.ndarray, int]:
        """(k, c) candidates by witnesses, then by structure, and the number of their squares; fewer
        of each kind if there would be too many squares."""
        matches, width = self.matches, self._width
        while True:
            near = np.ascontiguousarray(matches.nearest[:, :width])
            shape = (matches.known.num_nodes, width + near.shape[1])
            top, values = np.empty(shape, np.int64), np.empty((*shape, 3))
            weigh_witnesses(
                *matches.known_neighbors, *matches.published_neighbors,
                np.ascontiguousarray(matches.candidates),
                np.ascontiguousarray(matches.probabilities), MIN_PROBABILITY, near, top, values,
                np.empty(shape[0]), np.empty(matches.published.num_nodes),
            )  # fmt: skip
            nodes, images = matches.seeds.T
            top[np.isin(top, images)] = NO_MATCH
            top[nodes] = NO_MATCH
            top[nodes, 0] = images
            ordered = np.sort(top, axis=1)
            is_candidate = ordered != NO_MATCH
            starts = np.append(0, np.cumsum(is_candidate.sum(axis=1)))
            count = count_squares(
                *matches.known_neighbors,
                *matches.published_neighbors,
                starts,
                ordered[is_candidate],
            )
            if count <= MAX_SQUARES or width <= 2:
                return top, count
            width //= 2

    def _compute_prior(self, rows: np.ndarray, images: np.ndarray) -> np.ndarray:
        """(p,) log odds by structure: Gaussian in the learned directions, base rate 1 / `count`."""
        matches = self.matches
        step = (
            matches.known_positions[rows].astype(np.float64) - matches.published_positions[images]
        )
        ratio = -0.5 * (step**2).sum(axis=1) + self._spread
        ratio += self._known_rarity[rows] + self._published_rarity[images]
        odds = FEATURE_POWER * ratio - np.log(self._count)
        is_seed = np.zeros(matches.known.num_nodes, bool)
        is_seed[matches.seeds[:, 0]] = True
        return np.where(is_seed[rows], MAX_LOG_ODDS, np.minimum(odds, MAX_LOG_ODDS))

    def _look_up_log_odds(self, codes: np.ndarray, prior: np.ndarray) -> np.ndarray:
        """(p,) the last round's log odds, `prior` for new candidates."""
        if not len(self._codes):
            return prior
        place = np.searchsorted(self._codes, codes).clip(0, len(self._codes) - 1)
        return np.where(self._codes[place] == codes, self._values[place], prior)
