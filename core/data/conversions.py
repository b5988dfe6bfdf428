"""Graphs from what other libraries hold in memory, checked as files are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from core.data.assembly import RawGraph, assemble_graph, join_node_table
from core.data.columns import as_text, check_distinct_names
from core.data.pyg import build_raw
from core.errors import InputError
from core.graph import Graph

if TYPE_CHECKING:
    import networkx as nx
    from torch_geometric.data import Data

MEMORY = "in memory"


def from_networkx(
    graph: nx.Graph,
    *,
    private: str | None = None,
    utility: str | None = None,
    weight: str | None = "weight",
    name: str = "graph",
) -> Graph:
    """A graph of NetworkX: nodes by their text, node attributes as columns.

    private, utility  columns that become attributes even if they are numbers
    weight  edge attribute with the weights, edges without it weigh 1; None for no weights

    Direction, self-loops and parallel edges are dropped. Raises InputError if two nodes have one
    text.

    >>> import networkx as nx
    >>> from core import from_networkx
    >>> from_networkx(nx.karate_club_graph(), private="club")
    Graph('graph', nodes=34, links=78)
    """
    if not hasattr(graph, "edges"):
        raise InputError("graph", "must be a graph of NetworkX", type(graph).__name__)
    nodes = list(graph)
    for node in nodes:
        if node != node or not str(node).strip():
            remedy = "remove the node, or relabel it"
            raise InputError("nodes", "must have a text of their own", repr(node), remedy)
    _check_distinct([str(node) for node in nodes])
    private, utility = _read_column(private, "private"), _read_column(utility, "utility")
    place = {node: number for number, node in enumerate(nodes)}
    rows = [(place[a], place[b], data) for a, b, data in graph.edges(data=True)]
    given = [data.get(weight, 1) for *_, data in rows]
    has_weights = any(weight in data for *_, data in rows)
    keys = dict.fromkeys(key for node in nodes for key in graph.nodes[node])
    check_distinct_names(list(map(str, keys)), "attributes of the nodes")
    table = pd.DataFrame([{str(k): v for k, v in graph.nodes[node].items()} for node in nodes])
    raw = RawGraph(
        pairs=np.array([(a, b) for a, b, _ in rows], np.int64).reshape(-1, 2),
        node_ids=tuple(map(str, nodes)),
        weights=_read_weights(pd.Series(given, dtype=object)) if has_weights else None,
        table=table if table.shape[1] else None,
    )
    return assemble_graph(raw, source=MEMORY, name=name, private=private, utility=utility).graph


def from_pandas(
    links: pd.DataFrame,
    nodes: pd.DataFrame | None = None,
    *,
    source: str = "source",
    target: str = "target",
    weight: str | None = None,
    id: str = "id",
    private: str | None = None,
    utility: str | None = None,
    unknown: str | Sequence[str] = (),
    name: str = "graph",
) -> Graph:
    """A graph of a table of links and, if there is one, a table of the nodes.

    source, target, weight  columns of the links
    id       column of the nodes with the values of source and target
    unknown  markers of missing values

    Numeric columns of the nodes become features, others attributes. Raises InputError for a link
    to an id that the nodes lack.

    >>> import pandas as pd
    >>> from core import from_pandas
    >>> links = pd.DataFrame({"source": ["ada", "bob"], "target": ["bob", "eve"]})
    >>> nodes = pd.DataFrame({"id": ["ada", "bob", "eve"], "city": ["Rome", "Rome", "Oslo"]})
    >>> graph = from_pandas(links, nodes, private="city")
    >>> graph, graph.column("city").classes
    (Graph('graph', nodes=3, links=2), ('Oslo', 'Rome'))
    """
    links = _convert_columns(links, "links")
    nodes = None if nodes is None else _convert_columns(nodes, "nodes")
    private, utility = _read_column(private, "private"), _read_column(utility, "utility")
    source, target, id = str(source), str(target), str(id)
    weight = None if weight is None else str(weight)
    wanted = [(links, "links", column) for column in (source, target, weight) if column is not None]
    for table, what, column in [*wanted, *([] if nodes is None else [(nodes, "nodes", id)])]:
        if column not in table.columns:
            known = ", ".join(map(str, table.columns[:20]))
            raise InputError(f"column of the {what}", "must be one of " + known, column)
    ends = pd.concat([as_text(links[source]), as_text(links[target])], ignore_index=True)
    if (ends == "").any():
        row = int(np.flatnonzero(ends == "")[0]) % len(links)
        raise InputError("links", "must have both ends in every row", f"row {row} lacks one")
    codes, ids = pd.factorize(ends)
    raw = RawGraph(
        pairs=np.asarray(codes, np.int64).reshape(2, -1).T,
        node_ids=tuple(ids),
        weights=None if weight is None else _read_weights(links[weight]),
    )
    if nodes is not None:
        raw = join_node_table(raw, nodes, id, MEMORY)
    made = assemble_graph(
        raw, source=MEMORY, name=name, private=private, utility=utility, unknown=unknown
    )
    return made.graph


def from_pyg(data: Data, *, private: str | None = None, name: str = "graph") -> Graph:
    """A graph of PyG: `edge_index`, features `x`, classes `y` as `label`, `edge_weight`.

    Other tensors of one integer per node become attributes; masks are dropped.

    >>> import torch
    >>> from torch_geometric.data import Data
    >>> from core import from_pyg
    >>> links = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    >>> graph = from_pyg(Data(edge_index=links, x=torch.eye(3), y=torch.tensor([0, 0, 1])))
    >>> graph, graph.features.shape, list(graph.attributes)
    (Graph('graph', nodes=3, links=2), (3, 3), ['label'])
    """
    import torch

    if not hasattr(data, "to_dict") or getattr(data, "edge_index", None) is None:
        shown = type(data).__name__
        raise InputError("graph", "must be a Data object of PyG with edge_index", shown)
    private = _read_column(private, "private")
    fields: dict[str, Any] = {"num_nodes": torch.tensor(data.num_nodes)}
    fields |= {str(k): v.cpu() for k, v in data.to_dict().items() if isinstance(v, torch.Tensor)}
    return assemble_graph(
        build_raw(fields, "data"), source=MEMORY, name=name, private=private
    ).graph


def _convert_columns(table: Any, what: str) -> pd.DataFrame:
    """The table with texts as names of its columns; InputError if these are not distinct."""
    if not isinstance(table, pd.DataFrame):
        raise InputError(what, "must be a DataFrame of pandas", type(table).__name__)
    if isinstance(table.columns, pd.MultiIndex):
        remedy = "join the levels: table.columns = ['_'.join(map(str, c)) for c in table.columns]"
        raise InputError(f"columns of the {what}", "must have one level of names", None, remedy)
    names = list(map(str, table.columns))
    check_distinct_names(names, f"table of the {what}")
    return table.set_axis(names, axis=1)


def _read_column(given: Any, what: str) -> str | None:
    """A name of a column as text; a number is the name that it is written as."""
    if given is None or isinstance(given, str | int | float):
        return None if given is None else str(given)
    remedy = "run_audit takes several private columns" if what == "private" else ""
    raise InputError(f"{what} column", "must be one name", given, remedy)


def _read_weights(values: pd.Series) -> np.ndarray:
    """(k,) float64; InputError names the first that is no number."""
    numbers = np.asarray(pd.to_numeric(values, errors="coerce"), np.float64)
    if np.isnan(numbers).any():
        first = values.iloc[int(np.flatnonzero(np.isnan(numbers))[0])]
        raise InputError("weights", "must be numbers", first, "name another column, or none")
    return numbers


def _check_distinct(ids: Sequence[str]) -> None:
    texts = pd.Series(ids, dtype=str)
    if texts.duplicated().any():
        twice = texts[texts.duplicated()].iloc[0]
        raise InputError("nodes", "must have distinct texts", twice, "relabel them")
