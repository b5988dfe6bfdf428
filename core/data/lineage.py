"""Detects whether two graphs are the same data: reordered, lightly edited or with new node ids.

Each graph is sketched by several sets of hashes, of which the smallest are kept. Below the smaller
of the two largest kept hashes both sets are known completely, so that the share of one set that the
other contains is counted there (coordinated bottom-k samples: Cohen and Kaplan, PODC 2007).
Where ids may differ, a set holds what occurs once in the graph: of unrelated nodes drawn from the
same population at most a share of 1/e is expected to agree, the maximum of a Poisson probability
of 1. A sketch reveals guessed links and must be protected like the graph.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, get_args

import numpy as np
from scipy import sparse

from core.arrays import sort_distinct
from core.graph import Graph
from core.seeding import mix_bits

Part = Literal["people", "pairs", "nodes", "links", "values", "neighbourhoods", "degrees"]

SIZE = 1 << 10
"""Hashes kept of what does not depend on ids, and of ids and links as they are written."""

MAX_EXACT = 1 << 16
"""Hashes kept of ids and links by the normal form of the ids: sets of up to this size are compared
exactly. Of a part of a elements of a set of b, Binomial(a, MAX_EXACT / b) are compared: a part that
is wholly contained is missed with probability (1 − MAX_EXACT / b)^a, one of which a share c is
contained is estimated with a standard error of √(c (1 − c) b / (a MAX_EXACT)) at most."""

_WHOLE = re.compile(r"0*(\d+)(?:\.0*)?")

_ROWS = 1 << 16
"""Rows of features hashed together."""


class Overlap(NamedTuple):
    """share: of the smaller set contained in the other, in [0, 1], estimated on `compared` of its
    elements."""

    share: float
    compared: int


@dataclass(frozen=True, eq=False)
class Sketch:
    """The smallest hashes of a set.

    hashes  (≤ count,) uint64, distinct, ascending
    count   elements of the whole set
    """

    hashes: np.ndarray
    count: int

    @staticmethod
    def of(hashes: np.ndarray, size: int = SIZE) -> Sketch:
        """Sketch of a set of uint64 hashes, duplicates allowed."""
        distinct = sort_distinct(hashes)
        return Sketch(distinct[:size], len(distinct))

    def estimate_overlap(self, other: Sketch) -> Overlap:
        """|A ∩ B| / min(|A|, |B|): 1 if one set contains the other. Exact if both are complete."""
        small, large = sorted((self, other), key=lambda sketch: sketch.count)
        cut = [s.hashes[-1] for s in (small, large) if 0 < len(s.hashes) < s.count]
        compared = small.hashes[small.hashes <= min(cut)] if cut else small.hashes
        share = float(np.isin(compared, large.hashes).mean()) if len(compared) else 0.0
        return Overlap(share, len(compared))


@dataclass(frozen=True, eq=False)
class GraphSketch:
    """Sketches of a graph by what identifies its nodes and links.

    people, pairs   node ids in normal form, and links by them: other case, blanks and zeros in
                    front make no other person
    nodes, links    the same by the ids as they are written, which older ledgers hold alone
    values          nodes by all their columns
    neighbourhoods  nodes by their degree and those of their neighbours: in sparse graphs they
                    survive a change of about 1 % of the links
    degrees         links by the degrees of their ends: the same in dense graphs

    All but the first four hold unique elements only and do not depend on ids.
    """

    people: Sketch
    pairs: Sketch
    nodes: Sketch
    links: Sketch
    values: Sketch
    neighbourhoods: Sketch
    degrees: Sketch
    parts: ClassVar[tuple[Part, ...]] = get_args(Part)

    def estimate_overlaps(self, other: GraphSketch) -> dict[Part, Overlap]:
        """Part → estimated share of the smaller set contained in the other."""
        return {
            part: getattr(self, part).estimate_overlap(getattr(other, part)) for part in self.parts
        }

    def to_json(self) -> dict[str, Any]:
        """All parts as JSON."""
        sketches = {part: getattr(self, part) for part in self.parts}
        return {
            part: {"count": sketch.count, "base64": b64encode(sketch.hashes.astype("<u8")).decode()}
            for part, sketch in sketches.items()
        }

    @staticmethod
    def from_json(stored: Mapping[str, Any]) -> GraphSketch:
        """Inverse of `to_json`; a part that was not stored is empty and overlaps with nothing.
        Older ledgers hold hexadecimal `hashes`."""
        found = dict.fromkeys(GraphSketch.parts, Sketch.of(np.empty(0, np.uint64)))
        for part in found.keys() & stored.keys():
            kept = stored[part]
            text = b64decode(kept["base64"]) if "base64" in kept else bytes.fromhex(kept["hashes"])
            found[part] = Sketch(np.frombuffer(text, "<u8").astype(np.uint64), int(kept["count"]))
        return GraphSketch(**found)


def normalize_id(text: str) -> str:
    """Normal form of a node id: NFKC in lower case without blanks; of a whole number its digits
    without zeros in front, a decimal point and zeros behind it."""
    plain = text if text.isascii() else unicodedata.normalize("NFKC", text)
    plain = "".join(plain.casefold().split())
    number = _WHOLE.fullmatch(plain)
    return number[1] if number else plain


def sketch_graph(graph: Graph) -> GraphSketch:
    """The sketch of a graph; about four seconds for a million nodes and links."""
    nodes = hash_texts(graph.node_ids)
    people = hash_texts([normalize_id(node) for node in graph.node_ids])
    degrees = mix_bits(graph.degrees.astype(np.uint64))
    around = np.zeros(graph.num_nodes, np.uint64)
    for end, other in ((0, 1), (1, 0)):
        np.add.at(around, graph.edges[:, end], degrees[graph.edges[:, other]])
    return GraphSketch(
        Sketch.of(people, MAX_EXACT),
        Sketch.of(join_ends(people, graph.edges), MAX_EXACT),
        Sketch.of(nodes),
        Sketch.of(join_ends(nodes, graph.edges)),
        Sketch.of(select_unique(hash_columns(graph))),
        Sketch.of(select_unique(mix_bits(degrees ^ around)[graph.degrees > 0])),
        Sketch.of(select_unique(join_ends(degrees, graph.edges))),
    )


def hash_texts(texts: Sequence[str]) -> np.ndarray:
    """(k,) uint64, BLAKE2b of each text."""
    digests = b"".join(hashlib.blake2b(text.encode(), digest_size=8).digest() for text in texts)
    return np.frombuffer(digests, "<u8").astype(np.uint64)


def select_unique(hashes: np.ndarray) -> np.ndarray:
    """Those that occur once."""
    distinct, counts = np.unique(hashes, return_counts=True)
    return np.asarray(distinct[counts == 1])


def join_ends(labels: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """(m,) uint64 hash of each link's two labels (n,), in either order."""
    ends = np.sort(labels[edges], axis=1)
    return mix_bits(ends[:, 0] + mix_bits(ends[:, 1]))


def hash_columns(graph: Graph) -> np.ndarray:
    """(n,) uint64 hash of each node's known values by column, in any order; 0 without any."""
    found = np.zeros(graph.num_nodes, np.uint64)
    for name, column in zip(graph.attributes, hash_texts(tuple(graph.attributes)), strict=True):
        attribute = graph.attributes[name]
        if attribute.values is None:
            known = attribute.known
            values = hash_texts(attribute.classes)[attribute.codes[known]]
        else:
            known = ~np.isnan(attribute.values)
            values = attribute.values[known].view(np.uint64)
        found[known] += mix_bits(column ^ mix_bits(values))
    if graph.features is not None:
        names = hash_texts(graph.feature_names)
        for start in range(0, graph.num_nodes, _ROWS):
            rows = sparse.csr_array(graph.features[start : start + _ROWS])
            values = mix_bits(rows.data.view(np.uint32)) ^ names[rows.indices]
            sums = np.concatenate([[np.uint64(0)], np.cumsum(mix_bits(values))])
            found[start : start + _ROWS] += np.diff(sums[rows.indptr])
    return found
