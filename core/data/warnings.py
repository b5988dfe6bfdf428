"""Warnings on a loaded graph, foremost columns and ids that reveal a secret.

A telling column is a copy of the secret, inverted or with errors, whatever the links. Ids, and
texts that hardly repeat, tell by their number or by a part, as addresses of one employer do. Every
column is compared with every class of the secret by the share of the class's entropy that it
explains (Theil's uncertainty coefficient), which is 1 for a copy and for its inverse. No model is
trained; thousands of columns take seconds.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.special import chdtri, xlogy

from core.arrays import divide_or_zero
from core.data.columns import find_unknown_markers
from core.data.loaded import LoadReport
from core.graph import Graph
from core.node_column import NodeColumn
from core.node_table import NodeTable
from core.seeding import Seed
from core.words import count_noun, format_percent

MIN_STRENGTH = 0.4
"""Smallest reported share of a class's entropy: a copy with one error in eleven, for two equal
classes."""
SIGNIFICANCE = 0.01
"""Family-wise false-positive rate over all columns of a graph."""
FEWEST_KNOWN = 20
MAX_KNOWN = 10_000
"""Maximum number of nodes used; more are sampled."""
MAX_BINS = 20
IDS = "node ids"
"""Name of the ids where they are compared like columns."""
TEXT_PARTS = {
    "beginning": r"^(\D*?)[^\w]*\d|^([^\W_]+)[\W_]",
    "end": r"[\W_]([^\W_]+)$",
    "domain": r"@(.+)$",
}
"""Parts of a text that may name a group: before the first digit or mark, after the last mark, and
the domain of an address."""
_CHUNK = 128
_RESAMPLES = 400


@dataclass(frozen=True)
class TellingColumn:
    """A column that reveals a class of the secret.

    strength   share of the class's entropy that the column explains, from 0 to 1
    low, high  95 % interval over nodes (bootstrap); independent columns are below `chance`
    chance     strength that no independent column reaches, at SIGNIFICANCE
    share_right  share of nodes whose secret the column alone predicts correctly
    is_inverted  the column is negatively related to the class; None if unordered
    """

    column: str
    secret: str
    value: str
    strength: float
    low: float
    high: float
    chance: float
    share_right: float
    is_inverted: bool | None

    @property
    def is_id(self) -> bool:
        """Whether it is the ids of the nodes and no column."""
        return self.column == IDS

    @property
    def remedy(self) -> str:
        """Remedy for the graph's owner."""
        if self.is_id:
            return "publish under pseudonyms"
        return f"leave '{self.column}' out of the release or publish it in coarser classes"

    def __str__(self) -> str:
        inverted = " in reverse" if self.is_inverted else ""
        it, them = f"Column '{self.column}' alone gives", "it"
        if self.is_id:
            it, them = "The node ids alone give", "them"
        return (
            f"{it} away '{self.secret}'{inverted}: guessing by {them} is right for "
            f"{format_percent(self.share_right)} of the nodes. Changing links does not help: "
            f"{self.remedy}."
        )


def find_telling_columns(graph: Graph, secret: NodeColumn) -> list[TellingColumn]:
    """Columns that reveal a class of `secret`, and the ids if they do; strongest first.

    Reported if the interval's lower end is at least MIN_STRENGTH and the strength exceeds chance
    over all columns (G-test, Bonferroni over columns and classes).
    """
    known = np.flatnonzero(secret.known)
    rng = Seed(0).rng("telling columns")
    if len(known) > MAX_KNOWN:
        known = np.sort(rng.choice(known, MAX_KNOWN, replace=False))
    codes = secret.codes[known]
    sizes = np.bincount(codes, minlength=secret.num_classes)
    if len(known) < FEWEST_KNOWN or (sizes > 0).sum() < 2:
        return []
    others = graph.columns.select([name for name in graph.columns if name != secret.name])
    columns = [
        *_count_classes(others, secret, known),
        *_count_numbers(others, secret, known),
        *_count_parts(IDS, [graph.node_ids[node] for node in known.tolist()], secret, known),
    ]
    num_tests = sum(len(names) for names, _, _ in columns) * int((sizes > 0).sum())
    found: list[TellingColumn] = []
    for names, tables, has_order in columns:
        strengths = _compute_strengths(tables)
        for number in np.flatnonzero(strengths.max(axis=1) >= MIN_STRENGTH):
            table = tables[number][tables[number].any(axis=1)]
            draws = rng.multinomial(len(known), (table / len(known)).ravel(), _RESAMPLES)
            spread = _compute_strengths(draws.reshape(_RESAMPLES, *table.shape).astype(float))
            lows, highs = np.quantile(spread, (0.025, 0.975), axis=0)
            level = chdtri(len(table) - 1, SIGNIFICANCE / num_tests) / (2 * len(known))
            for code in _order_classes(strengths[number], sizes):
                share = sizes[code] / len(known)
                entropy = -(share * np.log(share) + (1 - share) * np.log(1 - share))
                strength, chance = float(strengths[number, code]), float(level / entropy)
                if lows[code] >= MIN_STRENGTH and strength > chance:
                    break
            else:
                continue
            pair = np.stack([table.sum(axis=1) - table[:, code], table[:, code]], axis=1)
            rises = np.diff(pair[:, 1] / pair.sum(axis=1))
            found.append(
                TellingColumn(
                    names[number],
                    secret.name,
                    secret.classes[code],
                    strength,
                    float(lows[code]),
                    float(highs[code]),
                    chance,
                    float(table.max(axis=1).sum() / len(known)),
                    bool((rises <= 0).all()) if has_order else None,
                )
            )
    found.sort(key=lambda one: -one.strength)
    first = {one.column: one for one in reversed(found)}  # of several parts the strongest
    return [one for one in found if first[one.column] is one]


def _order_classes(strengths: np.ndarray, sizes: np.ndarray) -> list[int]:
    """Classes that may be reported, the strongest first and of equal ones the rarer: a class of
    one person passes no test, and the next may."""
    order = np.lexsort((sizes, -strengths.round(9)))
    return [int(code) for code in order if strengths[code] >= MIN_STRENGTH]


_Counts = tuple[list[str], np.ndarray, bool]
"""Names of w columns, nodes per bin and class (w, B, C), whether bins are ordered."""


def _count_classes(table: NodeTable, secret: NodeColumn, known: np.ndarray) -> Iterator[_Counts]:
    """Columns of classes; those that hardly repeat by their parts."""
    for name, column in table.attributes.items():
        if column.kind == "class":
            distinct, bins = np.unique(column.codes[known], return_inverse=True)
            if _is_coarse(len(distinct), len(known)):
                yield [name], _count(bins[:, None], secret, known), False
                continue
            texts = ["" if code < 0 else column.classes[code] for code in distinct[bins]]
            yield from _count_parts(name, texts, secret, known)


def _is_coarse(num_distinct: int, num_known: int) -> bool:
    """Whether nodes share values, so that a value says more than who it is."""
    return num_distinct <= max(2 * MAX_BINS, num_known / 10)


def _count_parts(
    name: str, texts: list[str], secret: NodeColumn, known: np.ndarray
) -> Iterator[_Counts]:
    """The last number of each text, if all have one, and parts that few nodes do not share."""
    column = pd.Series(texts)
    numbers = column.str.extract(r"(\d{1,15})\D*$")[0]
    if numbers.notna().all():
        values = numbers.astype(np.float64).to_numpy()
        edges = np.unique(np.quantile(values, np.linspace(0, 1, MAX_BINS + 1)[1:-1]))
        yield [name], _count(np.searchsorted(edges, values)[:, None], secret, known), False
    for pattern in TEXT_PARTS.values():
        found = column.str.extract(pattern)
        parts = found[0]
        for other in found.columns[1:]:  # bfill over columns takes seconds for 20,000 rows
            parts = parts.fillna(found[other])
        bins, distinct = pd.factorize(parts.fillna(""))
        if len(distinct) > 1 and _is_coarse(len(distinct), len(known)):
            yield [name], _count(bins[:, None], secret, known), False


def _count_numbers(table: NodeTable, secret: NodeColumn, known: np.ndarray) -> Iterator[_Counts]:
    """Columns of numbers in chunks: distinct values if few, else quantile bins; unknown cells
    are a bin of their own."""
    for names, block in _list_numbers(table, known):
        is_sparse = sparse.issparse(block)
        if np.isin(block.data if is_sparse else block, (0, 1)).all():
            yield names, _count_binary(block, secret, known), True
            continue
        dense = block.toarray() if is_sparse else block
        bins = np.empty(dense.shape, np.int64)
        for number, column in enumerate(dense.T):
            values = np.sort(column[~np.isnan(column)])
            edges = values[1:][values[1:] != values[:-1]]
            if len(edges) >= MAX_BINS:
                places = np.linspace(0, len(values), MAX_BINS + 1)[1:-1].astype(np.int64)
                edges = np.unique(values[places])
            bins[:, number] = np.searchsorted(edges, column, side="right") + np.isnan(column)
        yield names, _count(bins, secret, known), not np.isnan(dense).any()


def _list_numbers(table: NodeTable, known: np.ndarray) -> Iterator[tuple[list[str], Any]]:
    """Names of w columns of numbers and their values (k, w), what attackers read first."""
    features: Any = table.features
    if features is not None:
        features = features[known]
        features = features.tocsc() if sparse.issparse(features) else features
        for start in range(0, len(table.feature_names), _CHUNK):
            stop = start + _CHUNK
            yield list(table.feature_names[start:stop]), features[:, start:stop]
    for name, column in table.attributes.items():
        if column.values is not None:
            yield [name], column.values[known][:, None]


def _count_binary(features: Any, secret: NodeColumn, known: np.ndarray) -> np.ndarray:
    """`_count` of binary columns (k, w) by one product."""
    codes, size = secret.codes[known], (secret.num_classes, len(known))
    groups = sparse.csr_array((np.ones(len(known)), (codes, np.arange(len(known)))), size)
    ones = groups @ features
    ones = (ones.toarray() if sparse.issparse(ones) else ones).T
    return np.stack([groups.sum(axis=1) - ones, ones], axis=1)


def _count(bins: np.ndarray, secret: NodeColumn, known: np.ndarray) -> np.ndarray:
    """(w, B, C) nodes of each bin (k, w) and class of the secret."""
    codes, num_classes = secret.codes[known], secret.num_classes
    width, num_bins = bins.shape[1], int(bins.max()) + 1
    cells = (np.arange(width) * num_bins + bins) * num_classes + codes[:, None]
    counts = np.bincount(cells.ravel(), minlength=width * num_bins * num_classes)
    return counts.reshape(width, num_bins, num_classes).astype(float)


def _compute_strengths(tables: np.ndarray) -> np.ndarray:
    """(t, C) Theil's coefficient of each class against the rest, of (t, B, C) counts, minus the
    sampling bias (Miller 1955)."""
    total = tables.sum(axis=(1, 2))[:, None]
    rows = tables.sum(axis=2)[:, :, None]
    size = tables.sum(axis=1)
    inside = _xlogx(tables).sum(axis=1) + _xlogx(rows - tables).sum(axis=1) - _xlogx(rows).sum(1)
    outside = _xlogx(size) + _xlogx(total - size) - _xlogx(total)
    bias = ((rows[:, :, 0] > 0).sum(axis=1)[:, None] - 1) / 2
    removed = inside - outside - bias  # total · mutual information, in nats
    strengths: np.ndarray = divide_or_zero(removed, -outside)
    return strengths.clip(0, 1)


def _xlogx(counts: np.ndarray) -> np.ndarray:
    return np.asarray(xlogy(counts, counts))


NEARLY_CONSTANT = 0.95
MANY_MISSING = 0.2
TINY_CLASS = 10
UNIQUE_WEIGHTS = 0.1


def find_warnings(
    graph: Graph, report: LoadReport | None, private: str | None, utility: str | None
) -> Iterator[str]:
    """Sentences for the screen, most important first, on the named columns or all; those on ids
    have examples."""
    yield from () if report is None else report.id_warnings
    chosen = [c for c in (private, utility) if c is not None]
    for name in chosen or graph.attributes:
        attribute = graph.column(name)
        is_secret = name == private or private is None
        yield from find_secret_warnings(graph, attribute) if is_secret else _warn(attribute)
    isolated = int((graph.degrees == 0).sum())
    if isolated:
        have, them = ("has", "it") if isolated == 1 else ("have", "them")
        yield (
            f"{count_noun(isolated, 'node')} {have} no link: attacks on links say "
            f"nothing about {them}."
        )
    if graph.num_edges < 50:
        links = count_noun(graph.num_edges, "link")
        yield f"The graph has {links}, too few for reliable results."
    if graph.weights is not None:
        _, counts = np.unique(graph.weights, return_counts=True)
        unique = int((counts == 1).sum())
        if unique > UNIQUE_WEIGHTS * graph.num_edges:
            yield (
                f"{format_percent(unique / graph.num_edges)} of the links have a weight that no "
                "other link has. Whoever knows it finds both ends, even under pseudonyms. Audit "
                "re-identification, and round the weights or leave them out."
            )
    if not graph.attributes:
        yield "The nodes have no attributes: only links and identities can be audited."
    if report is not None and report.num_filled:
        count = sum(report.num_filled.values())
        were = "was" if count == 1 else "were"
        values = count_noun(count, "missing feature value")
        yield f"{values} {were} filled with their column's median."


def find_secret_warnings(graph: Graph, secret: NodeColumn) -> Iterator[str]:
    """Sentences on a private column: its classes, then the columns that reveal it."""
    yield from _warn(secret)
    yield from map(str, find_telling_columns(graph, secret))


def warn_of_unknown(attribute: NodeColumn) -> Iterator[str]:
    """A sentence on classes that may be no values but what is written for an unknown one."""
    counts = dict(zip(attribute.classes, attribute.counts.tolist(), strict=True))
    markers = [m for m in find_unknown_markers(attribute.classes) if counts[m]]
    if markers:
        shown = " and ".join(f"'{m}' ({count_noun(counts[m], 'node')})" for m in markers)
        yield (
            f"Column '{attribute.name}' has the class {shown}, which may mean unknown. If so, load "
            "the file again with it under “Which values mean “unknown”?”, or --unknown="
            f"{','.join(markers)}."
        )


def warn_of_several(secret: NodeColumn) -> Iterator[str]:
    """A sentence on cells that hold several values, as "asthma;hiv": whoever has one of them is
    spread over many classes, so that it may leak while each class holds."""
    parts = [{part.strip() for part in re.split("[;|]", text)} - {""} for text in secret.classes]
    present = [own for own, count in zip(parts, secret.counts, strict=True) if count]
    counts = Counter(chain.from_iterable(present))
    several = [own for own in present if len(own) > 1]
    again = {part for own in several for part in own if counts[part] > 1}
    if len(again) < 2 or sum(own <= again for own in several) < len(several) / 2:
        return
    example = next(text for text, own in zip(secret.classes, parts, strict=True) if own in several)
    yield (
        f"Cells of '{secret.name}' hold several values, as '{example}', and are attacked as a "
        "whole: give each value a column of its own and name all of them as private"
    )


def _warn(attribute: NodeColumn) -> Iterator[str]:
    yield from warn_of_unknown(attribute)
    yield from (f"{sentence}." for sentence in warn_of_several(attribute))
    name, counts = attribute.name, attribute.counts
    present = int((counts > 0).sum())
    missing = 1 - attribute.known.mean()
    if present < 2:
        has = count_noun(present, "class", "classes")
        yield f"Column '{name}' has {has}: there is nothing to infer."
    elif attribute.shares.max() >= NEARLY_CONSTANT:
        label = attribute.classes[int(attribute.shares.argmax())]
        yield (
            f"Column '{name}' is nearly constant: {format_percent(attribute.shares.max())} are "
            f"'{label}', so that guessing it is almost always right."
        )
    if missing >= MANY_MISSING:
        yield f"Column '{name}' is unknown for {format_percent(missing)} of the nodes."
    tiny = [c for c, k in zip(attribute.classes, counts, strict=True) if 0 < k < TINY_CLASS]
    if tiny and present >= 2:
        shown = ", ".join(f"'{c}'" for c in tiny[:5]) + (", …" if len(tiny) > 5 else "")
        yield (
            f"Column '{name}' has {count_noun(len(tiny), 'class', 'classes')} of fewer than "
            f"{TINY_CLASS} nodes, too few for reliable results: {shown}."
        )
