"""Blocks of a graph, and how many: what its links alone tell, from a spectral start."""

from __future__ import annotations

import numpy as np

from core.algorithms.block_model import BlockModel, Blocks
from core.context import Context
from core.graph import Graph
from core.models.evidence import compute_spectrum
from core.progress import PartProgress

SIZES = (2, 3, 4, 5, 6, 8, 12, 16, 24, 32, 48, 64)
"""Numbers of blocks that are tried, until two in a row are no better."""
SURE = 0.8
"""How sure the start is of the block that it puts a node in."""
LARGEST_SAMPLE = 20_000
"""Nodes on which the centres of the start are found."""


def find_blocks(graph: Graph, max_blocks: int, context: Context) -> list[Blocks]:
    """The best block model with degrees left aside, and the best without that; what explains the
    links no better than chance is left out.

    Links between nodes of many links tell little of blocks, unless blocks differ in that: both
    are asked, since the links alone cannot say which of them a class goes by.
    """
    sizes = [size for size in SIZES if size <= min(max_blocks, graph.num_nodes - 1)]
    if not sizes or not graph.num_edges:
        return []
    spectrum = compute_spectrum(graph, max(sizes), int(context.rng("svd").integers(2**31)))
    models = {corrected: BlockModel(graph, corrected) for corrected in (True, False)}
    found: dict[bool, Blocks] = {}
    worse = dict.fromkeys(models, 0)
    for number, size in enumerate(sizes):
        asked = [corrected for corrected in models if worse[corrected] < 2]
        if not asked:
            break
        start = _start(spectrum[:, :size], graph.degrees, size, context)
        for step, corrected in enumerate(asked):
            whole = PartProgress(context.progress, number, len(sizes))
            blocks = models[corrected].fit(
                start,
                context.rng("order", size),
                progress=PartProgress(whole, step, len(asked)),
            )
            best = found[corrected].gain if corrected in found else 0.0
            worse[corrected] = 0 if blocks.gain > best else worse[corrected] + 1
            if blocks.gain > best:
                found[corrected] = blocks
    return list(found.values())


def _start(spectrum: np.ndarray, degrees: np.ndarray, size: int, context: Context) -> np.ndarray:
    """(n, B) chances by k-means on the rows of (n, d) main directions, each of unit length (Qin
    and Rohe, 2013), nodes of many links counting more."""
    from sklearn.cluster import KMeans

    lengths = np.linalg.norm(spectrum, axis=1, keepdims=True)
    rows = spectrum / np.maximum(lengths, 1e-9)
    rng = context.rng("centres", size)
    weights = np.sqrt(degrees) + 1e-6
    sample = np.arange(len(rows))
    if len(rows) > LARGEST_SAMPLE:
        sample = rng.choice(len(rows), LARGEST_SAMPLE, p=weights / weights.sum())
    means = KMeans(size, n_init=5, random_state=int(rng.integers(2**31)))
    means.fit(rows[sample], sample_weight=weights[sample])
    context.progress.check()
    start = np.full((len(rows), size), (1.0 - SURE) / size)
    start[np.arange(len(rows)), means.predict(rows)] += SURE
    return start
