"""Cross-fitting on a graph: nobody's row, and nothing said of them, is made with their own value.

Known values lie in other nodes' rows too, so that it is not enough to leave a node out of the
fit: each part of the known values is left out of everything, and everything is run again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from core.graph import MISSING
from core.models.tuning import compute_log_loss, hold_out

Predict = Callable[[Any], np.ndarray]
"""From nodes (k,), or a slice of them, to probabilities (k, C)."""
Learn = Callable[[np.ndarray, np.ndarray], Predict]
"""From a table (n, d) and observed codes (n,), MISSING where unknown, to a prediction."""
Runs = Sequence[np.ndarray]
"""A table (n, d) a run."""


class CrossFit:
    """Runs with each part of the known values left out, and a last one with all of them.

    parts  the observed codes (n,) without a part, and the part's nodes
    seen   (n,) observed codes of each run
    truth  (h,) classes of the nodes held out, in the order of the parts
    """

    def __init__(self, observed: np.ndarray, folds: list[np.ndarray]) -> None:
        self.parts = list(hold_out(observed, folds))
        self.seen = [*(rest for rest, _ in self.parts), observed]
        self.truth = observed[self._concatenate([fold for _, fold in self.parts])]

    def mix(self, tables: Runs) -> list[np.ndarray]:
        """For each run: rows of nodes that are known in it as they look to a run that did not
        know them, and all others as they look in it."""
        untold = tables[-1].copy()
        for (_, fold), table in zip(self.parts, tables, strict=False):
            untold[fold] = table[fold]
        return [
            np.where((codes != MISSING)[:, None], untold, table)
            for codes, table in zip(self.seen, tables, strict=True)
        ]

    def untell(self, said: np.ndarray) -> np.ndarray:
        """(n, C) of (R, n, C): of known nodes what the run said that did not know them, of all
        others what the last one did."""
        untold: np.ndarray = said[-1].copy()
        for run, (_, fold) in enumerate(self.parts):
            untold[fold] = said[run][fold]
        return untold

    def run(self, learn: Learn, tables: Runs) -> np.ndarray:
        """(R, n, C) what is predicted of all nodes in each run, from `mix`ed tables."""
        runs = zip(tables, self.seen, strict=True)
        return np.array([learn(table, codes)(slice(None)) for table, codes in runs])

    def choose(self, learners: Sequence[Learn], tables: Runs) -> np.ndarray:
        """(R, n, C) of the one with the lowest log-loss on nodes held out; the first, if none
        are."""
        if not self.parts:
            return self.run(learners[0], tables)
        said = [self.run(learn, tables) for learn in learners]
        nodes = np.arange(len(self.truth))
        losses = [compute_log_loss(self.hold_out(s), self.truth, nodes) for s in said]
        return said[int(np.argmin(losses))]

    def hold_out(self, said: np.ndarray) -> np.ndarray:
        """(h, C) what (R, n, C) says of each node held out in the run that did not know it."""
        rows = [said[run][fold] for run, (_, fold) in enumerate(self.parts)]
        return np.concatenate(rows) if rows else np.zeros((0, said.shape[2]))

    @staticmethod
    def _concatenate(parts: list[np.ndarray]) -> np.ndarray:
        return np.concatenate(parts) if parts else np.zeros(0, np.int64)
