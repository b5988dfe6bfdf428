"""DGCNN against a layer-by-layer computation with torch's own convolutions."""

from __future__ import annotations

import numpy as np
import torch
from scipy import sparse
from torch.nn.functional import conv1d, max_pool1d

from core.models.seal import CHANNELS, TOTAL, Dgcnn
from core.seeding import Seed


def random_batch(sizes, seed=0):
    rng = np.random.default_rng(seed)
    blocks = []
    for size in sizes:
        upper = np.triu(rng.random((size, size)) < 0.3, 1).astype(np.float32)
        blocks.append(upper + upper.T)
    matrix = sparse.csr_array(sparse.block_diag(blocks), dtype=np.float32)
    return matrix, rng.integers(0, 8, sum(sizes)), np.array(sizes)


def naive_forward(model, dense, labels):
    """One subgraph, dense, sorted in Python, convolved by torch."""
    size = len(labels)
    adjacency = torch.from_numpy(dense) + torch.eye(size)
    adjacency = adjacency / adjacency.sum(1, keepdim=True)
    h = torch.tanh(adjacency @ model.embed[torch.from_numpy(labels)])
    layers = [h]
    for layer in model.convolutions:
        h = torch.tanh(adjacency @ (h @ layer.weight + layer.bias))
        layers.append(h)
    rows = sorted(torch.cat(layers, 1), key=lambda row: -row[-1].item())[: model.kept]
    rows += [torch.zeros(TOTAL)] * (model.kept - len(rows))
    x = torch.stack(rows).reshape(1, 1, -1)
    x = torch.relu(conv1d(x, model.per_node.weight.T[:, None], model.per_node.bias, TOTAL))
    x = max_pool1d(x, 2)
    kernel = model.across.weight.T.reshape(32, 16, 5)
    x = torch.relu(conv1d(x, kernel, model.across.bias))
    x = torch.relu(model.dense(x[0].T.reshape(1, -1)))
    return model.last(x).squeeze()


def test_logits_equal_the_naive_computation_for_small_and_large_subgraphs():
    model = Dgcnn(8, 12, Seed(0)).eval()
    sizes = [5, 30, 12]
    matrix, labels, counts = random_batch(sizes)
    logits = model(matrix, labels, counts).detach()
    dense, start = matrix.toarray(), 0
    for at, size in enumerate(sizes):
        block = slice(start, start + size)
        expected = naive_forward(model, dense[block, block], labels[block])
        torch.testing.assert_close(logits[at], expected.detach(), atol=1e-5, rtol=1e-4)
        start += size


def test_every_parameter_gets_a_gradient():
    model = Dgcnn(8, 12, Seed(0))
    model(*random_batch([9, 20])).sum().backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.abs().sum() > 0, name


def test_weights_and_dropout_come_from_the_seed():
    batch = random_batch([9, 20])
    torch.manual_seed(1)
    first = Dgcnn(8, 12, Seed(5))(*batch)
    torch.manual_seed(2)
    second = Dgcnn(8, 12, Seed(5))(*batch)
    torch.testing.assert_close(first, second, atol=0, rtol=0)
    assert Dgcnn(8, 3, Seed(5)).kept == 10
    assert first.shape == (2,)
    assert CHANNELS == 32
