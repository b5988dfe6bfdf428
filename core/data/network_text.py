"""Networks as text: Pajek, Matrix Market's sparse matrices, Cytoscape's SIF, UCINET's DL."""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from core.data.assembly import RawGraph, normalize_ids
from core.data.link_columns import USES
from core.data.link_values import ReadColumn, choose_column, parse_columns
from core.data.loaded import LEFT_OUT, ColumnUse
from core.data.text_input import check_num_nodes, load_text, load_utf8
from core.errors import FormatError
from core.link_table import BOTH, DIRECTION, FORWARD, LinkColumn
from core.node_column import NodeColumn
from core.words import count_noun

_CELL = re.compile(r'"[^"]*"|\S+')
_SHAPE_WORDS = "l c p w s a ap lp lr lphi lc la fos font h1 h2 k1 k2 a1 a2 b q x_fact y_fact phi r"
_SHAPES = frozenset(_SHAPE_WORDS.split())
"""Names of what a line of Pajek says of how a link is drawn."""
_PAJEK = ("*arcs", "*edges", "*arcslist", "*edgeslist")


def load_pajek(path: str | Path) -> RawGraph:
    """Vertices by label if all labels are distinct, else by number; arcs have a direction.

    Places and shapes are counted and dropped; labels of links are a column of theirs.
    """
    file = f"file '{Path(path).name}'"
    labels: dict[int, str] = {}
    pairs: list[tuple[int, int]] = []
    weights: list[float] = []
    kinds: list[str] = []
    ways: list[int] = []
    first_mode = 0
    size, section = 0, ""
    unread: Counter[tuple[str, str]] = Counter()
    for number, line in enumerate(load_text(path).splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("%"):
            continue
        cells = [_unquote(cell) for cell in _CELL.findall(line)]
        place = f"line {number}"
        if cells[0].startswith("*"):
            section = cells[0].lower()
            if section == "*vertices":
                size = _parse_whole(cells[1:2], file, place)
                if len(cells) > 2:
                    first_mode = _parse_whole(cells[2:], file, place)
            elif section not in (*_PAJEK, "*network"):
                remedy = "save the network alone, with *Arcs or *Edges"
                raise FormatError(file, "must hold vertices, arcs and edges", cells[0], remedy)
            continue
        if section == "*vertices":
            vertex = _parse_whole(cells, file, place)
            if not 1 <= vertex <= size or vertex in labels:
                raise FormatError(file, f"must number its vertices from 1 to {size}", place)
            labels[vertex] = cells[1] if len(cells) > 1 else ""
            unread["nodes", "place and shape"] += len(cells) > 2
        elif section in _PAJEK:
            is_list = section.endswith("list")
            ends = [_parse_whole([cell], file, place) for cell in (cells if is_list else cells[:2])]
            if len(ends) < 2 or not all(1 <= end <= size for end in ends):
                raise FormatError(file, f"must link vertices from 1 to {size}", place)
            pairs += [(ends[0] - 1, end - 1) for end in ends[1:]]
            has_weight = not is_list and len(cells) > 2 and cells[2].lower() not in _SHAPES
            has_label = not is_list and "l" in cells[2:-1]
            known = 2 + has_weight + 2 * has_label
            unread["links", "shape and time"] += not is_list and len(cells) > known
            kinds += [cells[cells.index("l", 2) + 1] if has_label else ""] * (len(ends) - 1)
            ways += [FORWARD if section.startswith("*arcs") else BOTH] * (len(ends) - 1)
            weights += [_parse_weight(cells[2], file, place) if has_weight else 1.0] * (
                len(ends) - 1
            )
        else:
            raise FormatError(file, "must begin with *Vertices", place)
    check_num_nodes(file, size, len(pairs) + len(labels))
    names = [labels.get(vertex, "") for vertex in range(1, size + 1)]
    use_labels = all(names) and len(set(names)) == size
    notes = []
    if any(names) and not use_labels:
        notes.append("vertices are called by their numbers: some labels are missing or repeated")
    columns, uses = _read_link_columns({"label": kinds} if any(kinds) else {}, file, "weight")
    if FORWARD in ways:
        columns[DIRECTION] = LinkColumn("direction", np.array(ways))
        uses.append(ColumnUse("links", DIRECTION, USES["direction"], "class", "by the format"))
    uses += _list_vertices(any(names), use_labels)
    uses += [
        ColumnUse(
            table, name, LEFT_OUT, "text", f"says how it is drawn ({count_noun(count, 'value')})"
        )
        for (table, name), count in unread.items()
        if count
    ]
    return normalize_ids(
        RawGraph(
            pairs=np.array(pairs, np.int64).reshape(-1, 2),
            node_ids=tuple(names if use_labels else map(str, range(1, size + 1))),
            weights=np.array(weights),
            format="Pajek",
            notes=notes,
            columns=uses,
            modes=NodeColumn("mode", np.arange(size) >= first_mode, ("mode 1", "mode 2"))
            if first_mode
            else None,
            link_columns=columns,
        )
    )


def _list_vertices(has_labels: bool, use_labels: bool) -> list[ColumnUse]:
    """Uses of the numbers and labels of the nodes of Pajek and UCINET."""
    uses = [ColumnUse("nodes", "number", LEFT_OUT, "id", "nodes are called by their labels")]
    if not use_labels:
        uses = [ColumnUse("nodes", "number", "id", "id", "by the format")]
    if use_labels:
        uses.append(ColumnUse("nodes", "label", "id", "id", "all of them are distinct"))
    elif has_labels:
        why = "some are missing or repeated"
        uses.append(ColumnUse("nodes", "label", LEFT_OUT, "text", why))
    return uses


def _read_link_columns(
    cells: Mapping[str, list[str]], file: str, *used: str
) -> tuple[dict[str, LinkColumn], list[ColumnUse]]:
    """Columns of the links by name, and the uses of these and of the others."""
    uses = [ColumnUse("links", name, name, "id") for name in ("source", "target")]
    uses += [ColumnUse("links", name, name, "number") for name in used]
    found = [choose_column(name, values, {}) for name, values in cells.items()]
    count = {name: count_noun(sum(map(bool, values)), "value") for name, values in cells.items()}
    found = [replace(column, why=f"{column.why} ({count[column.name]})") for column in found]
    columns, read = parse_columns([c for c in found if isinstance(c, ReadColumn)], cells, file)
    return columns, [*uses, *read, *(c for c in found if isinstance(c, ColumnUse))]


def load_sif(path: str | Path) -> RawGraph:
    """Cytoscape's lines of a node, the kind of its links, and further nodes; or of one node.

    Tabs separate cells if there are any, else blanks.
    """
    file = f"file '{Path(path).name}'"
    text = load_text(path)
    gap = "\t" if "\t" in text else None
    nodes: dict[str, int] = {}
    pairs: list[tuple[int, int]] = []
    kinds: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        cells = [cell.strip() for cell in line.strip().split(gap)]
        if cells == [""]:
            continue
        if len(cells) == 2 or not all(cells):
            rule = "must have a node, a kind of link and a node in every line"
            raise FormatError(file, rule, f"line {number}", "call it .csv if it has two columns")
        ends = [nodes.setdefault(cell, len(nodes)) for cell in (cells[0], *cells[2:])]
        pairs += [(ends[0], end) for end in ends[1:]]
        kinds += cells[1:2] * (len(ends) - 1)
    columns, uses = _read_link_columns({"kind": kinds}, file)
    return normalize_ids(
        RawGraph(
            np.array(pairs, np.int64).reshape(-1, 2),
            tuple(nodes),
            format="SIF",
            columns=uses,
            link_columns=columns,
        )
    )


_DL_REMEDY = "write format = fullmatrix, edgelist1 or nodelist1, or export GraphML or CSV"


def load_dl(path: str | Path) -> RawGraph:
    """UCINET's DL of one square network: fullmatrix, edgelist1 or nodelist1, with or without
    labels, apart or embedded."""
    file = f"file '{Path(path).name}'"
    text = load_text(path)
    parts = re.split(r"(?i)(\bdata\s*:)", text, maxsplit=1)
    head, mark, body = parts if len(parts) == 3 else (text, "", "")
    fields = {k.lower(): v.lower() for k, v in re.findall(r"(\w+)\s*=\s*(\w+)", head)}
    kind = fields.get("format", "fullmatrix")
    known = ("fullmatrix", "edgelist1", "nodelist1")
    if (
        not mark
        or kind not in known
        or fields.keys() & {"nr", "nc"}
        or fields.get("nm", "1") != "1"
    ):
        shown = ", ".join(f"{k}={v}" for k, v in fields.items())
        raise FormatError(file, "must hold one square network after DATA:", shown, _DL_REMEDY)
    size = _parse_whole([fields.get("n", "")], file, "N=")
    check_num_nodes(file, size, len(body.split()))
    is_embedded = re.search(r"(?i)labels\s+embedded", head) is not None
    listed = re.sub(r"(?i)labels\s+embedded\s*:?", "", head)  # may stand after the list
    found = re.search(r"(?i)\blabels\s*:(.*)", listed, re.DOTALL)
    labels = _split_labels(found[1]) if found else []
    rows = [cells for line in body.splitlines() if (cells := _split_labels(line))]
    if kind == "fullmatrix" and is_embedded:
        labels, rows = rows[0], [row[1:] for row in rows[1:]]
    numbers: dict[str, int] = {}
    if not is_embedded or labels:
        names = labels or list(map(str, range(1, size + 1)))
        numbers = {name: i for i, name in enumerate(names)}
        if len(numbers) != size or len(names) != size:
            raise FormatError(file, f"must have {size} distinct labels", len(names))
    pairs: list[tuple[int, int]] = []
    weights: list[float] = []

    def find(cell: str) -> int:
        if is_embedded:
            return numbers.setdefault(cell, len(numbers))
        node = _parse_whole([cell], file, "DATA") - 1
        if not 0 <= node < size:
            raise FormatError(file, f"must number its nodes from 1 to {size}", cell)
        return node

    if kind == "fullmatrix":
        cells = [cell for row in rows for cell in row]
        if len(cells) != size * size:
            raise FormatError(file, f"must have {size} × {size} cells", len(cells), _DL_REMEDY)
        values = np.array([_parse_weight(c, file, "DATA") for c in cells]).reshape(size, size)
        values = np.triu(values) if (values == values.T).all() else values
        pairs = [(int(a), int(b)) for a, b in np.argwhere(values != 0)]
        weights = values[values != 0].tolist()
    for row in rows if kind != "fullmatrix" else []:
        ends = row[:2] if kind == "edgelist1" else row
        if len(ends) < 2 and kind == "edgelist1":
            raise FormatError(file, "must have two nodes in every row", " ".join(row)[:40])
        nodes = [find(cell) for cell in ends]
        pairs += [(nodes[0], node) for node in nodes[1:]]
        if kind == "edgelist1" and len(row) > 3:
            rule = "must have two nodes and at most a weight in every row"
            raise FormatError(file, rule, " ".join(row)[:40])
        weight = row[2] if kind == "edgelist1" and len(row) > 2 else "1"
        weights += [_parse_weight(weight, file, "DATA")] * (len(nodes) - 1)
    names = [*numbers, *(f"{i}" for i in range(len(numbers) + 1, size + 1))]
    if len(set(names)) != len(names) or len(names) != size:
        raise FormatError(file, f"must have {size} distinct nodes", len(names))
    return normalize_ids(
        RawGraph(
            np.array(pairs, np.int64).reshape(-1, 2),
            tuple(names),
            np.array(weights),
            format="UCINET DL",
            columns=[
                *_read_link_columns({}, file, "weight")[1],
                *_list_vertices(bool(labels) or is_embedded, bool(labels) or is_embedded),
            ],
        )
    )


def _split_labels(text: str) -> list[str]:
    return [_unquote(cell) for cell in re.findall(r'"[^"]*"|[^\s,]+', text)]


def _unquote(cell: str) -> str:
    """The text within a pair of quotation marks; a lone one is part of the text."""
    return cell[1:-1] if len(cell) > 1 and cell[0] == cell[-1] == '"' else cell


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
        columns=_read_link_columns({}, file, *([] if kind == "pattern" else ["weight"]))[1],
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
