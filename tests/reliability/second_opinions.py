"""What independent readers make of a file: NetworkX, pandas and a few lines of our own.

Each knows its format by another's rules, so that where it and the app read a file differently and
the app's report says no word of it, one of the two has silently read something else. What a
reader here refuses is no second opinion. What the app says of its own it does: self-loops are
dropped, directions joined, the largest weight of a repeated link stays, a link without a weight
weighs 1, ids are stripped and in composed Unicode.
"""

from __future__ import annotations

import csv
import gzip
import io
import itertools
import json
import re
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from unicodedata import normalize
from xml.etree import ElementTree

import networkx as nx
import numpy as np
import pandas as pd

from core.data.loaded import LoadedGraph
from core.graph import Graph
from core.node_column import MISSING

Values = dict[str, dict[str, str]]
"""Node → column → text, without those that are blank."""


@dataclass(frozen=True)
class Reading:
    """A graph as one reader has it.

    links   both ends of each link → its weight, 1 without one
    nodes   None where the format does not name them
    values  of nodes, where the reader tells them apart from what it adds itself
    """

    links: dict[frozenset[str], float]
    nodes: frozenset[str] | None = None
    values: Values = field(default_factory=dict)


def read_ours(loaded: LoadedGraph) -> Reading:
    """What the app read."""
    graph: Graph = loaded.graph
    ids = graph.node_ids
    weights = np.ones(graph.num_edges) if graph.weights is None else graph.weights
    pairs = [frozenset((ids[i], ids[j])) for i, j in graph.edges.tolist()]
    values: Values = {node: {} for node in ids}
    for name, column in graph.attributes.items():
        for node, code in zip(ids, column.codes.tolist(), strict=True):
            if code != MISSING:
                values[node][name] = column.classes[code]
    if graph.features is not None:
        for node, row in zip(ids, graph.dense_features(), strict=True):
            values[node] |= dict(zip(graph.feature_names, map(repr, row.tolist()), strict=True))
    return Reading(dict(zip(pairs, weights.tolist(), strict=True)), frozenset(ids), values)


def describe_difference(ours: Reading, theirs: Reading) -> str:
    """In what the two differ; "" in nothing."""
    if theirs.nodes is not None and ours.nodes != theirs.nodes:
        return f"nodes {_sample(ours.nodes or (), theirs.nodes)}"
    if ours.links.keys() != theirs.links.keys():
        return f"links {_sample(map(_show, ours.links), map(_show, theirs.links))}"
    for pair, weight in theirs.links.items():
        if not _are_close(ours.links[pair], weight):
            return f"weight of {_show(pair)}: {ours.links[pair]} and {weight}"
    columns = {name for values in theirs.values.values() for name in values}
    for node, values in theirs.values.items():
        for name in columns:
            one, other = (v.get(name, "") for v in (ours.values[node], values))
            if not _are_same(one, other):
                return f"'{name}' of {node}: {one!r} and {other!r}"
    return ""


def tells_more(loaded: LoadedGraph, sound: LoadedGraph) -> bool:
    """Whether the report says something of this file that it does not say of the sound one."""
    here, there = asdict(loaded.report), asdict(sound.report)
    told = {"num_unknown", "num_filled", "num_rows_skipped", "columns", "notes", "id_warnings"}
    return any(here[name] != there[name] and here[name] for name in told)


def list_readings(path: Path, links: Path, nodes: Path | None) -> list[Reading]:
    """Readings of a graph of which one file is at `path`; the app must agree with one of them."""
    if nodes is not None:
        return [_read_words(nodes, links) if nodes.suffix == ".json" else _read_nodes(nodes, links)]
    name = path.name.removesuffix(".gz")
    return list(READERS.get(Path(name).suffix, _read_text)(path))


def _sample(ours: Iterable[str], theirs: Iterable[str]) -> str:
    return str(sorted(set(ours) ^ set(theirs))[:3])


def _show(pair: frozenset[str]) -> str:
    return " – ".join(sorted(pair))


def _are_close(one: float, other: float) -> bool:
    return abs(one - other) <= 1e-6 * max(abs(one), abs(other), 1e-30)


def _are_same(one: str, other: str) -> bool:
    if one == other:
        return True
    try:
        return _are_close(float(one), float(other))
    except ValueError:
        return False


def _clean(node: object) -> str:
    return normalize("NFC", str(node).strip())


def _collect(
    rows: Iterable[tuple[object, object, object]], nodes: Iterable[object] | None = None
) -> Reading:
    links: dict[frozenset[str], float] = {}
    for source, target, weight in rows:
        pair = frozenset((_clean(source), _clean(target)))
        if len(pair) == 2:
            links[pair] = max(links.get(pair, 0.0), float(str(weight)))
    return Reading(links, None if nodes is None else frozenset(map(_clean, nodes)))


def _read_networkx(read: Callable[[Path], Any]) -> Callable[[Path], Iterator[Reading]]:
    def call(path: Path) -> Iterator[Reading]:
        graph = read(path)
        rows = ((a, b, data.get("weight", 1)) for a, b, data in graph.edges(data=True))
        reading = _collect(rows, graph.nodes)
        values: dict[str, dict[str, str]] = {}
        if path.suffix != ".net":  # which has no columns of its own
            for node, data in graph.nodes(data=True):  # "1" and "1 " are one
                own = {k: str(v) for k, v in data.items() if k == "kind"}
                values.setdefault(_clean(node), {}).update(own)
        has_kinds = any(values.values())
        yield Reading(reading.links, reading.nodes, values if has_kinds else {})

    return call


def _read_pajek(path: Path) -> Any:
    lines, is_links = path.read_bytes().decode().splitlines(), False
    for number, line in enumerate(lines):
        is_links = not line.lower().startswith("*vertices") if line.startswith("*") else is_links
        if is_links:  # 05 is vertex 5, which NetworkX takes for another node
            lines[number] = re.sub(r"(?<!\S)0+(?=[1-9]\d*(\s|$))", "", line, count=2)
    return nx.parse_pajek(lines)


def _read_gml(path: Path) -> Any:
    try:
        return nx.read_gml(path)
    except nx.NetworkXError:  # labels are missing or not distinct: numbers are the ids then
        return nx.read_gml(path, label="id")


def _read_json(path: Path) -> Any:
    content = json.loads(path.read_text(encoding="utf-8-sig"))
    graph = nx.node_link_graph(content, edges="links")
    names = nx.get_node_attributes(graph, "name")
    if not any("id" in row for row in content["nodes"]) and len(set(names.values())) == len(graph):
        graph = nx.relabel_nodes(graph, names)  # by place: they are called by their names
    return graph


def _read_matrix(path: Path) -> Iterator[Reading]:
    header, *lines = path.read_text().splitlines()
    lines = [line for line in lines if line.strip() and not line.startswith("%")]
    size = int(lines[0].split()[0])
    rows = pd.read_csv(io.StringIO("\n".join(lines[1:])), sep=r"\s+", header=None)
    assert rows.shape == (int(lines[0].split()[2]), 2 if "pattern" in header.lower() else 3)
    rows = rows if rows.shape[1] == 3 else rows.assign(weight=1.0)
    rows = rows[rows.iloc[:, 2] != 0]
    yield _collect(rows.itertuples(index=False, name=None), range(1, size + 1))


def _read_table(path: Path) -> Iterator[Reading]:
    read = pd.read_parquet if path.suffix == ".parquet" else pd.read_feather
    table = read(path)
    weights = table["weight"] if "weight" in table else itertools.repeat(1.0)
    yield _collect(zip(table["source"], table["target"], weights, strict=False))


def _read_text(path: Path) -> Iterator[Reading]:
    """By the first separator that every row has; with and without a header."""
    data = path.read_bytes()
    if path.suffix == ".gz":
        data = gzip.decompress(data)
    lines = data.decode("utf-8-sig").replace("\r\n", "\n").split("\n")
    lines = [line for line in lines if line.strip() and line.strip()[0] not in "#%"]
    for gap in ",;\t":
        rows = list(csv.reader(lines, delimiter=gap))
        if all(len(row) >= 2 for row in rows):
            width = max(map(len, rows))
            table = pd.read_csv(
                io.StringIO("\n".join(lines)),
                sep=gap,
                header=None,
                names=range(width),
                dtype=str,
                keep_default_na=False,
                na_values=[],
            ).fillna("")
            cells = table.to_numpy(object).tolist()
            break
    else:
        cells = [re.split(r"[ \t]+", line.strip(" \t")) for line in lines]
    if lines[0].startswith(","):  # a matrix with names
        table = pd.read_csv(io.StringIO("\n".join(lines)), index_col=0).rename(index=str)
        filled = ((a, b, w) for (a, b), w in table.fillna(0).stack().items() if w)
        yield _collect(filled, table.index)
    if len(cells[0]) == len(cells) + 1:  # a matrix with the names of its rows alone
        names = [row[0] for row in cells]
        rows = [(row[0], *cell) for row in cells for cell in zip(names, row[1:], strict=False)]
        yield _collect((row for row in rows if row[2] not in ("", "0")), names)
    right = "right " if re.search(rb"(?m)^[ \t]*%\s*bip\b", data) else ""  # KONECT: two modes
    for first in (0, 1):
        rows = [row for row in cells[first:] if len(row) > 1]
        rows = [[row[0], right + row[1], *row[2:]] for row in rows]
        are_weights = all(len(row) > 2 and _is_number(row[2]) for row in rows)
        yield _collect((row[0], row[1], row[2] if are_weights else 1) for row in rows)


def _is_number(text: str) -> bool:
    try:
        return bool(np.isfinite(float(text)))
    except ValueError:
        return False


def _read_nodes(path: Path, links: Path, has_header: bool = True) -> Reading:
    """A node table by pandas, beside links with or without a header."""
    if path.suffix == ".parquet":
        table = pd.read_parquet(path).astype(object)
    else:
        table = pd.read_csv(path, dtype=str, keep_default_na=False, sep=_find_gap(path))
    table = table.map(lambda cell: "" if cell is None or cell != cell else str(cell).strip())
    values = {
        _clean(row["id"]): {
            str(k).strip(): v
            for k, v in row.items()
            if k != "id" and v not in ("", "nan", "NaN", "None", "<NA>")
        }
        for row in table.to_dict("records")
    }
    bare, with_header = list(_read_text(links))[-2:]
    return Reading((with_header if has_header else bare).links, frozenset(values), values)


def _find_gap(path: Path) -> str:
    first = path.read_text(encoding="utf-8-sig").split("\n")[0]
    return max(",;\t", key=first.count)


def _read_words(path: Path, links: Path) -> Reading:
    """Words as features, beside sound links without a header."""
    words: dict[str, list[int]] = json.loads(path.read_text(encoding="utf-8-sig"))
    size = max((word for row in words.values() for word in row), default=-1) + 1
    bare = next(_read_text(links))
    nodes = frozenset(words) | {end for pair in bare.links for end in pair}
    values = {
        node: {f"word_{k}": str(float(k in words.get(node, ()))) for k in range(size)}
        for node in nodes
    }
    return Reading(bare.links, nodes, values)


def _read_sif(path: Path) -> Iterator[Reading]:
    rows = [line.strip().split("\t") for line in path.read_text().splitlines() if line.strip()]
    yield _collect(
        ((a, b, 1) for a, _, *ends in rows for b in ends), [c for r in rows for c in (r[0], *r[2:])]
    )


def _read_dl(path: Path) -> Iterator[Reading]:
    head, _, body = path.read_text().partition("data:")
    size = int(re.findall(r"n=(\d+)", head)[0])
    rows = [line.split() for line in body.splitlines() if line.strip()]
    # 03 is node 3
    rows = [[*(str(int(c)) if c.isdecimal() else c for c in row[:2]), *row[2:]] for row in rows]
    yield _collect(((r[0], r[1], r[2] if len(r) > 2 else 1) for r in rows), range(1, size + 1))


def is_whole_zip(path: Path) -> bool:
    """Whether the members match their checksums."""
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.testzip() is None
    except Exception:  # a damaged zip raises nearly anything
        return False


def _read_zip(path: Path) -> Iterator[Reading]:
    """Both tables of a zip or workbook, as files of their own."""
    with zipfile.ZipFile(path) as archive, tempfile.TemporaryDirectory() as name:
        tables = [Path(name) / "links.csv", Path(name) / "nodes.csv"]
        if path.suffix == ".xlsx":
            for number, table in enumerate(tables, 1):
                rows = _read_sheet(archive.read(f"xl/worksheets/sheet{number}.xml"))
                with table.open("w", newline="") as out:
                    csv.writer(out).writerows(rows)
        else:
            found = sorted(archive.namelist(), key=len)
            for table, member in zip(tables, found, strict=True):
                table.write_bytes(archive.read(member))
        for has_header in (True, False):  # damage may take the header
            yield _read_nodes(tables[1], tables[0], has_header)


def _read_sheet(content: bytes) -> list[list[str]]:
    """Inline texts and numbers, in the order of the cells."""
    rows = []
    for row in ElementTree.fromstring(content).iter(f"{_SHEET}row"):
        cells = ["".join(c.itertext()).strip() for c in row.iter(f"{_SHEET}c")]
        rows.append([c[:-2] if re.fullmatch(r"\d+\.0", c) else c for c in cells])
    width = max(map(len, rows))
    return [row + [""] * (width - len(row)) for row in rows if any(row)]


_SHEET = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"

READERS: dict[str, Callable[[Path], Iterator[Reading]]] = {
    ".graphml": _read_networkx(nx.read_graphml),
    ".gexf": _read_networkx(nx.read_gexf),
    ".gml": _read_networkx(_read_gml),
    ".json": _read_networkx(_read_json),
    ".net": _read_networkx(_read_pajek),
    ".mtx": _read_matrix,
    ".sif": _read_sif,
    ".zip": _read_zip,
    ".xlsx": _read_zip,
    ".dl": _read_dl,
    ".parquet": _read_table,
    ".feather": _read_table,
}
