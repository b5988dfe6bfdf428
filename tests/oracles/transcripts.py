"""What a mechanism really spends: its privacy loss, replayed on neighbouring graphs.

A spy stands where noise is drawn. On the first graph it notes what went in and what came out; on
a neighbour it hands out the same again, so that everything derived from noise is the same and
inputs differ by what one link or node changes directly. The loss of that transcript follows from
textbooks alone: |x − x'| / b for Laplace noise, ln((1 − p) / p) for a flipped bit, c·Δ for
exponential choices, ‖x − x'‖² / σ² summed for Gaussians. None of it asks the account.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
from scipy import stats

from core.graph import Graph
from core.models.synthesis.link_sgd import CLIP, PrivateSteps
from core.privacy.budget import GaussianNoise
from core.privacy.dendrogram import Dendrogram, draw_dendrogram
from core.privacy.link_local import draw_link_reports, draw_noisy_rows
from core.privacy.mechanisms import add_discrete_laplace, add_laplace, draw_by_score, draw_flips
from core.privacy.tables import add_noise_to_counts, draw_choices
from core.privacy.top_pairs import (
    draw_pairs_above,
    draw_top_pairs,
    draw_top_sums,
    draw_total_degree,
)

SAMPLERS: dict[str, Callable[..., Any]] = {
    "core.privacy.budget.add_laplace": add_laplace,
    "core.privacy.budget.add_discrete_laplace": add_discrete_laplace,
    "core.defenses.node_private.draw_by_score": draw_by_score,
    "core.defenses.dp_1k.add_discrete_laplace": add_discrete_laplace,
    "core.defenses.priv_graph.add_laplace": add_laplace,
    "core.defenses.priv_graph.add_noise_to_counts": add_noise_to_counts,
    "core.defenses.dp_2k.add_noise_to_counts": add_noise_to_counts,
    "core.defenses.priv_graph.draw_choices": draw_choices,
    "core.defenses.priv_hrg.draw_dendrogram": draw_dendrogram,
    "core.defenses.edge_rand.draw_flips": draw_flips,
    "core.defenses.randomized_response.draw_noisy_rows": draw_noisy_rows,
    "core.defenses.dprr.draw_noisy_rows": draw_noisy_rows,
    "core.defenses.blink.draw_link_reports": draw_link_reports,
    "core.defenses.lap_graph.draw_top_pairs": draw_top_pairs,
    "core.defenses.tmf.draw_pairs_above": draw_pairs_above,
    "core.defenses.l_dpgcn.draw_total_degree": draw_total_degree,
    "core.defenses.l_dpgcn.draw_top_sums": draw_top_sums,
}
"""Where defenses draw noise."""

LAST = (
    draw_flips,
    draw_noisy_rows,
    draw_link_reports,
    draw_top_pairs,
    draw_pairs_above,
    draw_top_sums,
)
"""What comes out of these is the release, but for post-processing."""


@dataclass
class Transcript:
    """Loss of one neighbour: ε of all draws but the Gaussians, and Σ ‖x − x'‖² / σ² of those."""

    epsilon: float = 0.0
    squares: float = 0.0
    draws: list[tuple[tuple, Any]] = field(default_factory=list)

    def compute_delta(self, epsilon: float) -> float:
        """δ at a total of `epsilon`: ∫ max(p − e^ε q, 0) of N(μ, 1) against N(0, 1)."""
        left, mu = epsilon - self.epsilon, math.sqrt(self.squares)
        if mu == 0:
            return 0.0 if left >= -1e-9 else 1.0
        cut = left / mu + mu / 2
        return float(stats.norm.sf(cut - mu) - math.exp(left) * stats.norm.sf(cut))


class _Enough(Exception):
    """The rest of the run draws no more noise on the graph."""


def make_shadow_release(
    run: Callable[[Graph], Any], graph: Graph, neighbors: list[Graph]
) -> list[Transcript]:
    """The transcript of `run` on each of `neighbors`, with its loss against the one on `graph`."""
    first = Transcript()
    _play(run, graph, lambda law, args, draw: _note(first, law, args, draw))
    found = []
    for neighbor in neighbors:
        other = Transcript()
        _play(run, neighbor, lambda law, args, draw, other=other: _compare(first, other, law, args))
        assert len(other.draws) == len(first.draws)
        found.append(other)
    return found


def _play(run: Callable[[Graph], Any], graph: Graph, answer: Callable[..., Any]) -> None:
    def stand_in(law: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *args: answer(law, args, law)

    def draw_for(noise: GaussianNoise, values: Any, sensitivity: float) -> Any:
        return answer(draw_for_truly, (noise, values, sensitivity), draw_for_truly)

    draw_for_truly = GaussianNoise.draw_for
    with ExitStack() as stack:
        for name, law in SAMPLERS.items():
            stack.enter_context(patch(name, stand_in(law)))
        stack.enter_context(patch.object(GaussianNoise, "draw_for", draw_for))
        # Every link in every sample, as a neighbour would otherwise shift all later draws.
        stack.enter_context(patch.object(PrivateSteps, "draw_links", _take_all))
        stack.enter_context(patch.object(torch, "randn", _draw_latents))
        with suppress(_Enough):
            run(graph)


def _take_all(steps: PrivateSteps) -> torch.Tensor:
    return torch.from_numpy(steps.graph.edges.copy())


_RANDN = torch.randn


def _draw_latents(*shape: Any, **settings: Any) -> torch.Tensor:
    """The auto-encoder's samples: as many as links, so they would differ for all of them."""
    if len(shape) == 1 and len(shape[0]) == 3:
        return torch.full(shape[0], 0.7)
    return _RANDN(*shape, **settings)


def _note(first: Transcript, law: Any, args: tuple, draw: Any) -> Any:
    result = draw(*args)
    if isinstance(args[0], GaussianNoise):
        noise, _, sensitivity = args
        found, size = float(result.std()), math.prod(result.shape)
        expected = noise.multiplier * sensitivity
        assert abs(found / expected - 1) < 5 / math.sqrt(2 * size), "noise of another size"
    first.draws.append((args, result))
    return result


def _compare(first: Transcript, other: Transcript, law: Any, args: tuple) -> Any:
    before, result = first.draws[len(other.draws)]
    if law is draw_dendrogram:
        result = _count_ancestors(result, args[0])
    other.draws.append((args, result))
    if isinstance(args[0], GaussianNoise):
        noise, values, sensitivity = args
        change = float((values - before[1]).reshape(-1).__abs__().__pow__(2).sum()) ** 0.5
        assert change <= sensitivity * (1 + 1e-4), "one unit changes a sum by more than stated"
        # A training's own gradients are as long as they may be; PrivDPR's are far below that.
        spent = change if sensitivity == CLIP else sensitivity
        other.squares += (spent / sensitivity / noise.multiplier) ** 2
        return result + (before[1] - values)
    if law is draw_dendrogram:
        scores = [_score_tree(tree) for tree in (first.draws[len(other.draws) - 1][1], result)]
        other.epsilon += 2 * args[1] * abs(scores[0] - scores[1])
        return result
    other.epsilon += _compute_loss(law, before, args)
    if law in LAST:
        raise _Enough
    return result


def _count_ancestors(tree: Dendrogram, graph: Graph) -> Dendrogram:
    """The same tree with the links of another graph."""
    links = np.zeros_like(tree.links)
    leaf = np.argsort(tree.nodes) + len(links)
    for i, j in leaf[graph.edges]:
        above = set()
        while i >= 0:
            above.add(i)
            i = tree.parent[i]
        while j not in above:
            j = tree.parent[j]
        links[j] += 1
    return replace(tree, links=links)


def _score_tree(tree: Dendrogram) -> float:
    shares = tree.links / tree.count_pairs()
    entropies = stats.entropy(np.stack([shares, 1 - shares]))
    return -float(tree.count_pairs() @ entropies)


def _compute_loss(law: Any, before: tuple, after: tuple) -> float:
    if law in (add_laplace, add_discrete_laplace):
        change = np.abs(np.asarray(before[0], float) - np.asarray(after[0], float)).sum()
        return float(change) / before[1]
    if law is draw_by_score:
        return 2 * before[1] * float(np.abs(before[0] - after[0]).max())
    if law is add_noise_to_counts:
        return _count_changed_cells(before[0], after[0], before[1]) / before[3]
    if law is draw_choices:
        scores = [_count_links_into(*args[:2]) for args in (before, after)]
        return before[2] * float(np.abs(scores[0] - scores[1]).max(axis=1).sum())
    if law is draw_top_pairs:
        return abs(before[0] - after[0]) / before[3]
    changed = _list_changed_pairs(before[0], after[0])
    if law is draw_pairs_above:
        return len(changed) / before[2]
    if law is draw_flips:
        return len(changed) * math.log((1 - before[1]) / before[1])
    if law is draw_link_reports:
        return 2 * len(changed) * math.log((1 - before[1]) / before[1])
    if law is draw_total_degree:
        return 2 * len(changed) / before[1]
    if law is draw_top_sums:
        return 2 * len(changed) / before[2]
    assert law is draw_noisy_rows
    keep, add = before[1], before[2]
    with np.errstate(divide="ignore", invalid="ignore"):
        losses = np.maximum(np.log(keep / add), np.log((1 - add) / (1 - keep)))
    return float(np.nan_to_num(losses[changed.ravel()]).sum())


def _list_changed_pairs(left: Graph, right: Graph) -> np.ndarray:
    codes = np.setxor1d(left.edge_codes, right.edge_codes)
    return np.stack([codes // left.num_nodes, codes % left.num_nodes], axis=1)


def _count_changed_cells(left: np.ndarray, right: np.ndarray, num: int) -> float:
    tables = np.zeros((2, num, num))
    for table, ends in zip(tables, (left, right), strict=True):
        for i, j in np.sort(ends, axis=1):
            table[i, j] += 1
    return float(np.abs(tables[0] - tables[1]).sum())


def _count_links_into(graph: Graph, community: np.ndarray) -> np.ndarray:
    """(n, C) links of each node into each community."""
    table = np.zeros((graph.num_nodes, community.max() + 1))
    for i, j in graph.edges:
        table[i, community[j]] += 1
        table[j, community[i]] += 1
    return table
