"""Detects whether two graphs are the same data: reordered, lightly edited or with new node ids.

Each graph is sketched by several sets of hashes, of which the smallest are kept; the overlap of two
sets is estimated from them (bottom-k MinHash: Broder, SEQUENCES 1997; Cohen and Kaplan, PODC 2007).
Where ids may differ, a set holds what occurs once in the graph: of unrelated nodes drawn from the
same population at most a share of 1/e is expected to agree, the maximum of a Poisson probability
of 1. A sketch reveals guessed links and must be protected like the graph.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from scipy import sparse

from core.arrays import sort_distinct
from core.graph import Graph
from core.seeding import mix_bits

Part = Literal["nodes", "links", "values", "neighbourhoods", "degrees"]

SIZE = 1024
"""Hashes kept per set; standard error of the Jaccard index at most 0.016."""

_ROWS = 1 << 16
"""Rows of features hashed together."""


@dataclass(frozen=True, eq=False)
class Sketch:
    """The smallest hashes of a set.

    hashes  (≤ SIZE,) uint64, distinct, ascending
    count   elements of the whole set
    """

    hashes: np.ndarray
    count: int

    @staticmethod
    def of(hashes: np.ndarray) -> Sketch:
        """Sketch of a set of uint64 hashes, duplicates allowed."""
        distinct = sort_distinct(hashes)
        return Sketch(distinct[:SIZE], len(distinct))

    def estimate_jaccard(self, other: Sketch) -> float:
        """|A ∩ B| / |A ∪ B|, exact if both sets have at most SIZE elements; 0 for two empty
        sets."""
        smallest = sort_distinct(np.concatenate([self.hashes, other.hashes]))[:SIZE]
        in_both = np.isin(smallest, self.hashes) & np.isin(smallest, other.hashes)
        return float(in_both.mean()) if len(smallest) else 0.0

    def estimate_overlap(self, other: Sketch) -> float:
        """|A ∩ B| / min(|A|, |B|): 1 if one set contains the other."""
        jaccard = self.estimate_jaccard(other)
        common = jaccard * (self.count + other.count) / (1 + jaccard)
        return min(1.0, common / max(min(self.count, other.count), 1))


@dataclass(frozen=True, eq=False)
class GraphSketch:
    """Sketches of a graph by what identifies its nodes and links.

    nodes           node ids
    links           links by the ids of their ends
    values          nodes by all their columns
    neighbourhoods  nodes by their degree and those of their neighbours: in sparse graphs they
                    survive a change of about 1 % of the links
    degrees         links by the degrees of their ends: the same in dense graphs

    All but the first two hold unique elements only and do not depend on ids.
    """

    nodes: Sketch
    links: Sketch
    values: Sketch
    neighbourhoods: Sketch
    degrees: Sketch
    parts: ClassVar[tuple[Part, ...]] = get_args(Part)

    def estimate_overlaps(self, other: GraphSketch) -> dict[Part, float]:
        """Part → estimated share of the smaller set contained in the other."""
        return {
            part: getattr(self, part).estimate_overlap(getattr(other, part)) for part in self.parts
        }

    def to_json(self) -> dict[str, Any]:
        """All parts as JSON."""
        sketches = {part: getattr(self, part) for part in self.parts}
        return {
            part: {"count": sketch.count, "hashes": sketch.hashes.astype("<u8").tobytes().hex()}
            for part, sketch in sketches.items()
        }

    @staticmethod
    def from_json(stored: Mapping[str, Any]) -> GraphSketch:
        """Inverse of `to_json`; a part that was not stored is empty and overlaps with nothing."""
        found = dict.fromkeys(GraphSketch.parts, Sketch.of(np.empty(0, np.uint64)))
        for part in found.keys() & stored.keys():
            hashes = np.frombuffer(bytes.fromhex(stored[part]["hashes"]), "<u8").astype(np.uint64)
            found[part] = Sketch(hashes, int(stored[part]["count"]))
        return GraphSketch(**found)


def sketch_graph(graph: Graph) -> GraphSketch:
    """The sketch of a graph; about a second for a million nodes and links."""
    nodes = _hash_texts(graph.node_ids)
    degrees = mix_bits(graph.degrees.astype(np.uint64))
    around = np.zeros(graph.num_nodes, np.uint64)
    for end, other in ((0, 1), (1, 0)):
        np.add.at(around, graph.edges[:, end], degrees[graph.edges[:, other]])
    return GraphSketch(
        Sketch.of(nodes),
        Sketch.of(_join_ends(nodes, graph.edges)),
        Sketch.of(_select_unique(_hash_columns(graph))),
        Sketch.of(_select_unique(mix_bits(degrees ^ around)[graph.degrees > 0])),
        Sketch.of(_select_unique(_join_ends(degrees, graph.edges))),
    )


def _hash_texts(texts: Sequence[str]) -> np.ndarray:
    digests = b"".join(hashlib.blake2b(text.encode(), digest_size=8).digest() for text in texts)
    return np.frombuffer(digests, "<u8").astype(np.uint64)


def _select_unique(hashes: np.ndarray) -> np.ndarray:
    """Those that occur once."""
    distinct, counts = np.unique(hashes, return_counts=True)
    return np.asarray(distinct[counts == 1])


def _join_ends(labels: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """(m,) uint64 hash of each link's two labels (n,), in either order."""
    ends = np.sort(labels[edges], axis=1)
    return mix_bits(ends[:, 0] + mix_bits(ends[:, 1]))


def _hash_columns(graph: Graph) -> np.ndarray:
    """(n,) uint64 hash of each node's known values by column, in any order; 0 without any."""
    found = np.zeros(graph.num_nodes, np.uint64)
    for name, column in zip(graph.attributes, _hash_texts(tuple(graph.attributes)), strict=True):
        attribute = graph.attributes[name]
        if attribute.values is None:
            known = attribute.known
            values = _hash_texts(attribute.classes)[attribute.codes[known]]
        else:
            known = ~np.isnan(attribute.values)
            values = attribute.values[known].view(np.uint64)
        found[known] += mix_bits(column ^ mix_bits(values))
    if graph.features is not None:
        names = _hash_texts(graph.feature_names)
        for start in range(0, graph.num_nodes, _ROWS):
            rows = sparse.csr_array(graph.features[start : start + _ROWS])
            values = mix_bits(rows.data.view(np.uint32)) ^ names[rows.indices]
            sums = np.concatenate([[np.uint64(0)], np.cumsum(mix_bits(values))])
            found[start : start + _ROWS] += np.diff(sums[rows.indptr])
    return found
