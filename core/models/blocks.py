"""Blocks of a graph by model selection, and their classes from known nodes and class shares."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln, logsumexp

from core.context import Context
from core.graph import Graph
from core.models.block_model import BlockModel, Blocks, Fitting
from core.models.evidence import compute_spectrum
from core.node_column import MISSING
from core.progress import PartProgress

SIZES = (2, 3, 4, 5, 6, 8, 12, 16, 24, 32, 48, 64)
"""Numbers of blocks tried, until two in a row do not improve."""
COARSE = 0.03
"""Mean change of a node in a round at which a number of blocks may be better than fewer. The best,
and one that would not be better, are fitted on: blocks that meet unevenly may be found late."""
START_PROBABILITY = 0.8
"""Initial probability of a node's starting block."""
LARGEST_SAMPLE = 20_000
"""Nodes used to find the starting centres."""

PURITIES = (0.95, 0.8, 0.5)
"""Share of a block that has its class, if it has one; the rest follows the class shares."""
CERTAINTIES = (1.0, 4.0, 16.0)
"""Pseudo-counts of the prior of a block that has a class."""
CAUTIONS = (0.3, 1.0, 3.0, 10.0, 100.0)
"""Pseudo-counts of the prior if blocks are independent of classes."""
TOLERANCE = 0.05
"""Standard deviation of block sizes around the class shares, if blocks are classes."""
MAX_ASSIGNMENTS = 20_000
"""Number of class assignments up to which all are enumerated."""


def find_blocks(graph: Graph, max_blocks: int, context: Context) -> list[Blocks]:
    """The best degree-corrected and the best uncorrected block model, if better than chance.

    The links alone do not show which of the two follows the class.
    """
    sizes = [size for size in SIZES if size <= min(max_blocks, graph.num_nodes - 1)]
    if not sizes or not graph.num_edges:
        return []
    spectrum = compute_spectrum(graph, max(sizes), int(context.rng("svd").integers(2**31)))
    models = {corrected: BlockModel(graph, corrected) for corrected in (True, False)}
    best: dict[bool, tuple[float, Fitting]] = {}
    num_worse = dict.fromkeys(models, 0)
    for number, size in enumerate(sizes):
        active = [corrected for corrected in models if num_worse[corrected] < 2]
        if not active:
            break
        start = _make_start(spectrum[:, :size], graph.degrees, size, context)
        for step, corrected in enumerate(active):
            size_progress = PartProgress(context.progress, number, len(sizes) + 1)
            fitting = Fitting(models[corrected], start, context.rng("order", size))
            progress = PartProgress(size_progress, step, len(active))
            least = best[corrected][0] if corrected in best else 0.0
            gain = fitting.go_on(tolerance=COARSE, progress=progress).gain
            if gain <= least:
                gain = fitting.go_on(progress=progress).gain
            is_better = gain > least
            num_worse[corrected] = 0 if is_better else num_worse[corrected] + 1
            if is_better:
                best[corrected] = gain, fitting
    last = PartProgress(context.progress, len(sizes), len(sizes) + 1)
    return [
        fitting.go_on(progress=PartProgress(last, number, len(best)))
        for number, (_, fitting) in enumerate(best.values())
    ]


def _make_start(
    spectrum: np.ndarray, degrees: np.ndarray, size: int, context: Context
) -> np.ndarray:
    """(n, B) probabilities by k-means on the rows of (n, d) principal directions, each of unit
    length (Qin and Rohe, 2013), weighted by degree."""
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    lengths = np.linalg.norm(spectrum, axis=1, keepdims=True)
    rows = spectrum / np.maximum(lengths, 1e-9)
    rng = context.rng("centres", size)
    weights = np.sqrt(degrees) + 1e-6
    sample = np.arange(len(rows))
    if len(rows) > LARGEST_SAMPLE:
        sample = rng.choice(len(rows), LARGEST_SAMPLE, p=weights / weights.sum())
    clusters = KMeans(size, n_init=5, random_state=int(rng.integers(2**31)))
    with warnings.catch_warnings():  # fewer distinct rows than blocks, as in a star
        warnings.simplefilter("ignore", ConvergenceWarning)
        clusters.fit(rows[sample], sample_weight=weights[sample])
    context.progress.check()
    start = np.full((len(rows), size), (1.0 - START_PROBABILITY) / size)
    start[np.arange(len(rows)), clusters.predict(rows)] += START_PROBABILITY
    return start


@dataclass(frozen=True, eq=False)
class BlockClasses:
    """table (B, C) class probabilities of each block; evidence: log-probability of the known
    values."""

    table: np.ndarray
    evidence: float


def label_blocks(
    chances: np.ndarray, observed: np.ndarray, shares: np.ndarray, spread: float = 0.0
) -> BlockClasses:
    """Bayesian model average over the classes of blocks, by their known nodes and sizes.

    chances  (n, B) blocks, found without the known values
    observed (n,) codes, MISSING if unknown
    shares   (C,) of the classes, above 0, and their standard error

    A block is either independent of the class or mostly of one class, with unknown purity. Each
    hypothesis is weighted by its Dirichlet-multinomial evidence on the known nodes and, if blocks
    are classes, by the fit of block sizes to the class shares. Without known nodes and with equal
    sizes the result is the class shares.
    """
    known = np.flatnonzero(observed != MISSING)
    counts = chances[known].T @ np.eye(len(shares))[observed[known]]
    sizes = chances.sum(axis=0) / len(chances)
    tables, weights = [], []
    for caution in CAUTIONS:
        evidence, table = _fit_classes(counts, np.tile(shares, (len(counts), 1)), caution)
        tables.append(table)
        weights.append(float(evidence.sum()) - np.log(2 * len(CAUTIONS)))
    is_enumerable = float(len(shares)) ** len(counts) <= MAX_ASSIGNMENTS
    assignments = _list_assignments(*counts.shape) if is_enumerable else None
    for purity in PURITIES:
        for certainty in CERTAINTIES:
            table, weight = _mix_assignments(
                counts, sizes, shares, purity, certainty, spread, assignments
            )
            tables.append(table)
            weights.append(weight - np.log(2 * len(PURITIES) * len(CERTAINTIES)))
    total = logsumexp(weights)
    mixed = np.einsum("k,kbc->bc", np.exp(np.array(weights) - total), np.array(tables))
    return BlockClasses(mixed / mixed.sum(axis=1, keepdims=True), float(total))


def _mix_assignments(
    counts: np.ndarray,
    sizes: np.ndarray,
    shares: np.ndarray,
    purity: float,
    certainty: float,
    spread: float,
    assignments: np.ndarray | None,
) -> tuple[np.ndarray, float]:
    """Class probabilities (B, C) and log-weight if every block is mostly of one class.

    Averaged over `assignments` (N, B), or over each block separately if None.
    """
    num_blocks, num_classes = counts.shape
    evidence = np.zeros((num_blocks, num_classes))
    tables = np.zeros((num_blocks, num_classes, num_classes))
    for code in range(num_classes):
        guess = purity * np.eye(num_classes)[code] + (1 - purity) * shares
        evidence[:, code], tables[:, code] = _fit_classes(counts, guess, certainty)
    logs = evidence + np.log(shares)
    if assignments is None:
        chances = np.exp(logs - logsumexp(logs, axis=1, keepdims=True))
        return np.einsum("bc,bcd->bd", chances, tables), float(logsumexp(logs, axis=1).sum())
    blocks = np.arange(num_blocks)
    prior = np.log(shares)[assignments].sum(axis=1)
    masses = np.stack([(assignments == code) @ sizes for code in range(num_classes)], axis=1)
    excess = purity * (masses - shares)
    prior -= 0.5 * (excess**2).sum(axis=1) / (TOLERANCE**2 + spread**2)
    prior -= logsumexp(prior)
    weights = prior + evidence[blocks, assignments].sum(axis=1)
    total = logsumexp(weights)
    chances = np.zeros((num_blocks, num_classes))
    np.add.at(chances, (blocks[None, :], assignments), np.exp(weights - total)[:, None])
    return np.einsum("bc,bcd->bd", chances, tables), float(total)


def _fit_classes(
    counts: np.ndarray, guess: np.ndarray, certainty: float
) -> tuple[np.ndarray, np.ndarray]:
    """Log-evidence (B,) of the counts (B, C), and posterior mean class probabilities (B, C).

    The prior is Dirichlet with mean `guess` and `certainty` pseudo-counts.
    """
    prior = certainty * np.maximum(np.broadcast_to(guess, counts.shape), 1e-6)
    posterior = prior + counts
    evidence = gammaln(prior.sum(axis=1)) - gammaln(posterior.sum(axis=1))
    evidence = evidence + (gammaln(posterior) - gammaln(prior)).sum(axis=1)
    return evidence, posterior / posterior.sum(axis=1, keepdims=True)


def _list_assignments(num_blocks: int, num_classes: int) -> np.ndarray:
    """(C^B, B) all assignments of classes to blocks."""
    numbers = np.arange(num_classes**num_blocks)[:, None]
    return np.asarray(numbers // num_classes ** np.arange(num_blocks) % num_classes)
