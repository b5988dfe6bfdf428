"""Denoised blocks: values inferred from links whose known noise is subtracted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from pydantic import Field
from scipy import sparse
from scipy.special import softmax

from core.algorithms.class_propagation import fit_power, sharpen
from core.context import Context
from core.methods import AttributeAttack, MethodInfo
from core.models.pooling import fit_weights, pool
from core.models.tuning import draw_folds, hold_out, learn_logistic
from core.node_column import MISSING
from core.privacy.real_links import find_flip
from core.release import Release
from core.results import ClassProbabilities
from core.threats import AttributeThreat, count_shares

NUM_FOLDS = 3
FORMS = "rates of known nodes", "directions", "rates of all nodes"
"""Predictions that are pooled, as their weights are recorded."""
EVENNESS = 1.0
"""Penalty of the pool towards equal weights."""
MORE_DIRECTIONS = 32
"""Directions beyond the number of classes that are looked for."""
TOLERANCE = 1e-3
"""Relative error of an eigenvalue: far below the noise."""
PENALTY = 10.0
"""Inverse penalty of the regression on the directions."""
LEAST_CHANCE = 1e-12
"""Least probability of a class."""
DAMPING = 0.8
"""Share of the former probabilities kept in each round: sure too soon, classes feed on noise."""
LEAST_DEGREE = 0.05
"""Smallest estimated degree, relative to the mean."""
LEAST_SPREAD = 1e-3
"""Smallest variance of rates between classes, and least noise in the weights of their mean."""

LEAST_PAIRS, UNKNOWN = 1e-9, 1e12
"""Expected links by degree below which a rate is not estimated, and its variance."""


class DenoisedBlocks(AttributeAttack):
    """A block model whose blocks are the classes, of links flipped at a public rate.

    The matrix of links minus the flip rate, over 1 − 2 · rate, is an unbiased estimate of the
    defended one, and is never made: products with it are sparse ones and sums. Rates between
    classes, shrunk towards their mean as far as they are noise, and classes by the likelihood with
    normal noise (mean field) follow in turns.

    Rates of few known nodes may be wrong, even in sign, and a class may be several communities. So
    three forms are pooled: rates of the known nodes alone; a logistic regression on the directions
    of the matrix that exceed its noise, which the known nodes need only name; and rates of all
    nodes, begun with its values. How sure each is, and its weight, is chosen on known nodes held
    out.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="denoised_blocks",
        title="Denoised blocks",
        summary="Subtracts the known noise of randomised links and infers values from the rest.",
        source=(
            "Warner, JASA 1965 (unbiased estimate); Karrer and Newman, Phys. Rev. E 83, 2011 "
            "(degrees); Daudin, Picard and Robin, Statistics and Computing 18, 2008 (mean field); "
            "Füredi and Komlós, Combinatorica 1, 1981 (directions of noise)"
        ),
        group="propagation",
        version=2,
    )
    holds_out = True
    rounds: int = Field(default=12, ge=0, le=1000, description="Rounds after the first guess.")

    def supports(self, release: Release, threat: AttributeThreat) -> str | None:
        if find_flip(release) is None:
            return "needs a release whose links were flipped with a known probability"
        return None

    def infer(
        self, release: Release, threat: AttributeThreat, context: Context
    ) -> ClassProbabilities:
        noisy, observed, classes = read_noisy_links(release), threat.observed, threat.num_classes
        prior, places = threat.observed_shares, find_directions(noisy, classes)
        parts = list(hold_out(observed, draw_folds(observed, NUM_FOLDS, context.rng("folds"))))
        held_out = np.full((len(FORMS), len(observed), classes), np.nan)
        for number, (visible, fold) in enumerate(parts):
            context.progress.update(number, len(parts) + 1, "subtracting the noise")
            values = infer_forms(noisy, places, visible, classes, self.rounds)
            held_out[:, fold] = np.log(values[:, fold]) - np.log(prior)
        told = np.flatnonzero(~np.isnan(held_out[0, :, 0]))
        logits = np.log(infer_forms(noisy, places, observed, classes, self.rounds)) - np.log(prior)
        powers = [fit_power(form[told], prior, observed[told]) for form in held_out]
        for form, tried, power in zip(logits, held_out, powers, strict=True):
            form[:], tried[told] = sharpen(form, prior, power), sharpen(tried[told], prior, power)
        weights = fit_weights(held_out[:, told], observed[told], EVENNESS, least=0.0)
        held_out[0, told] = pool(held_out[:, told], weights)
        facts: dict[str, float | str] = dict(zip(FORMS, weights.tolist(), strict=True))
        return ClassProbabilities(pool(logits, weights), facts, held_out[0])


def infer_forms(
    noisy: NoisyLinks, places: np.ndarray, observed: np.ndarray, num_classes: int, rounds: int
) -> np.ndarray:
    """(3, n, C) positive, by each of `FORMS`: class probabilities from `places` (n, r) of
    `find_directions` and codes (n,), MISSING where unknown."""
    named = learn_logistic(places, observed, num_classes, PENALTY)(slice(None))
    forms = [
        infer_values(noisy, observed, num_classes, rounds),
        named,
        infer_values(noisy, observed, num_classes, rounds, named),
    ]
    return np.asarray(np.maximum(forms, LEAST_CHANCE))


@dataclass(frozen=True, eq=False)
class NoisyLinks:
    """Links W (n, n) of a release; a pair is reported wrongly with probability `flip`.

    noise  variance of an entry of `multiply`'s matrix by the flips
    theta  (n,) estimated degrees over the root of their sum: pairs link at θ_i θ_j by degree alone
    """

    links: sparse.csr_array
    flip: float
    noise: float
    theta: np.ndarray

    def multiply(self, table: np.ndarray) -> np.ndarray:
        """(n, c): (W − flip) / (1 − 2 flip) times `table` (n, c), the diagonal left out."""
        return subtract_flips(self.links, self.flip, table)


def subtract_flips(links: sparse.csr_array, flip: float, table: np.ndarray) -> np.ndarray:
    """(n, c) product of the unbiased estimate of the links, zero on the diagonal, and `table`."""
    product = links @ table - flip * (table.sum(axis=0) - table)
    return np.asarray(product / (1.0 - 2.0 * flip))


def read_noisy_links(release: Release) -> NoisyLinks:
    """The links of a release with a known flip probability, and degrees as in
    `mechanism_posterior`: noise subtracted, then shrunk to the mean by its variance."""
    flips = find_flip(release)
    assert flips is not None
    flip, reports = flips
    links = sparse.csr_array(release.graph.adjacency, dtype=np.float64)
    n, noise = links.shape[0], flip * (1.0 - flip) / reports / (1.0 - 2.0 * flip) ** 2
    counted = subtract_flips(links, flip, np.ones((n, 1)))[:, 0]
    mean, spread = max(float(counted.mean()), 1.0 / n), float(counted.var())
    share = max(1.0 - (n - 1) * noise / spread, 0.0) if spread > 0 else 0.0
    degrees = np.maximum(mean + share * (counted - mean), LEAST_DEGREE * mean)
    density = min(mean / max(n - 1, 1), 1.0)
    return NoisyLinks(links, flip, noise + density, degrees / np.sqrt(degrees.sum()))


def find_directions(noisy: NoisyLinks, num_classes: int) -> np.ndarray:
    """(n, r) coordinates of the nodes in the eigenvectors whose eigenvalues exceed those of noise
    alone, 2 √(n · variance) (Füredi and Komlós, 1981); at least C, at most `MORE_DIRECTIONS` more.

    Of mean squared length 1.
    """
    from scipy.sparse.linalg import LinearOperator, eigsh

    n, most = len(noisy.theta), num_classes + MORE_DIRECTIONS
    if n <= 2 * most:
        values, vectors = np.linalg.eigh(noisy.multiply(np.eye(n)))
    else:
        product = LinearOperator(
            (n, n),
            matvec=lambda column: noisy.multiply(column.reshape(n, 1))[:, 0],
            matmat=noisy.multiply,
            dtype=np.float64,
        )
        values, vectors = eigsh(product, most, v0=noisy.theta, tol=TOLERANCE)
    order = np.argsort(-np.abs(values))[:most]
    above = int((np.abs(values) > 2.0 * np.sqrt(n * noisy.noise)).sum())
    kept = order[: max(above, num_classes)]
    places = vectors[:, kept] * values[kept]
    return np.asarray(places / max(float(np.sqrt((places**2).sum(axis=1).mean())), LEAST_CHANCE))


def infer_values(
    noisy: NoisyLinks,
    observed: np.ndarray,
    num_classes: int,
    rounds: int,
    start: np.ndarray | None = None,
) -> np.ndarray:
    """(n, C) positive class probabilities from codes (n,), MISSING where unknown.

    start  (n, C) first guess, from which rates follow the inferred classes; None: rates of the
           known nodes alone
    """
    known, prior = observed != MISSING, count_shares(observed, num_classes)
    truth, theta = np.eye(num_classes)[observed[known]], noisy.theta[:, None]
    values = np.zeros((len(observed), num_classes)) if start is None else start.copy()
    values[known] = truth
    for number in range(rounds + (start is None)):
        weighted = theta * values
        reached = noisy.multiply(np.concatenate([weighted, values], axis=1))
        if number == 0 or start is not None:
            rates = estimate_rates(noisy, values, weighted, reached[:, num_classes:])
        mass = (theta * weighted).sum(axis=0) - theta * weighted
        odds = theta * (reached[:, :num_classes] @ rates) - theta**2 * (mass @ rates**2) / 2.0
        latest = softmax(np.log(prior) + odds / noisy.noise, axis=1)
        latest[known] = truth
        is_first = number == 0 and start is None
        values = latest if is_first else DAMPING * values + (1.0 - DAMPING) * latest
    values = np.maximum(values, LEAST_CHANCE)
    return np.asarray(values / values.sum(axis=1, keepdims=True))


def estimate_rates(
    noisy: NoisyLinks, values: np.ndarray, weighted: np.ndarray, reached: np.ndarray
) -> np.ndarray:
    """(C, C) links between classes relative to those by degree, from (n, C) class probabilities,
    these times θ, and the links that reach each class.

    Shrunk to the mean rate within classes or between them, by the variance of the noise and that of
    the rates (empirical Bayes).
    """
    mass = weighted.sum(axis=0)
    pairs = np.maximum(np.outer(mass, mass) - weighted.T @ weighted, LEAST_PAIRS)
    found = (values.T @ reached) / pairs
    sizes = (values**2).sum(axis=0)
    noise = noisy.noise * np.outer(sizes, sizes) / pairs**2
    noise[pairs == LEAST_PAIRS] = UNKNOWN  # of a class of nobody, or of one person to itself
    within = np.eye(len(mass), dtype=bool)
    rates = np.empty_like(found)
    for kind in (within, ~within):
        if not kind.any():
            continue
        weights = 1.0 / (noise[kind] + LEAST_SPREAD)
        mean = max(float(np.average(found[kind], weights=weights)), 0.0)
        excess = np.average((found[kind] - mean) ** 2 - noise[kind], weights=weights**2)
        spread = max(float(excess), LEAST_SPREAD)
        rates[kind] = mean + (found[kind] - mean) * spread / (spread + noise[kind])
    return np.asarray(np.maximum(rates, 0.0))
