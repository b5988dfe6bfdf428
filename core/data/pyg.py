"""PyG `Data` saved by torch.save: tensors only, never unpickled without restriction."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from core.data.archive import check_contents, open_archive
from core.data.assembly import RawGraph
from core.data.link_events import list_ends, list_event_arrays, unpack_events
from core.data.loaded import LEFT_OUT, ColumnUse
from core.data.text_input import check_cells, check_num_features, check_num_nodes
from core.errors import FormatError

_TYPES = re.compile(r"torch\.(bool|uint8|int(8|16|32|64)|float(16|32|64)|bfloat16)")
_REMEDY = "save edge_index, x and y as plain tensors of a Data object"


def load_pyg(path: str | Path) -> RawGraph:
    """Links of `edge_index`, features `x`, classes `y` as `label`, weights of `edge_weight`.

    Other tensors with one integer per node become attributes; masks are dropped.
    """
    path = Path(path)
    fields, others = _load_fields(path)
    return build_raw(fields, f"file '{path.name}'", others)


def build_raw(fields: Mapping[str, Any], file: str, others: Sequence[ColumnUse] = ()) -> RawGraph:
    """The graph of these tensors; `file` begins the messages; others: uses of what is no tensor."""
    tensors = {name: _to_numpy(t, f"{file}: {name}") for name, t in fields.items()}
    links = _take_links(tensors, file)
    events = {name: tensors.pop(name) for name in list_event_arrays(tensors)}
    num_nodes = _count_nodes(tensors, links, file)
    features = _take_features(tensors, num_nodes, file)
    num_features = 0 if features is None else features.shape[1]
    unread: list[ColumnUse] = []
    weights = _take_weights(tensors, links.shape[1], unread)
    columns = _take_columns(tensors, num_nodes, unread)
    check_cells(file, num_nodes, len(columns))
    pairs = links.T.astype(np.int64)
    pairs, weights, link_columns, uses = unpack_events(events, pairs, weights, file)
    return RawGraph(
        pairs=pairs,
        node_ids=tuple(map(str, range(num_nodes))),
        weights=weights,
        table=pd.DataFrame(columns) if columns else None,
        features=features,
        feature_names=tuple(f"feature_{i}" for i in range(num_features)),
        default_roles=dict.fromkeys(columns, "attribute"),
        format="PyG",
        columns=[*list_ends(weights is not None), *uses, *unread, *others],
        link_columns=link_columns,
    )


def _check(is_met: bool, what: str, rule: str, value: object = None, remedy: str = "") -> None:
    if not is_met:
        raise FormatError(what, rule, value, remedy)


def _take_links(tensors: dict[str, np.ndarray], file: str) -> np.ndarray:
    links = tensors.pop("edge_index", np.empty(0))
    is_table = links.ndim == 2 and links.shape[0] == 2 and links.dtype.kind in "iu"
    _check(is_table, file, "must hold edge_index of shape (2, m)", remedy=_REMEDY)
    least = int(links.min(initial=0))
    _check(least >= 0, f"{file}: edge_index", "must hold node numbers from 0 up", least)
    return links


def _count_nodes(tensors: dict[str, np.ndarray], links: np.ndarray, file: str) -> int:
    """Number of nodes by links, rows of x and y, or num_nodes; bounded by the stored data."""
    sizes, num_entries = [int(links.max(initial=-1)) + 1], links.shape[1]
    for name in tensors.keys() & {"x", "y"}:
        rule = "must have one row a node"
        _check(tensors[name].ndim > 0, f"{file}: {name}", rule, "a single number")
        sizes.append(len(tensors[name]))
        num_entries += sizes[-1]
    declared = tensors.pop("num_nodes", None)
    if declared is not None:
        is_count = declared.size == 1 and declared.dtype.kind in "iu" and declared.item() >= 0
        shown = str(declared.ravel()[:3])
        _check(is_count, f"{file}: num_nodes", "must be one whole number ≥ 0", shown)
        rule = f"must be above every node number of edge_index, {sizes[0] - 1}"
        _check(declared.item() >= sizes[0], f"{file}: num_nodes", rule, int(declared.item()))
        sizes.append(int(declared.item()))
    check_num_nodes(file, max(sizes), num_entries)
    return max(sizes)


def _take_features(tensors: dict[str, np.ndarray], num_nodes: int, file: str) -> np.ndarray | None:
    values = tensors.pop("x", None)
    if values is None:
        return None
    file = f"{file}: x"
    is_table = values.ndim == 2 and len(values) == num_nodes
    _check(is_table, file, f"must have {num_nodes} rows, one a node", values.shape)
    _check(values.dtype.kind in "biuf", file, "must hold numbers", str(values.dtype))
    check_num_features(file, values.shape[1])
    is_finite = bool(np.isfinite(values).all())
    _check(is_finite, file, "must be finite", remedy="fill or drop missing values")
    return values


def _take_weights(
    tensors: dict[str, np.ndarray], num_links: int, unread: list[ColumnUse]
) -> np.ndarray | None:
    weights = None
    for name in ("edge_weight", "edge_attr"):
        array = tensors.pop(name, None)
        if array is not None and array.size == num_links and weights is None:
            weights = array.ravel().astype(float)
        elif array is not None:
            why = "a tensor that is not one number a link"
            unread.append(ColumnUse("links", name, LEFT_OUT, "number", why))
    return weights


def _take_columns(
    tensors: dict[str, np.ndarray], num_nodes: int, unread: list[ColumnUse]
) -> dict[str, np.ndarray]:
    """Tensors of one integer per node by name; `y` is the label, masks are dropped."""
    columns: dict[str, np.ndarray] = {}
    for name, array in tensors.items():
        values = array.ravel() if array.ndim == 2 and array.shape[1:] == (1,) else array
        is_column = values.shape == (num_nodes,) and values.dtype.kind in "iu"
        if is_column and not name.endswith("_mask"):
            columns["label" if name == "y" else name] = values
        else:
            why = "a tensor that is not one whole number a node"
            why = "a mask" if values.dtype.kind == "b" or name.endswith("_mask") else why
            unread.append(ColumnUse("nodes", name, LEFT_OUT, "number", why))
    return columns


def _load_fields(path: Path) -> tuple[dict[str, Any], list[ColumnUse]]:
    """Tensors of a Data object, a dict, or a dataset's (data, slices) pair; uses of the rest."""
    file = f"file '{path.name}'"
    with open_archive(path) as archive:  # what it unpacks to, before torch unpacks it
        check_contents(archive)
    import torch
    from torch_geometric.data import Data
    from torch_geometric.data.data import DataEdgeAttr, DataTensorAttr
    from torch_geometric.data.storage import GlobalStorage

    try:
        with torch.serialization.safe_globals([Data, DataEdgeAttr, DataTensorAttr, GlobalStorage]):
            content = torch.load(path, map_location="cpu", weights_only=True)
        content = content[0] if isinstance(content, tuple) else content
        if isinstance(content, Data):
            content = content.__dict__["_store"].__dict__["_mapping"]
        fields = {str(name): value for name, value in content.items()}
        "".join(fields).encode()  # halves of characters can be neither shown nor stored
    except Exception as error:  # a crafted file raises nearly anything
        found = re.search(r"GLOBAL ([\w.]+)", str(error))
        value = found[1] if found else type(error).__name__
        raise FormatError(
            file, "must hold a PyG Data object of plain tensors", value, _REMEDY
        ) from None
    whole = {
        k: torch.tensor(v)
        for k, v in fields.items()
        if (type(v) is int and abs(v) < 1 << 62) or (type(v) in (float, bool) and k == "num_nodes")
    }
    tensors = {k: v for k, v in fields.items() if isinstance(v, torch.Tensor)} | whole
    others = [
        ColumnUse("nodes", name, LEFT_OUT, "text", "no tensor of numbers")
        for name, value in fields.items()
        if name not in tensors and value is not None
    ]
    return tensors, others


def _to_numpy(tensor: Any, what: str) -> np.ndarray:
    """A copy of the tensor, after checking its size against the stored data."""
    import torch

    if tensor.device.type != "cpu":
        raise FormatError(what, "must hold its numbers", f"a {tensor.device.type} tensor", _REMEDY)
    if tensor.layout != torch.strided or tensor.is_quantized or tensor.is_complex():
        raise FormatError(what, "must be a plain dense tensor of numbers", str(tensor.layout))
    if tensor.numel() * tensor.element_size() > tensor.untyped_storage().nbytes():
        raise FormatError(
            what,
            "must not claim more elements than the file stores",
            f"{tensor.numel():,}",
            "save tensor.contiguous()",
        )
    if not _TYPES.fullmatch(str(tensor.dtype)):
        raise FormatError(what, "must hold numbers of a common type", str(tensor.dtype), _REMEDY)
    tensor = tensor.detach().resolve_neg().resolve_conj()
    if tensor.dtype in (torch.bfloat16, torch.float16):
        tensor = tensor.float()
    return np.asarray(tensor.numpy().copy())
