"""Products with a constant sparse matrix against dense ones."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy import sparse

from core.models.propagation import _WIDE, Propagation, multiply, to_torch_csr


def draw_matrix(rows: int = 40, columns: int = 300) -> sparse.csr_array:
    """Rows of 0, 1, 2, … entries, so that every remainder of four occurs; sparse enough to stay
    so."""
    rng = np.random.default_rng(0)
    dense = np.zeros((rows, columns), np.float32)
    for row in range(rows):
        chosen = rng.choice(columns, min(row % 12, columns), replace=False)
        dense[row, chosen] = rng.normal(size=len(chosen))
    return sparse.csr_array(dense)


@pytest.mark.parametrize("width", [1, _WIDE - 1, _WIDE, 100])
@pytest.mark.parametrize("is_contiguous", [True, False])
def test_product_and_gradient_are_those_of_the_dense_matrix(
    width: int, is_contiguous: bool
) -> None:
    matrix = draw_matrix()
    dense = torch.from_numpy(matrix.toarray())
    x = torch.randn(width, 300, generator=torch.Generator().manual_seed(1)).T
    x = x.contiguous() if is_contiguous else x
    x.requires_grad_()
    product = Propagation(matrix, is_symmetric=False)(x)
    torch.testing.assert_close(product, dense @ x)
    weights = torch.arange(product.numel(), dtype=torch.float32).reshape(product.shape)
    (gradient,) = torch.autograd.grad((product * weights).sum(), x)
    torch.testing.assert_close(gradient, dense.T @ weights, rtol=1e-5, atol=1e-3)


def test_a_vector_and_other_types_are_multiplied_by_torch() -> None:
    matrix = draw_matrix()
    dense = torch.from_numpy(matrix.toarray())
    torch.testing.assert_close(multiply(to_torch_csr(matrix), torch.ones(300)), dense.sum(1))
    wide = torch.ones(300, _WIDE, dtype=torch.float64)
    double = to_torch_csr(matrix).to(torch.float64)
    torch.testing.assert_close(multiply(double, wide), dense.double() @ wide)
