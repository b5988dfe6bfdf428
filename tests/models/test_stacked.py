"""Classifiers trained side by side against one of their own, and attention against torch's."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import torch
from scipy import sparse
from torch.nn.functional import cross_entropy

from core.context import Context
from core.models.attention import Attention, attend_by_torch, project
from core.models.encoders import Block, Encoder, make_inputs, num_columns
from core.models.stacked import EncoderFamily, Stack, make_field
from core.models.stacked_search import TEMPERATURES, StackedSearch, measure_losses
from core.models.trials import Setting
from core.seeding import Seed
from tests.oracles.graphs import GRAPHS, make_threats

BACKBONES = ["gcn", "sage", "gat", "mlp"]


def copy_weights(
    stack: Stack, backbone: str, setting: int, fold: int, roots: list[bool]
) -> Encoder:
    """The encoder of one trial, with the stack's weights."""
    sizes = [stack.weights[0][-1].shape[0], stack.biases[0].shape[2], stack.biases[1].shape[2]]
    encoder = Encoder(backbone, sizes, Seed(0))
    with torch.no_grad():
        for number, layer in enumerate(encoder.layers):
            weight = stack.weights[number][-1][:, setting, fold]
            bias = stack.biases[number][setting, fold]
            if backbone == "sage":
                layer.others.weight.copy_(weight)
                layer.own.bias.copy_(bias)
                own = torch.zeros_like(weight)
                if roots[setting]:
                    own = stack.weights[number][0][:, sum(roots[:setting]), fold]
                layer.own.weight.copy_(own)
                continue
            layer.linear.weight.copy_(weight)
            (layer.linear if backbone == "mlp" else layer).bias.copy_(bias)
            if backbone == "gat":
                layer.attention.copy_(stack.attentions[number][:, :, setting, fold])
    return encoder


@pytest.mark.parametrize("backbone", BACKBONES)
@pytest.mark.parametrize("is_sparse", [False, True])
def test_each_trial_scores_and_learns_as_an_encoder_alone(backbone, is_sparse):
    graph = GRAPHS["two_communities"]()
    rng = np.random.default_rng(0)
    features = rng.normal(size=(graph.num_nodes, 5)).astype(np.float32)
    if is_sparse:
        features = sparse.csr_array(np.where(features > 0.5, features, 0.0).astype(np.float32))
    inputs = make_inputs(
        graph.update_columns(features=features, feature_names=()), scaling="standard"
    )
    nodes, width = np.array([1, 4, 6]), num_columns(inputs)
    roots = [backbone != "sage", True]
    seeds = [Seed(1), Seed(2), Seed(3)]
    stack = Stack(backbone, (width, 8, 3), [0.0, 0.0], roots, seeds, Seed(4))
    with torch.no_grad():
        for parameter in stack.parameters():
            parameter.add_(0.1 * torch.randn(parameter.shape, generator=torch.manual_seed(0)))
    scores = stack(make_field(graph, backbone, inputs, nodes))
    truth = torch.tensor([0, 2, 1])
    for setting in range(2):
        for fold in range(3):
            alone = copy_weights(stack, backbone, setting, fold, roots)
            expected = alone(inputs, Block.of_graph(graph, backbone))[nodes]
            torch.testing.assert_close(scores[:, setting, fold], expected, rtol=1e-4, atol=1e-5)
            stack.zero_grad()
            cross_entropy(scores[:, setting, fold], truth).backward(retain_graph=True)
            cross_entropy(expected, truth).backward()
            layer = alone.layers[0]
            linear = layer.others if backbone == "sage" else layer.linear
            gradient = stack.weights[0][-1].grad.clone()
            found = gradient[:, setting, fold]
            torch.testing.assert_close(found, linear.weight.grad, rtol=1e-3, atol=1e-5)
            gradient[:, setting, fold] = 0.0
            assert not gradient.any()


def test_attention_and_its_derivatives_equal_those_of_torch():
    rng = np.random.default_rng(1)
    matrix = sparse.random_array((7, 9), density=0.4, rng=rng, format="csr", dtype=np.float64)
    matrix.data[::5] = 0.0
    attention = Attention(sparse.csr_array(matrix))
    made = [torch.from_numpy(rng.normal(size=s).astype(np.float32)) for s in ((9, 6, 4), (9, 6))]
    made.append(torch.from_numpy(rng.normal(size=(7, 6)).astype(np.float32)))
    weights = torch.from_numpy(rng.normal(size=(7, 6, 4)).astype(np.float32))
    found = []
    for attend in (attention, partial(attend_by_torch, links=attention.links)):
        inputs = [part.clone().requires_grad_() for part in made]
        mixed = attend(*inputs)
        (mixed * weights).sum().backward()
        found.append([mixed.detach(), *(part.grad for part in inputs)])
    for compiled, plain in zip(*found, strict=True):
        torch.testing.assert_close(compiled, plain, rtol=1e-4, atol=1e-5)


def test_inner_products_of_heads_and_their_derivatives_equal_those_of_torch():
    rng = np.random.default_rng(2)
    made = [torch.from_numpy(rng.normal(size=s).astype(np.float32)) for s in ((9, 6, 4), (2, 6, 4))]
    weights = torch.from_numpy(rng.normal(size=(2, 9, 6)).astype(np.float32))
    found = []
    for multiply in (
        project,
        lambda values, towards: torch.einsum("skw,pkw->psk", values, towards),
    ):
        inputs = [part.clone().requires_grad_() for part in made]
        products = torch.stack(tuple(multiply(*inputs)))
        (products * weights).sum().backward()
        found.append([products.detach(), *(part.grad for part in inputs)])
    for compiled, plain in zip(*found, strict=True):
        torch.testing.assert_close(compiled, plain, rtol=1e-4, atol=1e-5)


def make_search(backbone: str, memory: int = 1 << 30) -> StackedSearch:
    graph = GRAPHS["two_communities"]()
    observed = make_threats(graph).attribute.observed
    inputs = make_inputs(graph, scaling="standard")
    context = Context(Seed(5), memory_budget=memory)
    family = EncoderFamily(backbone, graph, inputs, (num_columns(inputs), 8, 2))
    return StackedSearch(family, observed, context, epochs=20, lr=0.01)


@pytest.mark.parametrize("backbone", ["gcn", "gat"])
def test_a_small_memory_changes_nothing(backbone):
    settings = [Setting(0.5, 0.0), Setting(0.1, 0.0), Setting(0.8, 0.0)]
    fits = []
    for memory in (1 << 30, 1):
        search = make_search(backbone, memory)
        folds = np.array_split(search._known, 2)
        assert len(list(search._split(3, 2))) == (6 if memory == 1 else 1)
        fits.append(search.fit(folds, settings))
    assert fits[0].facts == fits[1].facts
    np.testing.assert_allclose(fits[0].probabilities, fits[1].probabilities, atol=1e-5)
    np.testing.assert_allclose(fits[0].held_out, fits[1].held_out, atol=1e-5)


def test_held_out_nodes_are_judged_by_the_trial_that_had_not_seen_them():
    """A fold whose values are inverted changes what is said of the others, not of itself."""
    search = make_search("gcn")
    folds = np.array_split(search._known, 2)
    inverted = make_search("gcn")
    place = np.searchsorted(inverted._known, folds[0])
    inverted._truth = inverted._truth.copy()
    inverted._truth[place] = 1 - inverted._truth[place]
    fold_of = np.isin(search._known, folds[1]).astype(int)
    first, second = (
        one._try_all([Setting(0.0, 0.0)], fold_of, 2, [19]) for one in (search, inverted)
    )
    np.testing.assert_array_equal(first[:, :, fold_of == 0], second[:, :, fold_of == 0])
    assert np.abs(first - second)[:, :, fold_of == 1].max() > 1e-3


def test_looks_are_measured_as_a_loop_over_nodes_would():
    rng = np.random.default_rng(2)
    said, truth = rng.normal(size=(2, 3, 5, 4)).astype(np.float32), rng.integers(0, 4, 5)
    means, squares = measure_losses(said, truth)
    for row, step, heat in np.ndindex(2, 3, len(TEMPERATURES)):
        losses = []
        for node in range(5):
            chances = np.exp(said[row, step, node].astype(float) / TEMPERATURES[heat])
            losses.append(-np.log(chances[truth[node]] / chances.sum()))
        assert means[row, step, heat] == pytest.approx(np.mean(losses))
        assert squares[row, step, heat] == pytest.approx(np.mean(np.square(losses)))
