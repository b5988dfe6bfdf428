"""What about a loaded graph changes the meaning of an audit, as sentences for the analyst."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from core.data.loaded import LoadReport
from core.graph import Attribute, Graph
from core.words import count_noun

NEARLY_CONSTANT = 0.95
MANY_MISSING = 0.2
TINY_CLASS = 10
DETERMINES = 0.99


def find_warnings(
    graph: Graph, report: LoadReport | None, private: str | None, utility: str | None
) -> Iterator[str]:
    """Sentences for the analyst, most important first, on the columns named or on all."""
    chosen = [c for c in (private, utility) if c is not None]
    for name in chosen or graph.attributes:
        attribute = graph.attribute(name)
        yield from _warn_attribute(attribute)
        if name == private or private is None:
            for column, share in find_determining(graph, attribute):
                yield (
                    f"Column '{column}' alone gives away '{name}' for {_say_share(share)} of the "
                    f"nodes: no change of links protects '{name}' while '{column}' is released."
                )
    isolated = int((graph.degrees == 0).sum())
    if isolated:
        have, them = ("has", "it") if isolated == 1 else ("have", "them")
        yield (
            f"{count_noun(isolated, 'node')} {have} no link: attacks on links say "
            f"nothing about {them}."
        )
    if graph.num_edges < 50:
        links = count_noun(graph.num_edges, "link")
        yield f"The graph has {links}: results on so few are hardly resolved."
    if not graph.attributes:
        yield "No attribute: only attacks on links can be audited."
    if report is not None and report.num_filled:
        count = sum(report.num_filled.values())
        were = "was" if count == 1 else "were"
        values = count_noun(count, "missing feature value")
        yield f"{values} {were} filled with their column's median."


def _say_share(share: float) -> str:
    """Only all is "100%"."""
    return "over 99%" if 0.995 <= share < 1 else f"{share:.0%}"


def _warn_attribute(attribute: Attribute) -> Iterator[str]:
    name, counts = attribute.name, count_classes(attribute)
    present = int((counts > 0).sum())
    missing = 1 - attribute.known.mean()
    if present < 2:
        has = count_noun(present, "class", "classes")
        yield f"Column '{name}' has {has}: there is nothing to infer."
    elif attribute.shares.max() >= NEARLY_CONSTANT:
        label = attribute.classes[int(attribute.shares.argmax())]
        yield (
            f"Column '{name}' is nearly constant: {_say_share(attribute.shares.max())} are "
            f"'{label}', so that guessing it is right almost always."
        )
    if missing >= MANY_MISSING:
        yield f"Column '{name}' is unknown for {_say_share(missing)} of the nodes."
    tiny = [c for c, k in zip(attribute.classes, counts, strict=True) if 0 < k < TINY_CLASS]
    if tiny and present >= 2:
        shown = ", ".join(f"'{c}'" for c in tiny[:5]) + (" …" if len(tiny) > 5 else "")
        yield (
            f"Column '{name}' has {count_noun(len(tiny), 'class', 'classes')} of fewer than "
            f"{TINY_CLASS} nodes ({shown}): results on so few are hardly resolved."
        )


def find_determining(graph: Graph, attribute: Attribute) -> list[tuple[str, float]]:
    """Columns whose value gives away `attribute` for 99 % of the known nodes, best first.

    A column counts only if its values repeat, since distinct values say nothing about others,
    and if it beats guessing the largest class.
    """
    known = attribute.known
    codes, num_known = attribute.codes[known], int(known.sum())
    if num_known < 10 or attribute.shares.max() >= NEARLY_CONSTANT:
        return []
    classes = attribute.num_classes
    found: list[tuple[str, float]] = []

    def consider(column: str, values: np.ndarray) -> None:
        distinct, inverse = np.unique(values, return_inverse=True)
        if len(distinct) <= max(2 * classes, num_known / 10):
            table = np.bincount(inverse * classes + codes, minlength=len(distinct) * classes)
            share = table.reshape(-1, classes).max(axis=1).sum() / num_known
            if share >= DETERMINES:
                found.append((column, float(share)))

    for name, other in graph.attributes.items():
        if name != attribute.name:
            consider(name, other.codes[known])
    features: Any = graph.features
    if sparse.issparse(features):
        onehot = sparse.csr_array(
            (np.ones(num_known), (np.flatnonzero(known), codes)), shape=(graph.num_nodes, classes)
        )
        present = features.astype(bool).astype(np.float64)
        with_it = (present.T @ onehot).toarray()
        without = onehot.sum(axis=0) - with_it
        shares = (with_it.max(axis=1) + without.max(axis=1)) / num_known
        found += [
            (graph.feature_names[i], float(shares[i])) for i in np.flatnonzero(shares >= DETERMINES)
        ]
    elif features is not None:
        for i, name in enumerate(graph.feature_names):
            consider(name, features[known, i])
    return sorted(found, key=lambda pair: -pair[1])


def count_classes(attribute: Attribute) -> np.ndarray:
    """(classes,) nodes known to be of each class."""
    return np.bincount(attribute.codes[attribute.known], minlength=attribute.num_classes)
