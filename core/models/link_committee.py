"""Further surrogate attackers of PPGSL, differentiable in the graph's weights.

Both use a weighted graph of fixed pattern: one compares features, one is a logistic regression on
the features of a supervised pair attack, trained on links withheld from its input.
"""

from __future__ import annotations

import numpy as np
import torch
from scipy import sparse
from torch.nn.functional import binary_cross_entropy_with_logits as cross_entropy
from torch.nn.functional import normalize

from core.models.adam import Adam
from core.models.pair_matrix import PairMatrix, compute_pair_dots

SKETCH = 128
"""Random directions for comparing walks of a few steps: errors of about 1/√128."""

HIDDEN_SHARE = 0.1
RIDGE, STEPS = 1e-3, 200


class PairTriangles:
    """Sums over the common neighbours of fixed pairs, differentiable in the weights (E,).

    Common neighbours are those of the pattern.
    """

    def __init__(self, matrix: PairMatrix, pairs: np.ndarray) -> None:
        n, device = matrix.num_nodes, matrix.left.device
        left, right = matrix.left.cpu().numpy(), matrix.right.cpu().numpy()
        number = np.arange(len(left)) + 1.0
        rows, columns = np.concatenate([left, right]), np.concatenate([right, left])
        places = sparse.csr_array((np.tile(number, 2), (rows, columns)), shape=(n, n))
        marks = sparse.csr_array(places != 0, dtype=np.float64)
        i, j = pairs.T
        first = sparse.coo_array(places[i].multiply(marks[j]))
        second = sparse.coo_array(marks[i].multiply(places[j]))
        order, other = (np.lexsort((m.coords[1], m.coords[0])) for m in (first, second))
        self.count = len(pairs)
        self.pair = torch.from_numpy(first.coords[0][order].astype(np.int64)).to(device)
        self.node = torch.from_numpy(first.coords[1][order].astype(np.int64)).to(device)
        self.first_slots = torch.from_numpy(first.data[order].astype(np.int64) - 1).to(device)
        self.second_slots = torch.from_numpy(second.data[other].astype(np.int64) - 1).to(device)

    def sum(self, weights: torch.Tensor, degrees: torch.Tensor) -> torch.Tensor:
        """(k, 2) expected common neighbours, plain and weighted by inverse log-degree."""
        products = weights.index_select(0, self.first_slots) * weights.index_select(
            0, self.second_slots
        )
        scale = degrees.clamp_min(2.0).log().reciprocal().index_select(0, self.node)
        sums = torch.zeros(self.count, 2, device=weights.device)
        return sums.index_add(0, self.pair, torch.stack([products, products * scale], dim=1))


class Committee:
    """A feature-aware and a supervised attacker; `fit` trains them, `compute_losses` is then
    differentiable in the weights.

    targets   (k, 2) sensitive links, whose scores the defender lowers
    features  (n, d) sparse rows, weighted as by the attackers; None: not published
    """

    def __init__(
        self,
        matrix: PairMatrix,
        targets: np.ndarray,
        features: sparse.csr_array | None,
        rng: np.random.Generator,
    ) -> None:
        self._matrix, self._rng, device = matrix, rng, matrix.left.device
        self._targets = targets
        self._target_triangles = PairTriangles(matrix, targets)
        sketch = rng.normal(size=(matrix.num_nodes, SKETCH)) / np.sqrt(SKETCH)
        self._sketch = torch.from_numpy(sketch.astype(np.float32)).to(device)
        self._features: torch.Tensor | None = None
        if features is not None:
            self._features = _compress(features, rng).to(device)
        self._models: list[tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]] = []

    def fit(self, weights: torch.Tensor) -> None:
        """Train on links withheld from the weighted graph and on non-links."""
        matrix, weights = self._matrix, weights.detach()
        present = torch.nonzero(weights > 0.5).squeeze(1).cpu().numpy()
        self._models = []
        if len(present) < 20:
            return
        hidden = self._rng.choice(present, max(round(HIDDEN_SHARE * len(present)), 10), False)
        visible = weights.clone()
        visible[torch.from_numpy(hidden).to(weights.device)] = 0.0
        ends = torch.stack([matrix.left, matrix.right], dim=1).cpu().numpy()
        absent = self._rng.integers(0, matrix.num_nodes, (3 * len(hidden), 2))
        absent = absent[absent[:, 0] != absent[:, 1]]
        pairs = np.concatenate([ends[hidden], absent])
        truth = (torch.arange(len(pairs)) < len(hidden)).float().to(weights.device)
        with torch.no_grad():
            tables = self._describe(visible, pairs, PairTriangles(matrix, pairs))
        self._models = [_fit_regression(table, truth) for table in tables]

    def compute_losses(self, weights: torch.Tensor) -> list[torch.Tensor]:
        """Per attacker Σ over the sensitive links of CE(score, 0)."""
        if not self._models:
            return []
        tables = self._describe(weights, self._targets, self._target_triangles)
        losses = []
        for table, (centre, spread, slopes, offset) in zip(tables, self._models, strict=True):
            logits = ((table - centre) / spread) @ slopes + offset
            losses.append(torch.nn.functional.softplus(logits).sum())
        return losses

    def _describe(
        self, weights: torch.Tensor, pairs: np.ndarray, triangles: PairTriangles
    ) -> list[torch.Tensor]:
        """Columns (k, c) for each attacker: features alone, if there are any, and all."""
        matrix = self._matrix
        left, right = (torch.from_numpy(e.copy()).to(weights.device) for e in pairs.T)
        degrees = matrix.sum_at_ends(weights)
        ends = torch.stack([degrees.index_select(0, left), degrees.index_select(0, right)])
        low, high = torch.log1p(ends.amin(0)), torch.log1p(ends.amax(0))
        counts = torch.log1p(triangles.sum(weights, degrees))
        columns = [low, high, counts[:, 0], counts[:, 1]]
        values, walk = matrix.normalize(weights), self._sketch
        for _ in range(3):
            walk = matrix.matmul(values, walk)
            columns.append(compute_pair_dots(normalize(walk), left, right))
        if self._features is None:
            return [torch.stack(columns, dim=1)]
        x = self._features
        ones = torch.ones(matrix.num_nodes, device=weights.device)
        smoothed = normalize(matrix.matmul(torch.cat([weights, ones]), x))
        x = normalize(x)
        cross_dots = (x[left] * smoothed[right] + x[right] * smoothed[left]).sum(dim=1)
        smoothed_dots = compute_pair_dots(smoothed, left, right)
        own_dots = compute_pair_dots(x, left, right)
        features = torch.stack([own_dots, cross_dots, smoothed_dots], dim=1)
        return [features, torch.cat([torch.stack(columns, dim=1), features], dim=1)]


def _compress(rows: sparse.csr_array, rng: np.random.Generator) -> torch.Tensor:
    """(n, d) float32 rows, projected on random directions if wide, which preserves cosines."""
    if rows.shape[1] > 4 * SKETCH:
        size = 2 * SKETCH
        rows = rows @ (rng.normal(size=(rows.shape[1], size)) / np.sqrt(size))
    else:
        rows = rows.toarray()
    return torch.from_numpy(np.asarray(rows, dtype=np.float32))


def _fit_regression(
    table: torch.Tensor, truth: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Centre, spread, slopes and offset of a logistic regression with a small ridge."""
    centre, spread = table.mean(dim=0), table.std(dim=0).clamp_min(1e-6)
    scaled = (table - centre) / spread
    slopes = torch.zeros(table.shape[1], device=table.device, requires_grad=True)
    offset = torch.zeros((), device=table.device, requires_grad=True)
    optimizer = Adam([slopes, offset], lr=0.1)
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = cross_entropy(scaled @ slopes + offset, truth) + RIDGE * slopes.square().sum()
        loss.backward()
        optimizer.step()
    return centre, spread, slopes.detach(), offset.detach()
