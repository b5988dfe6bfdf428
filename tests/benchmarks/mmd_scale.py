"""Which definition of MMD gives GPS's Table 3 on NBA?

    python -m tests.benchmarks.mmd_scale [--kept 0.9,0.7,0.5,0.3,0.1] [--repeats 3]

Random deletion of links, degrees (d.d) and clustering coefficients (c.c) before and after under
each definition that is in use; the paper has 6.442 and 1.356 for random deletion at a strength
that it does not say. Behind the rows: the share of links kept, of a fine grid, at which a
definition comes closest to both figures at once, as it is and times 10, 100 or 1,000.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
from scipy import stats

from core.algorithms.triangles import compute_triangles
from core.data.catalogue import load_dataset
from core.graph import Graph
from core.measures.structure import CLUSTERING_SIGMA, compute_mmd
from core.progress import Progress
from tests.benchmarks.finite import print_finite

PAPER = np.array([6.442, 1.356])
FACTORS = (1, 10, 100, 1000)
GRID = tuple(round(0.05 * step, 2) for step in range(1, 20))

Values = np.ndarray
Compare = Callable[[Values, Values], float]


def compute_clustering(graph: Graph) -> Values:
    """(n,) local clustering coefficients, 0 for nodes with fewer than two links."""
    degrees = graph.degrees.astype(np.float64)
    wedges = degrees * (degrees - 1) / 2
    triangles = compute_triangles(graph.edges, graph.num_nodes, Progress())
    return np.divide(triangles, wedges, out=np.zeros(len(degrees)), where=wedges > 0)


def compare_samples(left: Values, right: Values, sigmas: tuple[float, ...]) -> float:
    """MMD², biased, of numbers (n,) under the sum of Gaussian kernels."""
    both = np.concatenate([left, right])
    squares = (both[:, None] - both[None]) ** 2
    kernel = sum(np.exp(-squares / (2 * sigma**2)) for sigma in sigmas)
    size = len(left)
    same = kernel[:size, :size].mean() + kernel[size:, size:].mean()
    return float(same - 2 * kernel[:size, size:].mean())


def compare_adaptive(left: Values, right: Values) -> float:
    """The same with five bandwidths around the mean squared distance, each twice the last, as
    domain adaptation has it (Long et al., 2015)."""
    both = np.concatenate([left, right])
    squares = (both[:, None] - both[None]) ** 2
    mean = squares.sum() / (len(both) ** 2 - len(both))
    sigmas = tuple(float(np.sqrt(mean * 2.0**step / 2)) for step in range(-2, 3))
    return compare_samples(left, right, sigmas)


def compare_histograms(left: Values, right: Values, how: str, sigma: float) -> float:
    """2 − 2 k of two histograms of shares: what MMD² of one graph against one comes to, under a
    Gaussian kernel of their Euclidean distance, total variation or earth mover's distance in
    bins (GraphRNN; You et al., 2018; GRAN; Liao et al., 2019)."""
    if how == "euclid":
        distance = float(np.sqrt(((left - right) ** 2).sum()))
    elif how == "variation":
        distance = float(np.abs(left - right).sum() / 2)
    else:
        bins = np.arange(len(left))
        distance = float(stats.wasserstein_distance(bins, bins, left, right))
    return float(2 - 2 * np.exp(-(distance**2) / (2 * sigma**2)))


def list_definitions(is_degree: bool) -> dict[str, Compare]:
    """Each definition by name, for degrees or for clustering coefficients."""

    def bin_shares(left: Values, right: Values) -> tuple[Values, Values]:
        top = max(left.max(), right.max()) + 1 if is_degree else 1.0
        bins = int(top) if is_degree else 100
        counts = [np.histogram(each, bins, (0, top))[0].astype(float) for each in (left, right)]
        return counts[0] / len(left), counts[1] / len(right)

    def by_bins(how: str, sigma: float) -> Compare:
        return lambda left, right: compare_histograms(*bin_shares(left, right), how, sigma)

    def on_samples(*sigmas: float) -> Compare:
        return lambda left, right: compare_samples(left, right, sigmas)

    def own(left: Values, right: Values) -> float:
        scale = left.mean() if is_degree else 1.0
        sigma = 1.0 if is_degree else CLUSTERING_SIGMA
        return compute_mmd(left / scale, right / scale, sigma)

    found: dict[str, Compare] = {
        "this project's": own,
        "Gaussian EMD, bins, σ 1": by_bins("emd", 1.0),
        "Gaussian EMD, GraphRNN's σ": by_bins("emd", 1.0 if is_degree else 10.0),
        "Gaussian of total variation, σ 1": by_bins("variation", 1.0),
        "Gaussian of histograms, σ 1": by_bins("euclid", 1.0),
        "Gaussian of values, σ 0.1": on_samples(0.1),
        "Gaussian of values, σ 1": on_samples(1.0),
        "Gaussian of values, σ 10": on_samples(10.0),
        "Gaussians of values, σ² 10, 15, 20, 50": on_samples(*np.sqrt([10.0, 15.0, 20.0, 50.0])),
        "Gaussians of values, σ² half of that": on_samples(*np.sqrt([5.0, 7.5, 10.0, 25.0])),
        "five adaptive Gaussians of values": compare_adaptive,
        "five adaptive Gaussians of histograms": lambda a, b: compare_adaptive(*bin_shares(a, b)),
        "linear kernel": lambda a, b: float((a.mean() - b.mean()) ** 2),
        "earth mover's distance of values": lambda a, b: float(stats.wasserstein_distance(a, b)),
    }
    roots = {f"√ {name}": _take_root(compare) for name, compare in found.items()}
    return {**found, **roots}


def _take_root(compare: Compare) -> Compare:
    return lambda left, right: float(np.sqrt(max(compare(left, right), 0.0)))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--kept", default="0.9,0.7,0.5,0.3,0.1")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    shown = tuple(map(float, options.kept.split(",")))
    graph = load_dataset("nba").graph
    strengths = sorted({*shown, *GRID})
    definitions = list_definitions(True), list_definitions(False)
    means = {name: np.zeros((len(strengths), 2)) for name in definitions[0]}
    before = graph.degrees.astype(np.float64), compute_clustering(graph)
    for number, kept in enumerate(strengths):
        for repeat in range(options.repeats):
            order = np.random.default_rng(repeat).permutation(graph.num_edges)
            after = graph.with_edges(graph.edges[np.sort(order[: round(kept * len(order))])])
            values = after.degrees.astype(np.float64), compute_clustering(after)
            for side in (0, 1):
                for name, compare in definitions[side].items():
                    means[name][number, side] += compare(before[side], values[side])
    print("| definition | " + " | ".join(f"{kept:.0%}" for kept in shown) + " | closest |")
    print("|---|" + "---|" * (len(shown) + 1))
    for name, sums in means.items():
        pairs = sums / options.repeats
        cells = [f"{a:.3g} / {b:.3g}" for a, b in (pairs[strengths.index(kept)] for kept in shown)]
        misses = [
            (float(np.abs(np.log(np.maximum(factor * pair, 1e-12) / PAPER)).max()), factor, kept)
            for factor in FACTORS
            for kept, pair in zip(strengths, pairs, strict=True)
        ]
        miss, factor, kept = min(misses)
        cells.append(f"× {factor} at {kept:.0%}: off by {np.expm1(miss):.0%}")
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    print_finite(main)
