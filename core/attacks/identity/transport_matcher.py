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
from core.algorithms.matching import NO_MATCH, NUM_CANDIDATES, weigh_witnesses
from core.attacks.identity.match_course import learn_projection, rehearse
from core.attacks.identity.pair_evidence import Board
from core.attacks.identity.percolation import place_first
from core.context import Context
from core.measures.node_risk import fit_isotonic
from core.methods import IdentityAttack, MethodInfo
from core.release import Release
from core.results import Matches
from core.threats import IdentityThreat

FIRST_OVERLAP, LEAST_OVERLAP = 0.75, 0.2
TRIALS = 4
"""Overlaps that are tried, with `TRIAL_ROUNDS` rounds each."""
TRIAL_ROUNDS = 2
STEEPNESS = 4.5
"""By how much the logarithm of found over expected falls as the assumed overlap grows by 1."""
CLOSE = 0.1
"""That logarithm, below which the overlap is taken for right."""
TRUSTS = (0.5, 0.8)
"""Powers of the messages, of which the rehearsals choose one: evidence of neighbours who know
each other is not independent, least of all in dense graphs."""
SHAPE_POWER = 0.5
"""Power of the evidence from shape, which is partly that of the messages."""
GAIN = 10.0
"""Factor of the evidence of a matched neighbour; 1 would hold in a random graph."""
DAMPING = 0.6
STEPS = 10
"""Message passings of a round."""
SINKHORN = 10
CERTAIN = 30.0
"""Log odds of a seed, and the largest of all."""
ENOUGH, MOST_REHEARSALS = 1000, 3
"""People to calibrate on, and rehearsals that small graphs need for it."""
MOST_SQUARES = 5_000_000
NUM_GUESSES = 20
"""Candidates of each person that look for further ones."""
LEAST_CHANCE = 1e-4


class TransportMatcher(IdentityAttack):
    """Messages between candidate matches of linked people, and a transport plan of the beliefs.

    Candidates are those of similar neighbourhoods and, from round to round, those whom the last
    plan's matches have as neighbours. The attacker rehearses on releases made of the known graph:
    on them it fits the similarity and chooses how far to trust neighbours. Confidence is the plan's
    probability times the share right at that probability in the rehearsals. The overlap is assumed
    such that the mean probability is the same in the rehearsal as in the release.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="transport_matcher",
        title="Transport matcher",
        summary="Passes beliefs between candidate matches of linked people, one to one.",
        source="In the way of Bayati et al., Message-passing algorithms for sparse network "
        "alignment, TKDD 2013, with Sinkhorn's scaling (Cuturi, NeurIPS 2013) for the constraints",
        group="second graph",
        cost="minutes",
    )

    rounds: int = Field(5, ge=1, le=50, description="Times that candidates are looked for.")
    candidates: int = Field(
        64, ge=2, le=1000, description="Candidates per person by shape, and as many by neighbours."
    )

    def find(self, release: Release, threat: IdentityThreat, context: Context) -> Matches:
        real = Board(threat.known, release.graph, threat.seeds)
        asked = np.diff(real.here[0]) > 0
        asked[threat.seeds[:, 0]] = False
        confidence = np.zeros(len(asked))
        if asked.any() and len(real.there[1]):
            confidence[asked] = self._match(real, asked, context)[asked]
        order = np.argsort(-real.chances, axis=1, kind="stable")[:, :NUM_CANDIDATES]
        candidates = np.take_along_axis(real.guesses, order, axis=1)
        return place_first(Matches(candidates, confidence), *threat.seeds.T)

    def _match(self, real: Board, asked: np.ndarray, context: Context) -> np.ndarray:
        """Match the real pair of graphs; (k,) calibrated chance of each best candidate."""
        overlap = self._estimate_overlap(real, asked, context)
        count = min(-(-ENOUGH // int(asked.sum())), MOST_REHEARSALS)
        own, truths = self._rehearse(real, asked, overlap, count, context)
        boards = [Beliefs(board, asked, overlap, self.candidates, context) for board in own]
        results = []
        for trust in TRUSTS:
            for board in boards:
                board.run(self.rounds, trust)
            best = [board.board.best for board in boards]
            right = [(image == t)[asked] for (image, _), t in zip(best, truths, strict=True)]
            results.append((np.concatenate([c[asked] for _, c in best]), np.concatenate(right)))
        chosen = int(np.argmax([right.sum() for _, right in results]))
        Beliefs(real, asked, overlap, self.candidates, context).run(self.rounds, TRUSTS[chosen])
        # One wrong match beyond all others: few right ones are not enough for certainty.
        chances = np.append(results[chosen][0], 1.0)
        is_right = np.append(results[chosen][1], False).astype(float)
        own_chances = real.best[1]
        calibrated = fit_isotonic(chances, is_right, np.ones(len(chances)), own_chances)
        # A rehearsal is never quite like the release: both its verdict and the belief must be high.
        return np.asarray((calibrated * own_chances).clip(0.0, 1.0))

    def _estimate_overlap(self, real: Board, asked: np.ndarray, context: Context) -> float:
        """Share of the known links that the release has, by the beliefs it leads to."""
        overlap, low, high = FIRST_OVERLAP, LEAST_OVERLAP, 1.0
        for _ in range(TRIALS):
            own, _ = self._rehearse(real, asked, overlap, 1, context)
            means = []
            for board in (real, own[0]):
                beliefs = Beliefs(board, asked, overlap, self.candidates, context)
                beliefs.run(min(TRIAL_ROUNDS, self.rounds), TRUSTS[0])
                means.append(max(float(board.best[1][asked].mean()), 1e-9))
            excess = float(np.log(means[0] / means[1]))
            if abs(excess) < CLOSE:
                break
            low, high = (low, overlap) if excess < 0 else (overlap, high)
            following = overlap + excess / STEEPNESS
            overlap = following if low < following < high else (low + high) / 2
        return overlap

    @staticmethod
    def _rehearse(
        real: Board, asked: np.ndarray, overlap: float, count: int, context: Context
    ) -> tuple[list[Board], list[np.ndarray]]:
        """Rehearsed pairs of graphs and their true images; places people by shape in all."""
        own, truths = [], []
        for number in range(count):
            context.progress.check()
            release, truth = rehearse(
                real.known, real.published, overlap, context.rng("rehearsal", number)
            )
            nodes = real.seeds[:, 0]
            own.append(Board(real.known, release, np.stack([nodes, truth[nodes]], axis=1)))
            truths.append(truth)
        projection = learn_projection(own, truths, asked)
        for board in (real, *own):
            board.place(projection)
        return own, truths


class Beliefs:
    """Candidates of one pair of graphs with their log odds, improved round by round."""

    def __init__(
        self, board: Board, asked: np.ndarray, overlap: float, width: int, context: Context
    ) -> None:
        self.board, self._width, self._context = board, width, context
        self._count, self._overlap = int(asked.sum()), overlap
        board.find_near(width)
        here, there = (side.astype(np.float64) for side in (board.place_here, board.place_there))
        mean, variance = here[asked].mean(axis=0), np.maximum(here[asked].var(axis=0), 1e-6)
        self._rare_here = (0.25 * (here - mean) ** 2 / variance).sum(axis=1)
        self._rare_there = (0.25 * (there - mean) ** 2 / variance).sum(axis=1)
        self._spread = 0.5 * np.log(variance).sum()

    def run(self, rounds: int, trust: float) -> None:
        """Match anew; the board's guesses and chances are the plan's best candidates."""
        self.board.reset()
        self._codes, self._values = np.empty(0, np.int64), np.empty(0)
        for number in range(rounds):
            self._context.progress.update(number, rounds, "matching")
            self._run_round(trust)

    def _run_round(self, trust: float) -> None:
        board = self.board
        top, squares_count = self._list_candidates()
        rows, places = np.nonzero(top != NO_MATCH)
        images = top[rows, places]
        order = np.lexsort((images, rows))
        rows, places, images = rows[order], places[order], images[order]
        degrees, other = np.diff(board.here[0])[rows], np.diff(board.there[0])[images]
        slots, other_slots = np.append(0, np.cumsum(degrees)), np.append(0, np.cumsum(other))
        squares = Squares(*(np.empty(squares_count, np.int32) for _ in Squares._fields))
        starts = np.searchsorted(rows, np.arange(len(top) + 1))
        fill_squares(*board.here, *board.there, starts, images, slots, other_slots, squares)
        share = np.minimum(self._overlap / np.maximum(np.maximum(degrees, other), 1), 0.8)
        weights = GAIN * self._count * share / (1.0 - share)
        prior = self._judge_shape(rows, images)
        scales = np.ones(board.known.num_nodes), np.ones(board.published.num_nodes)
        codes = rows * np.int64(board.published.num_nodes) + images
        values = self._recall(codes, prior)
        messages, other_messages = np.zeros(slots[-1]), np.zeros(other_slots[-1])
        plan = scale_to_plan(rows, images, values, *scales, 2 * SINKHORN)
        for step in range(STEPS):
            self._context.progress.check()
            total = pass_messages(
                squares, plan, weights, trust, DAMPING if step else 0.0,
                slots, messages, other_slots, other_messages,
            )  # fmt: skip
            values = np.minimum(prior + total, CERTAIN)
            plan = scale_to_plan(rows, images, values, *scales, SINKHORN)
        self._codes, self._values = codes, values
        table = np.zeros(top.shape)
        table[rows, places] = plan
        best = np.argsort(-table, axis=1, kind="stable")[:, :NUM_GUESSES]
        board.guess(np.take_along_axis(top, best, 1), np.take_along_axis(table, best, 1))

    def _list_candidates(self) -> tuple[np.ndarray, int]:
        """(k, c) candidates by witnesses, then by shape, and the number of their squares; fewer
        of each kind where there would be too many squares."""
        board, width = self.board, self._width
        while True:
            near = np.ascontiguousarray(board.near[:, :width])
            shape = (board.known.num_nodes, width + near.shape[1])
            top, values = np.empty(shape, np.int64), np.empty((*shape, 3))
            weigh_witnesses(
                *board.here, *board.there, np.ascontiguousarray(board.guesses),
                np.ascontiguousarray(board.chances), LEAST_CHANCE, near, top, values,
                np.empty(shape[0]), np.empty(board.published.num_nodes),
            )  # fmt: skip
            nodes, images = board.seeds.T
            top[np.isin(top, images)] = NO_MATCH
            top[nodes] = NO_MATCH
            top[nodes, 0] = images
            ordered = np.sort(top, axis=1)
            is_candidate = ordered != NO_MATCH
            starts = np.append(0, np.cumsum(is_candidate.sum(axis=1)))
            count = count_squares(*board.here, *board.there, starts, ordered[is_candidate])
            if count <= MOST_SQUARES or width <= 2:
                return top, count
            width //= 2

    def _judge_shape(self, rows: np.ndarray, images: np.ndarray) -> np.ndarray:
        """(p,) log odds by shape, Gaussian in the learned directions, of one in `count`."""
        board = self.board
        step = board.place_here[rows].astype(np.float64) - board.place_there[images]
        ratio = -0.5 * (step**2).sum(axis=1) + self._spread
        ratio += self._rare_here[rows] + self._rare_there[images]
        odds = SHAPE_POWER * ratio - np.log(self._count)
        is_seed = np.zeros(board.known.num_nodes, bool)
        is_seed[board.seeds[:, 0]] = True
        return np.where(is_seed[rows], CERTAIN, np.minimum(odds, CERTAIN))

    def _recall(self, codes: np.ndarray, prior: np.ndarray) -> np.ndarray:
        """(p,) the last round's log odds, `prior` for new candidates."""
        if not len(self._codes):
            return prior
        place = np.searchsorted(self._codes, codes).clip(0, len(self._codes) - 1)
        return np.where(self._codes[place] == codes, self._values[place], prior)
