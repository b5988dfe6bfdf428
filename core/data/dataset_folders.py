"""Dataset folders as stored by OGB and PyG: one homogeneous graph.

OGB  raw/edge.csv.gz, num-node-list.csv.gz, num-edge-list.csv.gz; optionally node-feat.csv.gz,
     node-label.csv.gz, edge_weight.csv.gz (Hu et al., NeurIPS 2020)
PyG  processed/data.pt, as `InMemoryDataset` saves it
"""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pandas as pd

from core.data.assembly import RawGraph
from core.data.link_events import list_ends
from core.data.loaded import LEFT_OUT, ColumnUse
from core.data.text_input import (
    MAX_CELLS,
    check_cells,
    check_num_features,
    check_num_nodes,
    load_utf8,
)
from core.errors import FormatError, InputError

OGB_EDGES = "edge.csv.gz"
_OPTIONAL = ("node-feat.csv.gz", "node-label.csv.gz", "edge_weight.csv.gz")
_COUNTS = ("num-node-list.csv.gz", "num-edge-list.csv.gz")


def find_dataset(folder: Path) -> Path:
    """OGB's raw folder or PyG's file; raises InputError for any other folder."""
    for raw in (folder / "raw", folder):
        if (raw / OGB_EDGES).is_file():
            return raw
    saved = folder / "processed" / "data.pt"
    if saved.is_file():
        return saved
    rule = f"must be a file, not a folder, but for OGB's (raw/{OGB_EDGES}) and PyG's ({saved.name})"
    raise InputError("file", rule, str(folder))


def load_ogb(raw: Path) -> RawGraph:
    """Nodes numbered from 0, features `feature_i`, labels as attributes (`label`, `label_i`)."""
    num_nodes, num_links = (_read_count(raw / name) for name in _COUNTS)
    edges = _read_numbers(raw / OGB_EDGES)
    file = f"file '{OGB_EDGES}'"
    if edges.shape[1] != 2 or (edges != np.rint(edges)).any():  # NaN is unlike itself
        raise FormatError(file, "must hold two node numbers a line", f"{edges.shape[1]} columns")
    if len(edges) != num_links:
        shown = f"{len(edges):,} of {num_links:,}"
        raise FormatError(file, "must hold as many links as num-edge-list says", shown)
    check_num_nodes(file, num_nodes, len(edges))
    if ((edges < 0) | (edges >= num_nodes)).any():
        raise FormatError(file, f"must hold node numbers from 0 to {num_nodes - 1}")
    features = _read_rows(raw / "node-feat.csv.gz", num_nodes)
    if features is not None:
        check_num_features("file 'node-feat.csv.gz'", features.shape[1])
        if not np.isfinite(features).all():
            raise FormatError("file 'node-feat.csv.gz'", "must hold finite numbers")
        features = features.astype(np.float32)
    labels = _read_rows(raw / "node-label.csv.gz", num_nodes)
    names = [] if labels is None else [f"label_{i}" for i in range(labels.shape[1])]
    names = ["label"] if len(names) == 1 else names
    weights = _read_rows(raw / "edge_weight.csv.gz", len(edges))
    if weights is not None and weights.shape[1] != 1:
        raise FormatError("file 'edge_weight.csv.gz'", "must hold one number a link")
    known = {OGB_EDGES, *_COUNTS, *_OPTIONAL}
    others = sorted(path.name for path in raw.glob("*.csv.gz") if path.name not in known)
    return RawGraph(
        pairs=edges.astype(np.int64),
        node_ids=tuple(map(str, range(num_nodes))),
        weights=None if weights is None else weights[:, 0],
        table=pd.DataFrame(labels, columns=names) if names else None,
        features=features,
        feature_names=tuple(
            f"feature_{i}" for i in range(0 if features is None else features.shape[1])
        ),
        default_roles=dict.fromkeys(names, "attribute"),
        format="OGB",
        columns=[
            *list_ends(weights is not None),
            *(ColumnUse("nodes", name, LEFT_OUT, "text", "a file of others") for name in others),
        ],
    )


def _read_count(path: Path) -> int:
    """The single integer of a file; more than one means several graphs."""
    found = _read_numbers(path)
    is_whole = found.size == 1 and found.item() >= 0 and float(found.item()).is_integer()
    if not is_whole:
        shown = f"{len(found):,} lines" if len(found) != 1 else str(found.ravel()[:3])
        remedy = "choose a dataset of nodes or of links"
        raise FormatError(f"file '{path.name}'", "must hold the number of one graph", shown, remedy)
    return int(found.item())


def _read_rows(path: Path, num_rows: int) -> np.ndarray | None:
    """(num_rows, k) numbers of an optional file."""
    if not path.is_file():
        return None
    found = _read_numbers(path)
    if len(found) != num_rows:
        rule = f"must hold {num_rows:,} lines"
        raise FormatError(f"file '{path.name}'", rule, f"{len(found):,}")
    return found


def _read_numbers(path: Path) -> np.ndarray:
    """(k, c) float64 of a table without header; blank cells are NaN."""
    file, data = f"file '{path.name}'", load_utf8(path)
    check_cells(file, data.count(b"\n"), data.partition(b"\n")[0].count(b",") + 1, most=MAX_CELLS)
    try:
        table = pd.read_csv(io.BytesIO(data), header=None, dtype=np.float64, index_col=False)
    except (ValueError, OverflowError) as error:
        shown = str(error).partition("\n")[0]
        raise FormatError(file, "must be a complete table of numbers", shown) from None
    found: np.ndarray = table.to_numpy()
    if np.isinf(found).any():
        raise FormatError(file, "must hold finite numbers", "inf")
    return found
