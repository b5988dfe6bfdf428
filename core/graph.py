"""The graph under audit: immutable, undirected, simple, checked when it is built."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from core.arrays import canonical_edges, freeze, is_among, pair_codes
from core.errors import InputError
from core.link_table import LinkColumn, LinkTable
from core.node_column import MISSING, NodeColumn
from core.node_table import NodeTable

if TYPE_CHECKING:
    import networkx as nx
    from torch_geometric.data import Data

_CHECKED = 1 << 17
"""Links that are checked together."""

_PARTS = ("attributes", "features", "feature_names")
"""Parts in which the columns of the nodes may be given."""

_LARGEST = float(np.finfo(np.float32).max)
"""Largest weight: learners read weights as float32."""


@dataclass(frozen=True, eq=False)
class Graph:
    """Undirected simple graph with n nodes and m links.

    edges         (m, 2) int64, each link once as i < j, sorted by (i, j)
    node_ids      n distinct texts
    columns       name → column of the nodes, whatever it is used for
    weights       (m,) float64 ≥ 0 as given, or None for an unweighted graph
    link_table    further columns of the links, one row an event; or None
    modes         the two kinds of nodes that every link of the graph as read joins, such as people
                  and events; a release may have links within one. None: one kind

    >>> from core import Graph
    >>> graph = Graph.from_pairs([(0, 1), (1, 0), (1, 2)], node_ids=("ada", "bob", "eve"))
    >>> graph, graph.edges.tolist(), graph.degrees.tolist()
    (Graph('graph', nodes=3, links=2), [[0, 1], [1, 2]], [1, 2, 1])
    """

    edges: np.ndarray
    node_ids: tuple[str, ...]
    columns: NodeTable = field(default_factory=NodeTable)
    weights: np.ndarray | None = None
    name: str = "graph"
    link_table: LinkTable | None = None
    modes: NodeColumn | None = None

    def __post_init__(self) -> None:
        edges = np.asarray(self.edges, dtype=np.int64).reshape(-1, 2)
        object.__setattr__(self, "edges", freeze(edges))
        object.__setattr__(self, "node_ids", tuple(self.node_ids))
        if self.weights is not None:
            weights = np.asarray(self.weights, dtype=np.float64)
            object.__setattr__(self, "weights", freeze(weights))
        self._check()

    def _check(self) -> None:
        n, edges = self.num_nodes, self.edges
        if n < 1:
            raise InputError("graph", "must have at least one node", n)
        if len(set(self.node_ids)) != n:
            raise InputError("node ids", "must be distinct", remedy="remove the duplicates")
        # Some at a time, each with the last one before: no copy of millions of links.
        for start in range(0, len(edges), _CHECKED):
            part = edges[max(start - 1, 0) : start + _CHECKED]
            if part.min() < 0 or part.max() >= n:
                raise InputError("link ends", f"must be node numbers from 0 to {n - 1}")
            if not (part[:, 0] < part[:, 1]).all():
                raise InputError("links", "must be stored as i < j; use Graph.from_pairs")
            codes = part[:, 0] * n + part[:, 1]
            if not (codes[:-1] < codes[1:]).all():
                raise InputError("links", "must be sorted and distinct; use Graph.from_pairs")
        if self.weights is not None:
            if self.weights.shape != (self.num_edges,):
                raise InputError("weights", "must be one per link", self.weights.shape)
            if not np.isfinite(self.weights).all() or (self.weights < 0).any():
                raise InputError("weights", "must be finite and not negative")
            if (self.weights > _LARGEST).any():
                raise InputError("weights", f"must be at most {_LARGEST:.2g}", self.weights.max())
        if self.link_table is not None and (self.link_table.links[-1:] >= self.num_edges).any():
            raise InputError("link table", f"must have link numbers below {self.num_edges}")
        self.columns.check_rows(n)
        if self.modes is not None and (
            self.modes.codes.shape != (n,) or self.modes.num_classes != 2
        ):
            raise InputError("modes", f"must be two, with {n} values", self.modes.num_classes)

    # -- construction ---------------------------------------------------------------------

    @staticmethod
    def from_pairs(
        pairs: np.ndarray,
        num_nodes: int | None = None,
        weights: np.ndarray | None = None,
        link_columns: Mapping[str, LinkColumn] | None = None,
        **fields: Any,
    ) -> Graph:
        """Build from any (k, 2) pairs: direction, self-loops and duplicates are dropped.

        The weight of a link given several times is the largest one; `link_columns` keep a row for
        each pair, direction from the first to the second. Node ids default to "0" … "n-1".
        The columns may be given as `attributes`, name → NodeColumn, and as `features`, (n, d)
        dense or sparse, with `feature_names`. Raises InputError for what are no pairs of nodes.
        """
        given = {name: fields.pop(name) for name in _PARTS if name in fields}
        if given:
            fields["columns"] = NodeTable().update(**given)
        ids = fields.pop("node_ids", None)
        if num_nodes is None and ids is not None:
            num_nodes = len(ids)
        pairs = _check_pairs(pairs, num_nodes, weights)
        if num_nodes is None:
            num_nodes = int(pairs.max(initial=-1)) + 1
        if ids is None:
            ids = tuple(map(str, range(num_nodes)))
        edges, weights = canonical_edges(pairs, num_nodes, weights)
        edges.flags.writeable = False  # nobody else has it: it need not be copied
        if link_columns:
            fields["link_table"] = LinkTable.of_pairs(pairs, edges, num_nodes, link_columns)
        return Graph(edges=edges, node_ids=ids, weights=weights, **fields)

    def with_edges(self, edges: np.ndarray, weights: np.ndarray | None = None) -> Graph:
        """The same nodes with other links (any (k, 2) pairs); those that stay keep their rows."""
        edges = _check_pairs(edges, self.num_nodes, weights)
        edges, weights = canonical_edges(edges, self.num_nodes, weights)
        table = self.move_rows(self.edges, edges, self.num_nodes)
        return replace(self, edges=edges, weights=weights, link_table=table)

    def move_rows(self, ends: np.ndarray, edges: np.ndarray, num_nodes: int) -> LinkTable | None:
        """The link table of another graph, where this one's links have the ends `ends` (m, 2)."""
        return None if self.link_table is None else self.link_table.move(ends, edges, num_nodes)

    def without_edges(self, pairs: np.ndarray) -> Graph:
        """The graph without the given links; other pairs are ignored."""
        return self.select_edges(
            ~is_among(self.edge_codes, np.sort(pair_codes(pairs, self.num_nodes)))
        )

    def select_edges(self, is_kept: np.ndarray) -> Graph:
        """The same nodes with the links selected by the mask (m,)."""
        weights = None if self.weights is None else self.weights[is_kept]
        edges = self.edges[is_kept]
        table = self.move_rows(self.edges, edges, self.num_nodes)
        return replace(self, edges=edges, weights=weights, link_table=table)

    def with_private(self, *names: str | None) -> Graph:
        """The graph with these columns as attributes and not as features; None is skipped."""
        return self._with(self.columns.as_attributes([n for n in names if n is not None]))

    def without_features(self, names: Collection[str]) -> Graph:
        """The graph without the feature columns of these names."""
        return self._with(self.columns.without_features(names))

    def with_columns(self, names: Collection[str]) -> Graph:
        """The same nodes and links with only these columns."""
        return self._with(self.columns.select(names))

    def with_attributes(self, attributes: Mapping[str, NodeColumn]) -> Graph:
        """The graph with these attributes added, or in place of those of their names."""
        return self.update_columns(attributes={**self.attributes, **attributes})

    def update_columns(self, **parts: Any) -> Graph:
        """The graph with other `attributes`, or other `features` and `feature_names`."""
        return self._with(self.columns.update(**parts))

    def _with(self, columns: NodeTable) -> Graph:
        return self if columns is self.columns else replace(self, columns=columns)

    def subgraph(self, nodes: np.ndarray) -> Graph:
        """Induced subgraph with all data.

        nodes  (k,) distinct node numbers, in the order of the result, or a mask (n,)
        """
        nodes = np.asarray(nodes)
        nodes = np.flatnonzero(nodes) if nodes.dtype == bool else nodes.astype(np.int64)
        place = np.full(self.num_nodes, MISSING)
        place[nodes] = np.arange(len(nodes))
        ends = place[self.edges]
        inside = (ends >= 0).all(axis=1)
        weights = None if self.weights is None else self.weights[inside]
        edges, weights = canonical_edges(ends[inside], len(nodes), weights)
        return replace(
            self,
            edges=edges,
            node_ids=tuple(self.node_ids[node] for node in nodes.tolist()),
            columns=self.columns.take(nodes),
            weights=weights,
            link_table=self.move_rows(ends, edges, len(nodes)),
            modes=None if self.modes is None else self.modes.take(nodes),
        )

    # -- views ----------------------------------------------------------------------------

    @property
    def attributes(self) -> Mapping[str, NodeColumn]:
        """Columns that attackers do not read unless they are published."""
        return self.columns.attributes

    @property
    def features(self) -> np.ndarray | sparse.csr_array | None:
        """(n, d) float32, dense or CSR, what attackers read; None if that is nothing."""
        return self.columns.features

    @property
    def feature_names(self) -> tuple[str, ...]:
        """d names of the features."""
        return self.columns.feature_names

    @property
    def num_nodes(self) -> int:
        return len(self.node_ids)

    @property
    def num_edges(self) -> int:
        return len(self.edges)

    @property
    def num_pairs(self) -> int:
        return self.num_nodes * (self.num_nodes - 1) // 2

    @property
    def num_candidates(self) -> int:
        """Pairs that may be links: all, or in a graph of two modes those across them."""
        return self.num_pairs if self.modes is None else int(np.prod(self.modes.counts))

    @property
    def node_candidates(self) -> np.ndarray:
        """(n,) int64 candidates of each node: all other nodes, or those of the other mode."""
        if self.modes is None:
            return np.full(self.num_nodes, max(self.num_nodes - 1, 0))
        codes = self.modes.codes
        return np.where(codes < 0, 0, self.modes.counts[1 - np.maximum(codes, 0)])

    @property
    def density(self) -> float:
        """Share of links among the candidates."""
        return self.num_edges / max(self.num_candidates, 1)

    def may_link(self, pairs: np.ndarray) -> np.ndarray:
        """(k,) bool: which of the (k, 2) pairs are candidates."""
        if self.modes is None:
            return np.ones(len(pairs), bool)
        sides = self.modes.codes[pairs]
        return np.asarray((sides >= 0).all(axis=1) & (sides[:, 0] != sides[:, 1]))

    @cached_property
    def index(self) -> Mapping[str, int]:
        """Id → node number."""
        return MappingProxyType({node: position for position, node in enumerate(self.node_ids)})

    def find_nodes(self, ids: Iterable[str], what: str = "node") -> np.ndarray:
        """(k,) int64 node numbers of ids; raises InputError about `what` for an unknown id."""
        try:
            return np.array([self.index[node] for node in ids], np.int64)
        except KeyError as error:
            some = ", ".join(self.node_ids[:3])
            remedy = f"ids are such as {some}"
            raise InputError(what, "must be in the graph", error.args[0], remedy) from None

    @cached_property
    def edge_codes(self) -> np.ndarray:
        """(m,) sorted int64 i·n + j; membership of pairs by `is_among`."""
        return freeze(pair_codes(self.edges, self.num_nodes))

    @property
    def present_edges(self) -> np.ndarray:
        """(k, 2) links of positive weight."""
        return self.edges if self.weights is None else self.edges[self.weights > 0]

    @property
    def link_weights(self) -> np.ndarray:
        """(m,) float64 weights; 1 each where the graph has none."""
        return np.ones(self.num_edges) if self.weights is None else self.weights

    @cached_property
    def degrees(self) -> np.ndarray:
        """(n,) int64 degrees."""
        return freeze(np.bincount(self.edges.ravel(), minlength=self.num_nodes))

    @cached_property
    def strengths(self) -> np.ndarray:
        """(n,) float64 weighted degrees; the degrees where links have no weights."""
        if self.weights is None:
            return freeze(self.degrees.astype(np.float64))
        return freeze(self.sum_at_ends(self.weights))

    def sum_at_ends(self, values: np.ndarray) -> np.ndarray:
        """(n,) float64 sums of values (m,) over each node's links."""
        sums = np.bincount(self.edges.ravel(), np.repeat(values, 2), self.num_nodes)
        return sums.astype(np.float64)  # counts, int64, where there are no links

    @cached_property
    def adjacency(self) -> sparse.csr_array:
        """(n, n) float32 symmetric CSR with sorted indices; link weights, or 1."""
        i, j = self.edges.T
        values = np.ones(self.num_edges, np.float32)
        if self.weights is not None:
            values = self.weights.astype(np.float32)
        shape = (self.num_nodes, self.num_nodes)
        upper = sparse.coo_array((values, (i, j)), shape=shape)
        matrix = (upper + upper.T).tocsr()
        matrix.sort_indices()
        return matrix

    @cached_property
    def content_hash(self) -> str:
        """SHA-256 of everything except the name, including the order of nodes, on which results
        depend."""
        digest = hashlib.sha256()

        def add(label: str, array: np.ndarray) -> None:
            digest.update(f"{label}:{array.dtype}:{array.shape};".encode())
            digest.update(np.ascontiguousarray(array).data)

        add("edges", self.edges)
        _add_texts(digest, self.node_ids)
        for name in sorted(self.attributes):
            attribute = self.attributes[name]
            _add_texts(digest, (name, *attribute.classes))
            add("codes", attribute.codes)
            if attribute.values is not None:
                add("values", attribute.values)
        if self.features is not None:
            _add_texts(digest, self.feature_names)
            if sparse.issparse(self.features):
                for part in ("indptr", "indices", "data"):
                    values = getattr(self.features, part)
                    add(part, values if part == "data" else values.astype(np.int64))
            else:
                add("features", self.features)
        for name in self.columns.read:  # with what their numbers do not tell
            column = self.columns[name]
            _add_texts(digest, ("read", name, *column.classes))
            add("codes", column.codes)
            if column.values is not None:
                add("values", column.values)
        if self.weights is not None:
            # As when weights were kept as float32, by which stored graphs are named.
            short = self.weights.astype(np.float32)
            add("weights", short if (short == self.weights).all() else self.weights)
        if self.link_table is not None:
            for name, array in self.link_table.pack().items():
                add(f"link {name}", array)
        if self.modes is not None:
            _add_texts(digest, ("modes", *self.modes.classes))
            add("modes", self.modes.codes)
        return digest.hexdigest()

    @cached_property
    def identity_hash(self) -> str:
        """SHA-256 of the sets of node ids and links: independent of the order of rows and of
        columns."""
        order = sorted(range(self.num_nodes), key=self.node_ids.__getitem__)
        rank = np.empty(self.num_nodes, np.int64)
        rank[order] = np.arange(self.num_nodes)
        digest = hashlib.sha256()
        _add_texts(digest, [self.node_ids[node] for node in order])
        links = np.sort(pair_codes(rank[self.edges], self.num_nodes))
        digest.update(links.astype("<i8").tobytes())
        return digest.hexdigest()

    def contains_pairs(self, pairs: np.ndarray) -> np.ndarray:
        """(k,) bool: which of the (k, 2) pairs are links."""
        return is_among(pair_codes(pairs, self.num_nodes), self.edge_codes)

    def column(self, name: str, what: str = "column") -> NodeColumn:
        """The column of this name, whatever it is used for; raises InputError about `what`."""
        return self.columns.find(name, what)

    def dense_features(self) -> np.ndarray | None:
        """(n, d) float32, not copied if already dense; None without features."""
        features: Any = self.features
        dense: np.ndarray | None = features.toarray() if sparse.issparse(features) else features
        return dense

    # -- conversions ----------------------------------------------------------------------

    def to_networkx(self) -> nx.Graph:
        """Nodes 0…n−1 (not the ids), links with `weight` where weighted."""
        import networkx as nx

        graph = nx.Graph()
        graph.add_nodes_from(range(self.num_nodes))
        if self.weights is None:
            graph.add_edges_from(self.edges.tolist())
        else:
            rows = zip(*self.edges.T.tolist(), self.weights.tolist(), strict=True)
            graph.add_weighted_edges_from(rows)
        return graph

    def to_pyg(self) -> Data:
        """`edge_index` holds both directions; `x`, `edge_weight` and attributes where present."""
        import torch
        from torch_geometric.data import Data

        both = np.concatenate([self.edges, self.edges[:, ::-1]])
        data = Data(edge_index=torch.from_numpy(both.T.copy()), num_nodes=self.num_nodes)
        if self.features is not None:
            data.x = torch.from_numpy(np.array(self.dense_features()))
        if self.weights is not None:
            data.edge_weight = torch.from_numpy(np.tile(self.weights, 2))
        for name, attribute in self.attributes.items():
            key = "y" if name == "label" else name
            key += "_attribute" * (key in data)  # a column may be called edge_index
            data[key] = torch.from_numpy(attribute.codes.copy())
        return data

    def __repr__(self) -> str:
        return f"Graph({self.name!r}, nodes={self.num_nodes}, links={self.num_edges})"


def _check_pairs(pairs: Any, num_nodes: int | None, weights: Any) -> np.ndarray:
    """(k, 2) int64 pairs of node numbers below `num_nodes`, with k weights if there are any."""
    pairs = np.asarray(pairs)
    if not pairs.size:
        pairs = np.zeros((0, 2), np.int64)
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise InputError("pairs", "must have two columns", f"shape {pairs.shape}")
    if pairs.dtype.kind not in "iu":
        remedy = "give ids as node_ids; from_pandas reads a table of ids"
        raise InputError("pairs", "must be node numbers, integers", str(pairs.flat[0]), remedy)
    most = np.iinfo(np.int32).max if num_nodes is None else num_nodes - 1
    for value in (pairs.min(), pairs.max()) if len(pairs) else ():
        if not 0 <= value <= most:
            raise InputError("pairs", f"must be node numbers from 0 to {most}", int(value))
    if weights is not None and np.shape(weights) != (len(pairs),):
        raise InputError("weights", "must be one per pair", f"shape {np.shape(weights)}")
    return np.asarray(pairs, np.int64)


def _add_texts(digest: hashlib._Hash, texts: Sequence[str]) -> None:
    """Hash texts with their number and lengths, so that different lists give different input."""
    encoded = "".join(texts).encode()
    # An ASCII text has as many bytes as characters.
    sizes = map(len, texts if encoded.isascii() else map(str.encode, texts))
    digest.update(np.fromiter(chain([len(texts)], sizes), "<i8", 1 + len(texts)).tobytes())
    digest.update(encoded)
