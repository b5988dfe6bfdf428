"""Detects whether two graphs are the same data, reordered or lightly edited.

Each graph is sketched by its nodes, links and shape: the smallest hashes of each set, from which
the overlap of two sets is estimated (bottom-k MinHash: Broder, SEQUENCES 1997; Cohen and Kaplan,
PODC 2007). A sketch reveals guessed links and must be protected like the graph.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from core.graph import Graph, sort_distinct
from core.seeding import mix_bits

Part = Literal["nodes", "links", "shape"]

SIZE = 1024
"""Hashes kept per set; standard error of the Jaccard index at most 0.016."""


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
    """Sketches of a graph's node ids, of its links by ids, and of its shape.

    shape  links by the degrees of both ends and their neighbours, independent of node names; one
    changed link affects adjacent ones
    """

    nodes: Sketch
    links: Sketch
    shape: Sketch
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
        """Inverse of `to_json`."""
        found: dict[str, Sketch] = {}
        for part in GraphSketch.parts:
            hashes = np.frombuffer(bytes.fromhex(stored[part]["hashes"]), "<u8").astype(np.uint64)
            found[part] = Sketch(hashes, int(stored[part]["count"]))
        return GraphSketch(**found)


def sketch_graph(graph: Graph) -> GraphSketch:
    """The sketch of a graph; about two seconds for a million nodes and links."""
    digests = b"".join(
        hashlib.blake2b(node.encode(), digest_size=8).digest() for node in graph.node_ids
    )
    nodes = np.frombuffer(digests, "<u8").astype(np.uint64)
    degrees = mix_bits(graph.degrees.astype(np.uint64))
    around = np.zeros(graph.num_nodes, np.uint64)
    for end, other in ((0, 1), (1, 0)):
        np.add.at(around, graph.edges[:, end], degrees[graph.edges[:, other]])
    return GraphSketch(
        Sketch.of(nodes),
        Sketch.of(_join_ends(nodes, graph.edges)),
        Sketch.of(_join_ends(mix_bits(degrees ^ around), graph.edges)),
    )


def _join_ends(labels: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """(m,) uint64 hash of each link's two labels (n,), in either order."""
    ends = np.sort(labels[edges], axis=1)
    return mix_bits(ends[:, 0] + mix_bits(ends[:, 1]))
