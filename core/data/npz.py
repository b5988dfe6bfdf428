"""NPZ files without pickle.

Supported: SciPy's sparse matrices (`data, indices, indptr, shape`); `adj_data … attr_data … labels`
and the same with `adj_matrix.`; `edges, features, target`; and the output of `writers`.
"""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from core.data.archive import check_contents, load_array, open_archive
from core.data.assembly import RawGraph
from core.data.link_events import list_ends, list_event_arrays, unpack_events
from core.data.loaded import LEFT_OUT, ColumnUse
from core.data.text_input import (
    MAX_CELLS,
    MAX_NODES,
    check_cells,
    check_num_features,
    check_num_nodes,
)
from core.errors import FormatError, InputError, ResourceError
from core.node_column import NodeColumn

_PREFIXES = ("adj_", "adj_matrix.", "")
_FEATURES = ("attr_matrix", "features", "x")
_LABELS = ("labels", "label", "target", "y")


def load_npz(path: str | Path) -> RawGraph:
    """Links, and features and labels where present; node ids are 0 … n−1 unless given."""
    path = Path(path)
    file = f"file '{path.name}'"
    with open_archive(path) as archive:
        check_contents(archive)  # of all: one under a damaged name would be missed without a word
        names = {n[:-4] for n in archive.namelist() if n.endswith(".npy")}
        notes: list[str] = []
        weights = None
        prefix = next((p for p in _PREFIXES if f"{p}shape" in names), None)
        if prefix is not None:
            matrix = _load_matrix(archive, prefix, names, file)
            if matrix.shape[0] != matrix.shape[1]:
                raise FormatError(file, "must hold a square matrix", matrix.shape)
            entries = matrix.tocoo()
            nonzero = entries.data != 0
            pairs = np.stack([entries.row, entries.col], axis=1)[nonzero].astype(np.int64)
            weights, num_nodes = entries.data[nonzero].astype(float), matrix.shape[0]
        elif found := names & {"edges", "edge_index"}:
            pairs = _load_pairs(archive, min(found), file)
            num_nodes = int(pairs.max(initial=-1)) + 1
        else:
            raise FormatError(
                file,
                "must hold a sparse matrix or edges",
                ", ".join(sorted(names)[:10]),
                "name the arrays data, indices, indptr, shape",
            )
        features = _load_features(archive, names, file)
        table = _load_labels(archive, names, file, notes)
        num_rows = len(table) if features is None else len(table) + features.shape[0]
        check_num_nodes(file, num_nodes, len(pairs) + num_rows)
        for size in (None if features is None else features.shape[0], len(table) or None):
            if size is not None and prefix is None:
                num_nodes = max(num_nodes, size)
        node_ids = _load_names(archive, names, ("node_ids", "node_names"), num_nodes, notes)
        feature_names: tuple[str, ...] = ()
        if features is not None:
            d = features.shape[1]
            given = _load_names(archive, names, ("feature_names", "attr_names"), d, notes)
            feature_names = given or tuple(f"feature_{i}" for i in range(d))
        attributes = _load_attributes(archive, names, file, num_nodes)
        own = list_event_arrays(names)
        events = {name: load_array(archive, name) for name in own}
    pairs, weights, link_columns, uses = unpack_events(events, pairs, weights, file)
    uses = [*list_ends(weights is not None), *uses]
    why = "an array that no use is known for"
    for name in sorted(names - _list_known(names) - {*own}):
        is_told = any(f"'{name}'" in note for note in notes)
        uses += [] if is_told else [ColumnUse("nodes", name, LEFT_OUT, "text", why)]
    for what, size in (
        ("features", None if features is None else features.shape[0]),
        ("labels", len(table) or None),
    ):
        if size is not None and size != num_nodes:
            raise FormatError(f"{file}: {what}", f"must have {num_nodes} rows, one a node", size)
    return RawGraph(
        pairs=pairs,
        node_ids=node_ids or tuple(map(str, range(num_nodes))),
        weights=weights,
        table=table if len(table.columns) else None,
        features=features,
        feature_names=feature_names,
        attributes=attributes,
        format="NPZ",
        notes=notes,
        default_roles=dict.fromkeys(table.columns, "attribute"),
        columns=uses,
        link_columns=link_columns,
    )


def _list_known(names: set[str]) -> set[str]:
    """Arrays that are read, of all in the file: of those that mean the same the first."""
    known = {"node_ids", "node_names", "feature_names", "attr_names", "class_names"}
    known |= {"attribute_codes", "attribute_info", "attribute_values"}
    matrix = next((p for p in _PREFIXES if f"{p}shape" in names), None)
    features = next((p for p in ("attr_", "attr_matrix.") if f"{p}shape" in names), None)
    for prefix in (matrix, features):
        parts = ("shape", "format", "data", "row", "col", "indices", "indptr")
        known |= set() if prefix is None else {f"{prefix}{part}" for part in parts}
    if matrix is None:
        known |= {min(names & {"edges", "edge_index"})}
    choices = (() if features is not None else _FEATURES), _LABELS
    return known | {next((n for n in some if n in names), "") for some in choices}


def _load_matrix(
    archive: zipfile.ZipFile, prefix: str, names: set[str], file: str
) -> sparse.sparray:
    has_format = f"{prefix}format" in names
    layout = _load_word(archive, f"{prefix}format") if has_format else "csr"
    lengths = load_array(archive, f"{prefix}shape").ravel()
    if lengths.dtype.kind not in "iu" or (lengths < 0).any():
        raise FormatError(file, "must have a shape of whole numbers ≥ 0", str(lengths[:4]))
    shape = tuple(map(int, lengths))
    parts = ("row", "col") if layout == "coo" else ("indices", "indptr")
    missing = [p for p in ("data", *parts) if f"{prefix}{p}" not in names]
    if layout not in ("csr", "csc", "coo") or missing or len(shape) != 2:
        raise FormatError(
            file,
            "must hold a CSR, CSC or COO matrix with all its arrays",
            layout,
            f"missing: {', '.join(missing)}" if missing else "",
        )
    if prefix not in _PREFIXES:
        check_num_features(file, shape[1])
    if max(shape) > MAX_NODES:
        raise ResourceError(file, f"must have at most {MAX_NODES:,} nodes", f"{max(shape):,}")
    data, first, second = (load_array(archive, f"{prefix}{p}") for p in ("data", *parts))
    if data.dtype.kind not in "biuf" or {first.dtype.kind, second.dtype.kind} - {"i", "u"}:
        raise FormatError(file, "must hold a matrix of numbers", str(data.dtype))
    if not data.ndim == first.ndim == second.ndim == 1:
        raise FormatError(file, "must hold a matrix as flat arrays", data.shape)
    # The index arrays are checked before SciPy's compiled code follows them.
    if layout == "coo":
        valid = len(data) == len(first) == len(second) and _within(first, shape[0])
        valid = valid and _within(second, shape[1])
    else:
        major, minor = shape if layout == "csr" else shape[::-1]
        valid = len(second) == major + 1 and len(data) == len(first) and _within(first, minor)
        valid = valid and second[0] == 0 and second[-1] == len(data)
        valid = valid and bool((np.diff(second.astype(np.int64)) >= 0).all())
    if not valid:
        raise FormatError(file, "must hold a matrix whose indices fit its shape", shape)
    if layout == "coo":
        return sparse.coo_array((data, (first, second)), shape=shape)
    make = sparse.csr_array if layout == "csr" else sparse.csc_array
    return make((data, first, second), shape=shape)


def _load_word(archive: zipfile.ZipFile, name: str) -> str:
    """The single text of an array; "" for other arrays."""
    array = load_array(archive, name)
    if array.size != 1 or array.dtype.kind not in "SU":
        return ""
    word = array.item()
    return word.decode("ascii", "replace") if isinstance(word, bytes) else str(word)


def _within(indices: np.ndarray, size: int) -> bool:
    return not len(indices) or (int(indices.min()) >= 0 and int(indices.max()) < size)


def _load_pairs(archive: zipfile.ZipFile, name: str, file: str) -> np.ndarray:
    pairs = load_array(archive, name)
    if name == "edge_index" and pairs.ndim == 2 and pairs.shape[0] == 2:
        pairs = pairs.T
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
        raise FormatError(
            f"{file}: {name}", "must be (m, 2) whole numbers", f"{pairs.shape} {pairs.dtype}"
        )
    if len(pairs) and int(pairs.min()) < 0:
        raise FormatError(f"{file}: {name}", "must be node numbers ≥ 0", pairs.min())
    if len(pairs) and int(pairs.max()) > 100_000_000:
        raise FormatError(
            f"{file}: {name}",
            "must be node numbers from 0 up",
            pairs.max(),
            "number the nodes from 0",
        )
    return pairs.astype(np.int64)


def _load_features(archive: zipfile.ZipFile, names: set[str], file: str) -> Any:
    for prefix in ("attr_", "attr_matrix."):
        if f"{prefix}shape" in names:
            return _load_matrix(archive, prefix, names, file).tocsr()
    for name in _FEATURES:
        if name in names:
            values = load_array(archive, name)
            if values.ndim != 2 or values.dtype.kind not in "biuf":
                raise FormatError(
                    f"{file}: {name}",
                    "must be a table of numbers",
                    f"{values.shape} {values.dtype}",
                )
            check_cells(f"{file}: {name}", len(values), values.shape[1], MAX_CELLS)
            if not np.isfinite(values).all():
                raise InputError(f"{file}: {name}", "must be finite", remedy="fill missing values")
            return values
    return None


def _load_labels(
    archive: zipfile.ZipFile, names: set[str], file: str, notes: list[str]
) -> pd.DataFrame:
    found = next((n for n in _LABELS if n in names), None)
    if found is None:
        return pd.DataFrame()
    labels = load_array(archive, found)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels.ravel()
    if (
        labels.ndim == 2
        and labels.dtype.kind in "biuf"
        and (labels.astype(float).sum(axis=1) == 1).all()
    ):
        labels = labels.argmax(axis=1)
    if labels.ndim != 1 or labels.dtype.kind not in "biufU":
        raise FormatError(
            f"{file}: {found}", "must hold one class a node", f"{labels.shape} {labels.dtype}"
        )
    if "class_names" in names and labels.dtype.kind in "iu":
        count = int(labels.max(initial=-1)) + 1
        classes = _load_names(archive, names, ("class_names",), None, notes)
        if classes and len(classes) >= count and labels.min(initial=0) >= 0:
            return pd.DataFrame({"label": np.array(classes, dtype=object)[labels]})
    return pd.DataFrame({"label": labels})


def _load_names(
    archive: zipfile.ZipFile,
    names: set[str],
    candidates: tuple[str, ...],
    count: int | None,
    notes: list[str],
) -> tuple[str, ...]:
    """Texts under one of the names; empty if missing, pickled or too few."""
    for name in candidates:
        if name not in names:
            continue
        try:
            values = load_array(archive, name)
        except FormatError as error:
            if "Python objects" not in str(error):
                raise
            notes.append(f"array '{name}' was ignored: it holds Python objects (pickles)")
            continue
        if values.ndim == 1 and values.dtype.kind in "Uiu" and count in (None, len(values)):
            return tuple(map(str, values.tolist()))
    return ()


def _load_attributes(
    archive: zipfile.ZipFile, names: set[str], file: str, num_nodes: int
) -> dict[str, NodeColumn]:
    """Attributes as stored by `writers`: codes (k, n) and a JSON text of names and classes."""
    if not {"attribute_codes", "attribute_info"} <= names:
        return {}
    codes = load_array(archive, "attribute_codes")
    try:
        info = json.loads(_load_word(archive, "attribute_info"))
        pairs = [(str(e["name"]), tuple(map(str, e["classes"]))) for e in info]
    except (ValueError, KeyError, TypeError, RecursionError):
        pairs = []
    if codes.shape != (len(pairs), num_nodes) or codes.dtype.kind not in "iu":
        raise FormatError(file, "must have codes for each attribute", codes.shape)
    return {
        name: NodeColumn(name, row, classes)
        for (name, classes), row in zip(pairs, codes, strict=True)
    }
