"""Values that several nodes have in common, column by column."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import sparse


def tabulate_shared_values(
    features: np.ndarray | sparse.csr_array,
) -> tuple[sparse.csr_array, np.ndarray]:
    """Who has which value: (n, v) float64 of ones, and (v,) the column of each value, ascending.

    features  (n, d) float32, dense or CSR

    Values of one node alone are left out, hence columns whose values all differ. So is 0 where it
    says that a mark is missing: in sparse features, and in dense columns of 0 and one larger value.
    """
    if isinstance(features, np.ndarray):
        largest = features.max(axis=0, initial=0)
        is_mark = ((features == 0) | (features == largest)).all(axis=0)
        # Not a number stands for a 0 that is a value: a sparse matrix keeps it.
        features = np.where((features == 0) & ~is_mark, np.float32(np.nan), features)
    entries = sparse.csc_array(features)
    entries.eliminate_zeros()
    column = np.repeat(np.arange(entries.shape[1], dtype=np.uint64), np.diff(entries.indptr))
    bits = entries.data.astype(np.float32, copy=False).view(np.uint32)
    codes, values = pd.factorize(column << np.uint64(32) | bits)
    is_shared = np.bincount(codes, minlength=len(values)) > 1
    place, kept = np.cumsum(is_shared) - 1, is_shared[codes]
    nodes, places = entries.indices[kept], place[codes[kept]]
    shape = (entries.shape[0], int(is_shared.sum()))
    table = sparse.csr_array((np.ones(len(nodes)), (nodes, places)), shape=shape)
    return table, (values[is_shared] >> np.uint64(32)).astype(np.int64)
