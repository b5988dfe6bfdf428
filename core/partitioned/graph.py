"""A graph whose links are kept in partitions, and its record in the store."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, overload

import numpy as np

from core.data.packing import Arrays, pack_texts, unpack_texts
from core.errors import UnsupportedError
from core.graph import Graph
from core.home import is_running
from core.node_column import NodeColumn
from core.node_table import NodeTable
from core.partitioned.links import ONE_PROCESS, Inline, PartitionedLinks

if TYPE_CHECKING:
    import pyarrow as pa

RECORD = ("num_nodes", "bounds", "owned", "digests")
"""Arrays of a record, beside the name and the columns of the nodes."""


class NumberedIds(Sequence[str]):
    """The texts "0" … "n−1", made when they are asked for."""

    def __init__(self, count: int) -> None:
        self._count = count

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[str, ...]: ...
    def __getitem__(self, place: int | slice) -> str | tuple[str, ...]:
        found = range(self._count)[place]
        return tuple(map(str, found)) if isinstance(found, range) else str(found)

    def __iter__(self) -> Iterator[str]:
        return map(str, range(self._count))

    def __arrow_array__(self, type: pa.DataType | None = None) -> pa.Array:
        """As Arrow asks for it, without a Python object for each text."""
        import pyarrow as pa

        return pa.array(np.arange(self._count)).cast(type or pa.string())


class NumberIndex(Mapping[str, int]):
    """Node number of each text of `NumberedIds`."""

    def __init__(self, ids: NumberedIds) -> None:
        self._ids = ids

    def __len__(self) -> int:
        return len(self._ids)

    def __iter__(self) -> Iterator[str]:
        return iter(self._ids)

    def __getitem__(self, node: str) -> int:
        number = int(node) if isinstance(node, str) and node.isdecimal() else -1
        if str(number) != node or not 0 <= number < len(self._ids):
            raise KeyError(node)
        return number


@dataclass(frozen=True, eq=False)
class PartitionedGraph(Graph):
    """A graph of n nodes, numbered from 0, with `PartitionedLinks` for `edges`.

    Numbers of nodes and links, degrees, columns of nodes and membership of pairs are those of any
    graph. What needs all links at once raises UnsupportedError.
    """

    def __post_init__(self) -> None:
        self.columns.check_rows(self.num_nodes)

    @staticmethod
    def of(
        links: PartitionedLinks, attributes: Mapping[str, NodeColumn] | None = None, name: str = ""
    ) -> PartitionedGraph:
        """The graph of stored links."""
        ids = cast(tuple[str, ...], NumberedIds(links.num_nodes))
        edges = cast(np.ndarray, links)
        columns = NodeTable(attributes or {})
        return PartitionedGraph(edges, ids, columns, name=name or "graph")

    def with_links(self, links: PartitionedLinks) -> PartitionedGraph:
        """The same nodes with other links."""
        return PartitionedGraph.of(links, self.attributes, self.name)

    @property
    def links(self) -> PartitionedLinks:
        return cast(PartitionedLinks, self.edges)

    @property
    def num_edges(self) -> int:
        return self.links.num_links

    @cached_property
    def index(self) -> Mapping[str, int]:
        return NumberIndex(cast(NumberedIds, self.node_ids))

    @cached_property
    def degrees(self) -> np.ndarray:
        return self.links.degrees

    @cached_property
    def content_hash(self) -> str:
        """SHA-256 of links, partitions and columns: results depend on how links are divided."""
        return self._hash([list(self.links.bounds), list(self.links.digests)], self.attributes)

    @cached_property
    def identity_hash(self) -> str:
        """SHA-256 of links and partitions, without columns."""
        return self._hash([list(self.links.bounds), list(self.links.digests)], {})

    def _hash(self, links: list[Any], attributes: Mapping[str, NodeColumn]) -> str:
        digest = hashlib.sha256(json.dumps(["partitions", self.num_nodes, *links]).encode())
        for name in sorted(attributes):
            digest.update(json.dumps([name, attributes[name].classes]).encode())
            digest.update(np.ascontiguousarray(attributes[name].codes).data)
        return digest.hexdigest()

    def contains_pairs(self, pairs: np.ndarray) -> np.ndarray:
        from core.partitioned.measures import contains_pairs

        return contains_pairs(Inline(), self.links, pairs)

    def _refuse(self, *_: object, **__: object) -> Any:
        raise UnsupportedError("this computation", ONE_PROCESS)

    adjacency = edge_codes = present_edges = link_weights = property(_refuse)
    subgraph = select_edges = with_edges = sum_at_ends = _refuse
    to_networkx = to_pyg = _refuse

    def __repr__(self) -> str:
        return (
            f"PartitionedGraph({self.name!r}, nodes={self.num_nodes}, links={self.num_edges}, "
            f"partitions={self.links.num_partitions})"
        )


def pack_partitions(graph: PartitionedGraph) -> Arrays:
    """The record of a graph: everything but its links."""
    columns = [json.dumps([a.name, list(a.classes)]) for a in graph.attributes.values()]
    arrays = {"name": pack_texts([graph.name]), "attributes": pack_texts(columns)}
    codes = (attribute.codes for attribute in graph.attributes.values())
    arrays |= {f"codes_{number}": each for number, each in enumerate(codes)}
    return arrays | pack_division(graph.links)


def pack_division(links: PartitionedLinks) -> Arrays:
    """How links are divided, by which a folder of partitions is read."""
    return {
        "num_nodes": np.array(links.num_nodes),
        "bounds": np.array(links.bounds, np.int64),
        "owned": np.array(links.owned, np.int64),
        "digests": pack_texts(links.digests),
    }


def unpack_partitions(arrays: Mapping[str, np.ndarray], folder: Path) -> PartitionedGraph:
    """The graph of `pack_partitions`' arrays, with its links in `folder`."""
    columns = [json.loads(text) for text in unpack_texts(arrays["attributes"])]
    attributes = {
        name: NodeColumn(name, arrays[f"codes_{number}"], tuple(classes))
        for number, (name, classes) in enumerate(columns)
    }
    name = unpack_texts(arrays["name"])[0]
    return PartitionedGraph.of(unpack_division(arrays, folder), attributes, name)


def unpack_division(arrays: Mapping[str, np.ndarray], folder: Path) -> PartitionedLinks:
    """Inverse of `pack_division`."""
    return PartitionedLinks(
        folder,
        int(arrays["num_nodes"]),
        tuple(arrays["bounds"].tolist()),
        tuple(arrays["owned"].tolist()),
        unpack_texts(arrays["digests"]),
    )


def holds_partitions(arrays: Mapping[str, np.ndarray]) -> bool:
    """Whether arrays are a record or a division of partitioned links."""
    return arrays.keys() >= set(RECORD)


def make_scratch(links: PartitionedLinks, purpose: str) -> Path:
    """A new folder beside the links, for links that are being made of them.

    Those of processes of this machine that ended are removed first.
    """
    home = links.folder.parent
    for path in home.glob(f".{purpose}-*"):
        if not is_running(int(path.name.split("-")[1])):
            shutil.rmtree(path, ignore_errors=True)
    return home / f".{purpose}-{os.getpid()}-{os.urandom(4).hex()}"


def copy_links(source: Path, target: Path) -> None:
    """Another name for each file of a folder of partitions, or a copy where there are no links."""

    def link(one: str, other: str) -> None:
        try:
            os.link(one, other)
        except OSError:
            shutil.copy2(one, other)

    shutil.copytree(source, target, copy_function=link)
