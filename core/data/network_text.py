"""Links by node numbers as text: Pajek's networks and Matrix Market's sparse matrices."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from core.data.assembly import RawGraph, normalize_ids
from core.data.text_input import check_num_nodes, load_text, load_utf8
from core.errors import FormatError

_PAJEK = ("*arcs", "*edges", "*arcslist", "*edgeslist")


def load_pajek(path: str | Path) -> RawGraph:
    """Vertices by label if all labels are distinct, else by number; arcs are read as edges.

    Coordinates, shapes, and anything after a link's weight are counted and dropped.
    """
    file = f"file '{Path(path).name}'"
    labels: dict[int, str] = {}
    pairs: list[tuple[int, int]] = []
    weights: list[float] = []
    size, section, further = 0, "", 0
    for number, line in enumerate(load_text(path).splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("%"):
            continue
        cells = next(csv.reader([line.strip()], delimiter=" ", skipinitialspace=True))
        cells = [cell for part in cells for cell in (part.split("\t") if "\t" in part else [part])]
        place = f"line {number}"
        if cells[0].startswith("*"):
            section = cells[0].lower()
            if section == "*vertices":
                size = _parse_whole(cells[1:2], file, place)
            elif section not in (*_PAJEK, "*network"):
                raise FormatError(file, "must hold vertices, arcs and edges", cells[0])
            continue
        if section == "*vertices":
            vertex = _parse_whole(cells, file, place)
            if not 1 <= vertex <= size or vertex in labels:
                raise FormatError(file, f"must number its vertices from 1 to {size}", place)
            labels[vertex] = cells[1] if len(cells) > 1 else ""
            further += len(cells) > 2
        elif section in _PAJEK:
            is_list = section.endswith("list")
            ends = [_parse_whole([cell], file, place) for cell in (cells if is_list else cells[:2])]
            if len(ends) < 2 or not all(1 <= end <= size for end in ends):
                raise FormatError(file, f"must link vertices from 1 to {size}", place)
            pairs += [(ends[0] - 1, end - 1) for end in ends[1:]]
            has_weight = not is_list and len(cells) > 2
            weights += [_parse_weight(cells[2], file, place) if has_weight else 1.0] * (
                len(ends) - 1
            )
        else:
            raise FormatError(file, "must begin with *Vertices", place)
    check_num_nodes(file, size, len(pairs) + len(labels))
    names = [labels.get(vertex, "") for vertex in range(1, size + 1)]
    use_labels = all(names) and len(set(names)) == size
    notes = [f"places and shapes of {further:,} vertices not used"] if further else []
    if any(names) and not use_labels:
        notes.append("vertices are called by their numbers: some labels are missing or repeated")
    return normalize_ids(
        RawGraph(
            pairs=np.array(pairs, np.int64).reshape(-1, 2),
            node_ids=tuple(names if use_labels else map(str, range(1, size + 1))),
            weights=np.array(weights),
            format="Pajek",
            notes=notes,
        )
    )


def load_matrix_market(path: str | Path) -> RawGraph:
    """Links of a square sparse matrix; nodes are its rows, numbered from 1. Zero entries are no
    links; a pattern has no weights."""
    from scipy.io import mminfo

    file = f"file '{Path(path).name}'"
    data = load_utf8(path)
    try:
        rows, columns, entries, layout, kind, _ = mminfo(io.BytesIO(data))
    except (ValueError, TypeError, OverflowError) as error:
        raise FormatError(file, "must be a complete Matrix Market file", str(error)) from None
    if layout != "coordinate" or kind not in ("real", "integer", "pattern"):
        rule = "must hold a sparse matrix of real numbers"
        raise FormatError(file, rule, f"{layout} {kind}", "write format coordinate")
    if rows != columns:
        raise FormatError(file, "must hold a square matrix", f"{rows} × {columns}")
    num_lines = data.count(b"\n") + 1
    if entries > num_lines:
        shown = f"{entries:,} entries in {num_lines:,} lines"
        raise FormatError(file, "must be a complete Matrix Market file", shown)
    check_num_nodes(file, rows, entries)
    pairs, weights = _read_entries(data, 2 if kind == "pattern" else 3, file)
    if len(pairs) != entries or not ((pairs >= 1) & (pairs <= rows)).all():
        shown = f"{entries:,} entries from 1 to {rows:,}"
        raise FormatError(file, "must be a complete Matrix Market file", f"not {shown}")
    is_link = weights != 0
    pairs, weights = pairs[is_link] - 1, weights[is_link]
    return RawGraph(
        pairs=pairs,
        node_ids=tuple(map(str, range(1, rows + 1))),
        weights=None if kind == "pattern" else weights,
        format="Matrix Market",
    )


def _read_entries(data: bytes, width: int, file: str) -> tuple[np.ndarray, np.ndarray]:
    """Both ends (k, 2) of the lines after the size line, and their values, else 1.

    Not by SciPy, which reads "18 8.5" as the entry (18, 8) and crashes on some damaged lines.
    """
    lines = re.sub(rb"(?m)^[ \t]*%.*$", b"", data)
    try:
        table = pd.read_csv(
            io.BytesIO(lines),
            sep=r"\s+",
            header=None,
            names=range(4),
            index_col=False,
            dtype=np.float64,
        ).to_numpy()[1:]
    except ValueError as error:
        shown = str(error).partition("\n")[0]
        raise FormatError(file, "must be a complete Matrix Market file", shown) from None
    pairs = table[:, :2]
    is_whole = np.isfinite(table[:, :width]).all(axis=1) & (pairs == np.rint(pairs)).all(axis=1)
    is_entry = is_whole & np.isnan(table[:, width:]).all(axis=1)
    if not is_entry.all():
        place = f"entry {int(np.argmin(is_entry)) + 1}"
        rule = f"must be a complete Matrix Market file of {width} numbers a line"
        raise FormatError(file, rule, place)
    weights = table[:, 2] if width == 3 else np.ones(len(table))
    return pairs.astype(np.int64), weights


def _parse_whole(cells: Sequence[str], file: str, place: str) -> int:
    text = cells[0] if cells else ""
    if not (text.isascii() and text.isdecimal()) or len(text) > 9:
        raise FormatError(file, "must number its vertices", f"'{text[:40]}' in {place}")
    return int(text)


def _parse_weight(text: str, file: str, place: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise FormatError(
            f"{file}: link weights", "must be numbers", f"'{text[:40]}' in {place}"
        ) from None
