"""What about a loaded graph changes the meaning of an audit, as sentences for the analyst."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from core.data.loaded import LoadReport
from core.data.telling_columns import find_telling_columns, format_share
from core.graph import Attribute, Graph
from core.words import count_noun

NEARLY_CONSTANT = 0.95
MANY_MISSING = 0.2
TINY_CLASS = 10


def find_warnings(
    graph: Graph, report: LoadReport | None, private: str | None, utility: str | None
) -> Iterator[str]:
    """Sentences for the analyst, most important first, on the columns named or on all."""
    chosen = [c for c in (private, utility) if c is not None]
    for name in chosen or graph.attributes:
        attribute = graph.attribute(name)
        yield from _warn_attribute(attribute)
        if name == private or private is None:
            yield from map(str, find_telling_columns(graph, attribute))
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
            f"Column '{name}' is nearly constant: {format_share(attribute.shares.max())} are "
            f"'{label}', so that guessing it is right almost always."
        )
    if missing >= MANY_MISSING:
        yield f"Column '{name}' is unknown for {format_share(missing)} of the nodes."
    tiny = [c for c, k in zip(attribute.classes, counts, strict=True) if 0 < k < TINY_CLASS]
    if tiny and present >= 2:
        shown = ", ".join(f"'{c}'" for c in tiny[:5]) + (" …" if len(tiny) > 5 else "")
        yield (
            f"Column '{name}' has {count_noun(len(tiny), 'class', 'classes')} of fewer than "
            f"{TINY_CLASS} nodes ({shown}): results on so few are hardly resolved."
        )


def count_classes(attribute: Attribute) -> np.ndarray:
    """(classes,) nodes known to be of each class."""
    return np.bincount(attribute.codes[attribute.known], minlength=attribute.num_classes)
