"""Aligns a release made elsewhere with the original's nodes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse, special

from core.arrays import is_among, pair_codes
from core.data.generalized_cells import compare_features, write_numbers
from core.data.node_pairs import list_id_pairs
from core.data.release_columns import show_columns
from core.errors import InputError
from core.graph import Graph
from core.node_column import MISSING, NodeColumn


def align_release(
    original: Graph,
    release: Graph,
    secret: Collection[str] = (),
    pseudonyms: Mapping[str, str] | None = None,
    takes_columns: bool = False,
) -> Graph:
    """The release on the original's nodes, in their order; its columns as features, and as
    attributes those that are texts in either graph, as they are written.

    secret         columns of the original that the release must not contain
    pseudonyms     pseudonym → node id; None: ids are unchanged
    takes_columns  use the original's columns instead of the release's

    Nodes missing from the release are isolated with zeros in every column. Raises InputError for
    unknown nodes or a secret column.
    """
    names = release.node_ids
    if pseudonyms is not None:
        names = tuple(pseudonyms.get(name, "") for name in names)
    unknown = [i for i, name in enumerate(names) if name not in original.index]
    if unknown:
        raise InputError(
            "release",
            "must have nodes of the original only",
            f"{len(unknown)} others, such as '{release.node_ids[unknown[0]]}'",
            "name the file of its pseudonyms by --ids map:FILE"
            if pseudonyms is None
            else "add them to the file of pseudonyms",
        )
    published = set(release.columns) & set(secret)
    if published:
        raise InputError(
            "release",
            "must not have the private or utility column",
            ", ".join(sorted(published)),
            "what is published is no secret: leave it out of --private, or out of the file",
        )
    nodes = original.find_nodes(names)
    bare = replace(original.update_columns(attributes={}), link_table=None)
    bare = bare.with_edges(nodes[release.edges], release.weights)
    table = release.move_rows(nodes[release.edges], bare.edges, bare.num_nodes)
    bare = replace(bare, link_table=table)
    if takes_columns:
        shown = show_columns(original, [n for n in original.attributes if n not in secret])
        own = {name: a for name, a in original.attributes.items() if name not in secret}
        columns = shown.columns.update(attributes=own).without_features(secret)
        return replace(bare, columns=columns)
    texts = {name: _spread(column, nodes, bare) for name, column in release.attributes.items()}
    for name in set(release.feature_names) & (set(original.attributes) - set(texts)):
        numbers, codes = np.unique(release.columns.read_numbers(name), return_inverse=True)
        texts[name] = _spread(NodeColumn(name, codes, write_numbers(numbers)), nodes, bare)
    bare = bare.update_columns(attributes=texts)
    shown = show_columns(release, tuple(release.attributes))
    if shown.features is None:
        return bare.update_columns(features=None)
    features: Any = shown.features
    if sparse.issparse(features):
        shape = (original.num_nodes, len(names))
        places = sparse.csr_array((np.ones(len(nodes)), (nodes, np.arange(len(names)))), shape)
        spread: Any = places @ features
    else:
        spread = np.zeros((original.num_nodes, features.shape[1]), np.float32)
        spread[nodes] = features
    return bare.update_columns(features=spread, feature_names=shown.feature_names)


def _spread(column: NodeColumn, nodes: np.ndarray, graph: Graph) -> NodeColumn:
    """A column of these nodes on all nodes of a graph; unknown for the others."""
    codes = np.full(graph.num_nodes, MISSING)
    codes[nodes] = column.codes
    return NodeColumn(column.name, codes, column.classes)


def lacks_columns(original: Graph, release: Graph, secret: Collection[str]) -> bool:
    """Whether attackers read no column of an aligned release though the original has some."""
    has_some = not set(original.columns) <= set(secret)
    return has_some and not release.feature_names


BY_CHANCE = 10
"""People found by an order below which it is chance: one is expected of a random order."""


def count_found_by_order(original: Graph, names: Sequence[str], nodes: np.ndarray) -> int:
    """Number of people found by the order of a release's rows, or of its ids: the first of them is
    the first of the original, and so on; 0 if no more than by chance.

    names, nodes  (k,) ids of the release in the order of its rows, and the original's nodes
    """
    by_id = np.argsort(np.argsort([original.node_ids[node] for node in nodes.tolist()]))
    by_row = np.argsort(np.argsort(nodes))
    lengths = [len(name) for name in names]
    orders = (np.arange(len(names)), np.argsort(names), np.lexsort((names, lengths)))
    found = [
        int((own[order] == np.arange(len(own))).sum())
        for own in (by_id, by_row)
        for order in orders
    ]
    return max(found) if max(found) >= BY_CHANCE else 0


def is_unchanged(original: Graph, release: Graph, secret: Collection[str | None] = ()) -> bool:
    """Whether an aligned release has the links of the original, their values and its columns,
    those that are secret apart, and nothing else."""
    same = np.array_equal(original.edges, release.edges)
    mine, theirs = original.link_table, release.link_table
    same = same and (theirs is None if mine is None else mine.equals(theirs))
    first, second = original.weights, release.weights
    if not same or (first is None) != (second is None):
        return False
    if first is not None and second is not None and not np.array_equal(first, second):
        return False
    columns = set(original.columns) - set(secret)
    shown = {name for name in release.feature_names if name.partition("=")[0] not in columns}
    numbers = [name for name in original.feature_names if name in columns]
    texts = [name for name in original.attributes if name in columns and name not in numbers]
    if {*numbers, *texts} != {*shown.union(numbers), *release.attributes}:
        return False
    if not set(numbers) <= set(release.feature_names):
        return False
    shares = compare_features(original, release, numbers).values()
    return all(share == 1 for share in shares) and all(
        _is_same(original.attributes[name], release.attributes[name]) for name in texts
    )


def _is_same(first: NodeColumn, second: NodeColumn) -> bool:
    texts = [np.array([*column.classes, ""], object)[column.codes] for column in (first, second)]
    return bool((texts[0] == texts[1]).all())


def find_withheld(original: Graph, release: Graph) -> list[tuple[str, str]]:
    """Links of the original that an aligned release lacks, as pairs of ids."""
    released = pair_codes(release.present_edges, release.num_nodes)
    return list_id_pairs(original, original.edges[~is_among(original.edge_codes, released)])


RARE = 1e-3
"""Probability by chance below which a release is said to hold withheld links."""


def check_withheld(original: Graph, release: Graph, pairs: Sequence[tuple[str, str]]) -> int:
    """Number of withheld links that an aligned release holds by chance, as noise adds any pair.

    Attacks on withheld links guess at pairs and never look whether the release links them. Raises
    InputError if it holds more than its share of the original's unlinked pairs explains (binomial
    test): such links are published, not withheld.
    """
    n, released = original.num_nodes, release.present_edges
    links = original.find_nodes([node for pair in pairs for node in pair]).reshape(-1, 2)
    is_there = is_among(np.sort(pair_codes(links, n)), pair_codes(released, n))
    is_added = ~is_among(pair_codes(released, n), original.edge_codes)
    unlinked = n * (n - 1) // 2 - original.num_edges
    count, share = int(is_there.sum()), int(is_added.sum()) / max(unlinked, 1)
    if count and special.bdtrc(count - 1, len(pairs), share) < RARE:
        raise InputError(
            "release",
            "must not have the withheld links",
            f"{count} of {len(pairs)}",
            "what is published is no secret: leave out --withheld, and attack them by "
            "--released-links",
        )
    return count
