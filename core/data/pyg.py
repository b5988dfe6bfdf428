"""PyG `Data` saved by torch.save: tensors only, never unpickled freely."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from core.data.archive import check_contents, open_archive
from core.data.assembly import RawGraph
from core.data.limits import check_cells, check_num_features, check_num_nodes
from core.errors import FormatError

_TYPES = [
    "bool",
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
]
_REMEDY = "save edge_index, x and y as plain tensors of a Data object"


def load_pyg(path: str | Path) -> RawGraph:
    """Links of `edge_index`, features `x`, classes `y` as `label`, weights of `edge_weight`.

    Other tensors with one whole number a node become attributes; masks are left out.
    """
    path = Path(path)
    file = f"file '{path.name}'"
    tensors = {name: _to_numpy(t, f"{file}: {name}") for name, t in _load_fields(path).items()}
    pairs = tensors.pop("edge_index", None)
    if pairs is None or pairs.ndim != 2 or pairs.shape[0] != 2 or pairs.dtype.kind not in "iu":
        raise FormatError(file, "must hold edge_index of shape (2, m)", remedy=_REMEDY)
    features = tensors.pop("x", None)
    labels = tensors.get("y")
    num_nodes = int(pairs.max(initial=-1)) + 1
    num_entries = pairs.shape[1]
    for name, array in (("x", features), ("y", labels)):
        if array is not None:
            if array.ndim == 0:
                raise FormatError(f"{file}: {name}", "must have one row a node", "a single number")
            num_nodes, num_entries = max(num_nodes, len(array)), num_entries + len(array)
    declared = tensors.pop("num_nodes", None)
    if declared is not None:
        if declared.size != 1 or declared.dtype.kind not in "iu" or declared.item() < 0:
            raise FormatError(
                f"{file}: num_nodes", "must be one whole number ≥ 0", str(declared.ravel()[:3])
            )
        num_nodes = max(num_nodes, int(declared.item()))
    if pairs.size and int(pairs.min()) < 0:
        raise FormatError(
            f"{file}: edge_index", "must hold node numbers from 0 up", int(pairs.min())
        )
    check_num_nodes(file, num_nodes, num_entries)
    if features is not None and (features.ndim != 2 or len(features) != num_nodes):
        raise FormatError(f"{file}: x", f"must have {num_nodes} rows, one a node", features.shape)
    if features is not None and features.dtype.kind not in "biuf":
        raise FormatError(f"{file}: x", "must hold numbers", str(features.dtype))
    if features is not None:
        check_num_features(f"{file}: x", features.shape[1])
    if features is not None and not np.isfinite(features).all():
        raise FormatError(f"{file}: x", "must be finite", remedy="fill or drop missing values")
    weights, notes = None, []
    for name in ("edge_weight", "edge_attr"):
        array = tensors.pop(name, None)
        if array is not None and array.size == pairs.shape[1] and weights is None:
            weights = array.ravel().astype(float)
        elif array is not None:
            notes.append(f"tensor '{name}' was not used: it is not one number a link")
    columns: dict[str, np.ndarray] = {}
    for name, array in tensors.items():
        values = array.ravel() if array.ndim == 2 and array.shape[1:] == (1,) else array
        is_label = values.shape == (num_nodes,) and values.dtype.kind in "iu"
        if is_label and not name.endswith("_mask"):
            columns["label" if name == "y" else name] = values
        elif values.dtype.kind != "b":
            notes.append(f"tensor '{name}' was not used: it is not one whole number a node")
    check_cells(file, num_nodes, len(columns))
    return RawGraph(
        pairs=pairs.T.astype(np.int64),
        node_ids=tuple(map(str, range(num_nodes))),
        weights=weights,
        table=pd.DataFrame(columns) if columns else None,
        features=features,
        feature_names=()
        if features is None
        else tuple(f"feature_{i}" for i in range(features.shape[1])),
        default_roles=dict.fromkeys(columns, "attribute"),
        format="PyG",
        notes=notes,
    )


def _load_fields(path: Path) -> dict[str, Any]:
    """The tensors of a Data object, of a dict, or of a dataset's (data, slices) pair."""
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
    return {k: v for k, v in fields.items() if isinstance(v, torch.Tensor)} | whole


def _to_numpy(tensor: Any, what: str) -> np.ndarray:
    """A copy of the tensor, once it is clear that it is as large as what the file stores."""
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
    if str(tensor.dtype).removeprefix("torch.") not in _TYPES:
        raise FormatError(what, "must hold numbers of a common type", str(tensor.dtype), _REMEDY)
    tensor = tensor.detach().resolve_neg().resolve_conj()
    if tensor.dtype in (torch.bfloat16, torch.float16):
        tensor = tensor.float()
    array: np.ndarray = tensor.numpy().copy()
    return array
