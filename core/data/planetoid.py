"""Planetoid's raw files (Yang, Cohen, Salakhutdinov, ICML 2016), which are pickles.

Cora's files are checked against known SHA-256 hashes; none were available for Citeseer and PubMed.
All are read by a restricted unpickler that supports arrays, dicts and lists only and calls nothing
else, so that a manipulated file is refused rather than executed.
"""

from __future__ import annotations

import hashlib
import io
import pickle
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from core.data.assembly import RawGraph
from core.data.link_events import list_ends
from core.data.text_input import load_bytes
from core.errors import FormatError

PARTS = ("x", "tx", "allx", "y", "ty", "ally", "graph", "test.index")

KNOWN_HASHES = {
    "ind.cora.allx": "9419ba2f26f5c35243db64aba110e0f35a04851609e0dc5433450676ca6b8543",
    "ind.cora.ally": "2b998f5cc7fedc86e7f97ca2498f47a1ffc1462c29e2d578b23bf3f62b6e7d71",
    "ind.cora.graph": "58f13302f39dde8852dad6fe6d15b89b077b6d7f837626bce671ef80344b383d",
    "ind.cora.test.index": "297ce89af2b51a6a194181c7dbe1796c6a1cf9cd9349a88383b1b1e227867875",
    "ind.cora.tx": "b9afbaa4a400df991f6f02ef677e1e44da55ffc04801fd02f9e673987829226a",
    "ind.cora.ty": "41f5ac76596a1699cc33f53084a2419e92961c42bb75f36fc38e616d348532ad",
    "ind.cora.x": "23cfa55d91c6f624233f5eb7b6e3f141f1bd2b2ae39608a63cf5d084bb27baab",
    "ind.cora.y": "94465c14eb53e04ca262198dcbb2521ee8af60fb3f3d546cd6ca24a511b0e7d1",
}


def load_planetoid(folder: Path, name: str) -> RawGraph:
    """The citation graph in ind.<name>.*; the class column is `label`."""
    parts = {part: _load_part(folder / f"ind.{name}.{part}") for part in PARTS}
    test = np.array(parts["test.index"].split(), dtype=np.int64)
    tx, ty = parts["tx"], np.asarray(parts["ty"])
    allx, ally = parts["allx"], np.asarray(parts["ally"])
    # Test rows are stored in the order of test.index; Citeseer lacks some (isolated) nodes.
    num_nodes = max(len(parts["graph"]), allx.shape[0] + len(test), int(test.max()) + 1)
    spread = sparse.csr_array(
        (np.ones(len(test)), (test - allx.shape[0], np.arange(len(test)))),
        shape=(num_nodes - allx.shape[0], len(test)),
    )
    features = sparse.vstack([allx, spread @ tx], format="csr")
    onehot = np.concatenate([ally, spread @ ty])
    labels = np.where(onehot.any(axis=1), onehot.argmax(axis=1), -1)
    graph = parts["graph"]
    sources = np.repeat(list(graph), [len(v) for v in graph.values()])
    targets = np.fromiter((t for v in graph.values() for t in v), np.int64, len(sources))
    return RawGraph(
        pairs=np.stack([sources, targets], axis=1).astype(np.int64),
        node_ids=tuple(map(str, range(num_nodes))),
        table=pd.DataFrame({"label": pd.Series(labels).map(lambda c: "" if c < 0 else c)}),
        features=features,
        feature_names=tuple(f"word_{i}" for i in range(features.shape[1])),
        format="Planetoid",
        columns=list_ends(has_weights=False),
    )


def _load_part(path: Path) -> Any:
    data = load_bytes(path)
    known = KNOWN_HASHES.get(path.name)
    if known is not None and hashlib.sha256(data).hexdigest() != known:
        raise FormatError(
            f"file '{path.name}'",
            "must be the published one (its SHA-256 differs)",
            remedy="remove it and download it again",
        )
    if path.name.endswith("test.index"):
        return data.decode("ascii")
    try:
        value = _ArrayUnpickler(io.BytesIO(data), encoding="latin1").load()
        if path.name.endswith(".graph"):
            return {int(k): [int(t) for t in v] for k, v in value.items()}
        return value.to_array() if isinstance(value, _Csr) else np.asarray(value, dtype=np.float32)
    except FormatError:
        raise
    except Exception as error:  # a broken pickle raises nearly anything
        raise FormatError(f"file '{path.name}'", "must be a Planetoid file", repr(error)) from None


class _Csr:
    """Stand-in for SciPy's csr_matrix that keeps its state as plain attributes."""

    def to_array(self) -> sparse.csr_array:
        state = self.__dict__
        parts = tuple(np.asarray(state[name]) for name in ("data", "indices", "indptr"))
        matrix = sparse.csr_array(parts, shape=tuple(state["_shape"]))
        matrix.check_format(full_check=True)
        return matrix


class _ArrayUnpickler(pickle.Unpickler):
    """Unpickler for arrays, dicts and lists; any other name is refused."""

    _ALLOWED = {
        ("numpy", "ndarray"): np.ndarray,
        ("numpy", "dtype"): np.dtype,
        ("numpy.core.multiarray", "_reconstruct"): np.empty(0).__reduce__()[0],
        ("scipy.sparse.csr", "csr_matrix"): _Csr,
        ("collections", "defaultdict"): defaultdict,
        ("__builtin__", "list"): list,
    }

    def find_class(self, module: str, name: str) -> Any:
        try:
            return self._ALLOWED[module, name]
        except KeyError:
            raise FormatError(
                "Planetoid file",
                "must hold arrays, dicts and lists only",
                f"{module}.{name}",
                "download it again from its publisher",
            ) from None
