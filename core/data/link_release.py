"""How columns of links travel into a release: one place for all defenses.

Names of published columns that begin with "link." are those of links, link.weight their weights.
Weights leave unless some columns of links are named and they are not; the others leave only if
named. Links that stay keep their rows; a link that a defense adds gets rows like those of links
that stay, never those of removed ones. What has a privacy guarantee publishes none.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from core.arrays import is_among
from core.data.coarsening import OTHER
from core.data.release_columns import LINK_PREFIX as PREFIX
from core.data.release_columns import NUMBERS_TAKE, NUMERIC, Rule
from core.errors import InputError
from core.graph import Graph
from core.link_table import DATES, NO_TIME, UNIX, LinkColumn, LinkTable
from core.release import Release

WEIGHT = f"{PREFIX}weight"
"""The weights among published columns."""
NONE = f"{PREFIX}none"
"""No column of links, not even their weights."""


def list_link_columns(graph: Graph) -> tuple[str, ...]:
    """Names of the columns of links, the weights first, as `publish_columns` takes them."""
    table = {} if graph.link_table is None else graph.link_table.columns
    weights = () if graph.weights is None else (WEIGHT,)
    return tuple(dict.fromkeys((*weights, *(f"{PREFIX}{name}" for name in table))))


def has_weights(graph: Graph, name: str) -> bool:
    """Whether a name of `list_link_columns` is that of the weights."""
    return name == WEIGHT and graph.weights is not None


def is_link_column(name: str) -> bool:
    """Whether a published or generalised column is one of links."""
    return name.startswith(PREFIX)


def list_published_links(
    names: Iterable[str], is_weighted: bool, publish: Sequence[str] | None
) -> list[str]:
    """Of columns of links, as `list_link_columns` names them, those that leave: the named ones, or
    the weights of a weighted graph where none is named.

    publish  as in `DisclosureSpec`; what is not of links is passed over
    """
    named = [name for name in publish or () if is_link_column(name)]
    usual = [WEIGHT] if is_weighted and not named else []
    return [name for name in names if name in (*named, *usual) and name != NONE]


def choose_link_columns(graph: Graph, publish: Sequence[str] | None, rules: Sequence[str]) -> Graph:
    """The graph with the published columns of links only, generalised.

    publish, rules  as in `DisclosureSpec`; what is not of links is passed over

    Raises InputError for unknown columns and for rules that do not fit.
    """
    named = [name for name in publish or () if is_link_column(name)]
    parsed = [rule for rule in map(Rule.parse, rules) if is_link_column(rule.column)]
    known = list_link_columns(graph)
    for name in (*named, *(rule.column for rule in parsed)):
        if name not in (*known, NONE):
            shown = ", ".join(known) or "none"
            must = "must be a column of the links"
            raise InputError("published column", must, name, f"columns of links are: {shown}")
    for rule in parsed:
        is_free = not named and rule.column == WEIGHT and graph.weights is not None
        if rule.column not in named and not is_free:
            remedy = "add it to --publish-columns"
            raise InputError("generalised column", "must be published", rule.column, remedy)
    leaving = list_published_links(known, graph.weights is not None, publish)
    table = graph.link_table if named else None
    if table is not None:
        table = table.with_columns([name.removeprefix(PREFIX) for name in leaving])
    weights = graph.weights if WEIGHT in leaving else None
    if table is not graph.link_table or weights is not graph.weights:
        graph = replace(graph, link_table=table, weights=weights)
    for rule in parsed:  # of weights, too, which leave without being named
        graph = _generalize(graph, rule)
    return graph


def _generalize(graph: Graph, rule: Rule) -> Graph:
    name, table = rule.column.removeprefix(PREFIX), graph.link_table
    if table is not None and name in table.columns:
        coarse = generalize_links(table.columns[name], table.links, rule)
        return replace(graph, link_table=LinkTable(table.links, {**table.columns, name: coarse}))
    assert graph.weights is not None
    column = LinkColumn("number", graph.weights)
    return replace(graph, weights=generalize_links(column, np.empty(0), rule).values)


def shift_link_times(graph: Graph, rules: Sequence[str], rng: np.random.Generator) -> Graph:
    """The graph to be handed out: columns of times with the rule shift are moved."""
    parsed = [rule for rule in map(Rule.parse, rules) if is_link_column(rule.column)]
    own = [replace(rule, column=rule.column.removeprefix(PREFIX)) for rule in parsed]
    if graph.link_table is None or not any(rule.kind == "shift" for rule in own):
        return graph
    return replace(graph, link_table=shift_times(graph.link_table, own, rng))


def strip_link_columns(graph: Graph) -> Graph:
    """The graph without its link table, as defenses and most attacks get it."""
    return graph if graph.link_table is None else replace(graph, link_table=None)


def refuse_link_columns(visible: Graph, is_private: bool, keeps_nodes: bool) -> str | None:
    """Reason why a release of `visible` must not have its columns of links, or None.

    is_private   whether it has a privacy guarantee
    keeps_nodes  whether node i of the release is node i of the graph
    """
    if visible.link_table is None:
        return None
    names = ", ".join(f"{PREFIX}{name}" for name in visible.link_table.columns)
    if is_private:
        why = f"its guarantee does not cover columns of links ({names})"
    elif not keeps_nodes:
        why = f"its links are not those of the graph, whose columns ({names}) they lack"
    else:
        return None
    return f"{why}; leave them out of the published columns"


def carry_link_columns(visible: Graph, release: Release, rng: np.random.Generator) -> Release:
    """The release with the published columns of links.

    visible  the graph that was defended, with these columns; the release was made without, or has
             its own if it was made elsewhere
    """
    if visible.link_table is None or release.graph.link_table is not None:
        return release
    graph = release.graph
    return replace(release, graph=replace(graph, link_table=draw_rows(visible, graph, rng)))


def draw_rows(before: Graph, after: Graph, rng: np.random.Generator) -> LinkTable | None:
    """The link table of `before` on other links of the same nodes: links that stay keep their rows,
    others get rows like those of random links that stay."""
    kept = before.move_rows(before.edges, after.edges, after.num_nodes)
    is_kept = is_among(after.edge_codes, before.edge_codes)
    return None if kept is None else _add_rows(kept, is_kept, rng)


def _add_rows(table: LinkTable, is_kept: np.ndarray, rng: np.random.Generator) -> LinkTable:
    """The table with rows for the added links, each like those of a random link that stays, which
    may have none.

    is_kept  (m,) bool: links that stay; the others are added
    """
    kept, added = np.flatnonzero(is_kept), np.flatnonzero(~is_kept)
    if not len(kept) or not len(added):
        return table
    chosen = kept[rng.integers(len(kept), size=len(added))]
    starts = np.searchsorted(table.links, chosen)
    sizes = np.searchsorted(table.links, chosen, side="right") - starts
    rows = np.repeat(starts - np.cumsum(sizes) + sizes, sizes) + np.arange(sizes.sum())
    columns = {
        name: replace(column, values=np.concatenate([column.values, _vary(column, rows, rng)]))
        for name, column in table.columns.items()
    }
    return LinkTable(np.concatenate([table.links, np.repeat(added, sizes)]), columns)


def _vary(column: LinkColumn, rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Values of rows; numbers and times at random between their own and the next larger one, since
    copies would tell added links from real ones."""
    values: np.ndarray = column.values[rows]
    if column.kind not in ("number", "time"):
        return values
    ordered = np.unique(column.values[column.known])
    is_known = column.take(rows).known
    if not is_known.any():
        return values
    shares = rng.random(int(is_known.sum()))
    places = np.searchsorted(ordered, values[is_known])
    following = ordered[np.minimum(places + 1, len(ordered) - 1)]
    values = values.copy()
    if ordered.dtype.kind == "i":
        step = max(int(np.gcd.reduce(np.diff(ordered))), 1) if len(ordered) > 1 else 1
        steps = (following - values[is_known]) // step
        values[is_known] += np.floor(shares * steps).astype(np.int64) * step
    else:
        values[is_known] = draw_between(ordered, places + shares)
    return values


def draw_between(ordered: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Numbers at fractional places (k,) among ascending ones, with as many decimals and no more
    bits: float32 where all of these are."""
    drawn: np.ndarray = np.interp(places, np.arange(len(ordered)), ordered)
    is_short = (ordered.astype(np.float32) == ordered).all()
    kind = np.float32 if is_short else np.float64
    for decimals in range(np.finfo(kind).precision):
        if (np.round(ordered, decimals).astype(kind) == ordered).all():
            drawn = np.round(drawn, decimals)
            break
    return np.asarray(drawn, kind)


# Numbers take bin, cap, round and digits; times day, month, year and shift; kinds rare, which
# counts links rather than nodes.

MAX_SHIFT_DAYS = 3650
"""Longest time by which times are moved, either way."""
_DAYS = {"day": "D", "month": "M", "year": "Y"}
_PER_DAY = {"D": 1, "m": 1440, "s": 86400, "ms": 86_400_000, "us": 86_400_000_000}
_PER_DAY |= {"ns": 86_400_000_000_000}


def generalize_links(column: LinkColumn, links: np.ndarray, rule: Rule) -> LinkColumn:
    """The column under a rule; shift is left to `shift_times`.

    links  (e,) number of the link of each row

    Raises InputError for a rule that does not fit the kind of the column.
    """
    takes = {
        "number": (tuple(NUMERIC), NUMBERS_TAKE),
        "time": ((*_DAYS, "shift"), "times take day, month, year and shift"),
        "category": (("rare",), "kinds take rare"),
        "direction": ((), "directions take no rule"),
    }
    allowed, remedy = takes[column.kind]
    if rule.kind not in allowed:
        raise InputError(f"rule {rule.kind}", "must fit the column", rule.column, remedy)
    if rule.kind == "shift":
        return column
    if column.kind == "time":
        return _coarsen_times(column, rule)
    if column.kind == "category":
        return _merge_rare(column, links, rule.value)
    values = NUMERIC[rule.kind](column.values.astype(np.float64), rule.value)
    is_whole = column.values.dtype.kind == "i" and not (values % 1).any()
    return replace(column, values=values.astype(np.int64) if is_whole else values)


def _coarsen_times(column: LinkColumn, rule: Rule) -> LinkColumn:
    unit = UNIX.get(column.unit, column.unit)
    if not unit:
        remedy = "its unit is not known: bring it into dates or Unix times, or leave it out"
        raise InputError(f"rule {rule.kind}", "needs times of a known unit", rule.column, remedy)
    coarse = _DAYS[rule.kind]
    if coarse == "D" and unit == "M":
        return column  # coarse enough already
    times = column.values.view(f"M8[{unit}]").astype(f"M8[{coarse}]").astype(np.int64)
    if coarse == "Y":  # a number from year 0
        return LinkColumn("time", np.where(column.known, times + 1970, NO_TIME))
    return replace(column, values=times, unit=coarse)


def _merge_rare(column: LinkColumn, links: np.ndarray, least: float) -> LinkColumn:
    """Kinds that fewer links have become one."""
    pairs = np.unique(np.column_stack([links, column.values])[column.known], axis=0)
    counts = np.bincount(pairs[:, 1], minlength=len(column.classes))
    names = zip(column.classes, counts.tolist(), strict=True)
    merged = [name if count >= least else OTHER for name, count in names]
    return replace(column, classes=tuple(merged))


def shift_times(table: LinkTable, rules: Iterable[Rule], rng: np.random.Generator) -> LinkTable:
    """The table with the times that have the rule shift moved, each column by one random amount.

    Audits do not move them: one known time gives the amount away, so attackers are taken to know
    it.
    """
    columns = dict(table.columns)
    for name in {rule.column for rule in rules if rule.kind == "shift"}:
        column = columns[name]
        values = column.values[column.known]
        span = int(values.max() - values.min()) if len(values) else 0
        unit = UNIX.get(column.unit, column.unit)
        if unit == "M":
            most = MAX_SHIFT_DAYS // 30
        elif unit in DATES:
            most = MAX_SHIFT_DAYS * _PER_DAY[unit]
        else:
            most = max(10 * span, 1000)
        amount = int(rng.integers(1, most + 1)) * (1 if rng.random() < 0.5 else -1)
        moved = np.where(column.known, column.values + amount, NO_TIME)
        columns[name] = replace(column, values=moved)
    return LinkTable(table.links, columns)
