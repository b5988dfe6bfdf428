"""Which columns of a table of links are its ends and its weight, and what the others mean.

Ends are judged by their values: both draw from one set of ids, or match the node table. Names of
columns decide where values do not.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import pandas as pd

from core.data.columns import BLANKS, as_text, is_end_name, is_weight_name
from core.data.loaded import LEFT_OUT
from core.errors import InputError
from core.words import count_noun, format_percent

NO_WEIGHT = "none"
"""Value of `weight` that leaves out the weights."""

_SOURCE = re.compile(
    "source|from|sender|caller|calling|follower|citing|von|quelle|desde|ori", re.IGNORECASE
)
_TARGET = re.compile(
    "target|to|recei|recip|callee|called|followee|cited|nach|ziel|hasta|dest|vers", re.IGNORECASE
)
_SIDE = re.compile(
    r"(?<![a-z])(source|target|from|to|src|dst|start|end|left|right|in|out|[ab12])(?![a-z])"
)
_TIME = re.compile(r"(?<![a-z])(date|time|timestamp|year|month|day|hour|since|until)s?(?![a-z])")
_NO_END = re.compile(rf"{_TIME.pattern}|(?<![a-z])(duration|rating|score)s?(?![a-z])")
_WHOLE = re.compile(r"[+-]?\d+")
_NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?")
_DATE = re.compile(r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d.*)?|\d{1,2}[./]\d{1,2}[./]\d{4}( \d\d:\d\d.*)?")
EARLIEST, LATEST = 631_152_000, 2_208_988_800
"""Unix times of 1990 and 2040."""
WAYS = {
    **{word: 0 for word in ("directed", "→", "->")},
    **{word: 1 for word in ("←", "<-")},
    **{word: 2 for word in ("undirected", "mutual", "↔", "<->")},
}
"""Word for the direction of a link, first to second end → code of `core.link_table.DIRECTIONS`."""
USES = {
    "time": "time of a link",
    "category": "kind of a link",
    "direction": "direction of a link",
    "number": "number of a link",
}
"""Kind of a `LinkColumn` → use of the column of the input that it is read from."""
LINK_ROLES = ("source", "target", "weight", "time", "kind")
"""Roles that the caller may state of columns of the links."""
_OWN_ID = re.compile("(edge |link |row )?(id|key|nr|no|index)|unnamed 0|column 1")
MATCH = 0.5
"""Share of a column's values among the ids of the node table from which it matches."""
_FEW = 50


@dataclass(frozen=True)
class LinkRoles:
    """Column → one of `LINK_ROLES` or ignore; question: why the ends are unsure, or empty."""

    roles: dict[str, str]
    question: str = ""

    def check_certain(self, file: str) -> None:
        """Raise InputError that names the options of the ends if they are unsure."""
        if self.question:
            columns = ", ".join(list(self.roles)[:20])
            raise InputError(
                file,
                "must have clear columns of both ends",
                self.question,
                f"say --source COLUMN --target COLUMN (columns are: {columns})",
            )


def guess_link_roles(
    table: pd.DataFrame,
    given: Mapping[str, str] | None = None,
    node_ids: Collection[str] = (),
    has_header: bool = True,
) -> LinkRoles:
    """Roles of the columns of a table of links, by a sample of its rows.

    given     column → role stated by the caller; ignore excludes a column
    node_ids  ids of the node table
    """
    given = given or {}
    columns = [str(column) for column in table.columns]
    roles = {c: given[c] for c in columns if given.get(c) in LINK_ROLES}
    free = [c for c in columns if c not in roles and given.get(c) != "ignore"]
    wanted = [end for end in ("source", "target") if end not in roles.values()]
    question = ""
    if len(wanted) == 1:
        known = next(c for c, role in roles.items() if role in ("source", "target"))
        roles |= dict(zip(_find_other(table, known, free, wanted[0]), wanted, strict=False))
    elif wanted:
        ends, question = _find_ends(table, free, set(node_ids), has_header)
        named = next((c for c in ends if _SOURCE.match(c)), None)
        if named is None and len(ends) == 2 and _TARGET.match(ends[0]):
            named = ends[1]
        ends.sort(key=lambda column: column != named)
        roles |= dict(zip(ends, wanted, strict=False))
    if "weight" not in roles.values():
        found = next((c for c in free if c not in roles and is_weight_name(c)), None)
        roles |= {} if found is None else {found: "weight"}
    return LinkRoles({c: roles.get(c, "ignore") for c in columns}, question)


def _guess_ends(free: Sequence[str], count: int) -> list[str]:
    """Columns by names alone: those named like ends, then the first ones."""
    named = [c for c in free if is_end_name(c)]
    first = [named and next((c for c in named if side.match(c)), "") for side in (_SOURCE, _TARGET)]
    sure = [c for c in first if c]
    others = [c for c in free if not is_weight_name(c)]
    return sorted(list(dict.fromkeys([*sure, *named, *others]))[:count], key=free.index)


def holds_links(table: pd.DataFrame) -> bool:
    """Whether a preview of a table looks like links rather than nodes: a few columns of which the
    first two are named like ends, or two paired ones that share ids."""
    roles = guess_link_roles(table).roles
    ends = [column for column, role in roles.items() if role in ("source", "target")]
    if len(ends) < 2:
        return False
    if len(roles) <= 4 and ends == list(roles)[:2] and all(map(is_end_name, ends)):
        return True
    values = [set(as_text(table[end])) - BLANKS for end in ends]
    return _score_names(*ends) >= 2 and not values[0].isdisjoint(values[1])


def find_referring(tables: Sequence[pd.DataFrame]) -> int | None:
    """Place of the one table of which two columns hold ids of another: whose links they are is
    told by the values where names do not, as "lender" and "borrower" beside a table of people."""
    texts = [{c: as_text(table[c]) for c in table} for table in tables]
    values = [{c: set(column) - BLANKS for c, column in table.items()} for table in texts]
    ids = [
        [found[c] for c, column in table.items() if len(found[c]) == len(column)]
        for table, found in zip(texts, values, strict=True)
    ]

    def refers(table: int, other: int) -> bool:
        columns = [found for c, found in values[table].items() if found and not is_weight_name(c)]
        return any(
            sum(len(found & known) >= MATCH * len(found) for found in columns) >= 2
            for known in ids[other]
        )

    places = range(len(tables))
    found = [i for i in places if any(refers(i, j) for j in places if j != i)]
    return found[0] if len(found) == 1 else None


def _find_other(table: pd.DataFrame, known: str, free: list[str], end: str) -> list[str]:
    """The other end: named so, else sharing ids with the known one, else named like it."""
    side, ids = (_SOURCE if end == "source" else _TARGET), set(as_text(table[known]))
    others = [c for c in free if not is_weight_name(c)]

    def rank(column: str) -> tuple[bool, bool, int]:
        is_side = is_end_name(column) and bool(side.match(column))
        shares = not ids.isdisjoint(set(as_text(table[column])) - BLANKS)
        return is_side, shares, _score_names(known, column)

    return [max(others, key=rank)] if others else []


def _find_ends(
    table: pd.DataFrame, free: list[str], node_ids: set[str], has_header: bool
) -> tuple[list[str], str]:
    """Both ends in the table's order, and why they are unsure or ""."""
    usual = _guess_ends(free, 2)
    if len(free) < 3 or not len(table):
        return usual, ""
    values = {c: set(as_text(table[c])) - BLANKS for c in free if not is_weight_name(c)}
    kinds = {c: find_kind(found) for c, found in values.items()}
    likely = [
        c
        for c, kind in kinds.items()
        if kind in ("whole", "text") and (not has_header or not _NO_END.search(_spell(c)))
    ]
    if sum(is_end_name(c) for c in likely) > 2:  # a number of the row beside both ends
        own = [c for c in likely if c.lower() in ("id", "key") and table[c].is_unique]
        likely = [c for c in likely if c not in own]
        usual = _guess_ends(likely, 2) if own else usual
    if node_ids:
        matching = [
            c for c in likely if len(values[c] & node_ids) >= MATCH * max(len(values[c]), 1)
        ]
        if len(matching) == 2:
            return matching, ""
    shared: dict[tuple[str, str], float] = {}
    for pair in combinations(likely, 2):
        first, second = (values[c] for c in pair)
        if kinds[pair[0]] == kinds[pair[1]] and first & second:
            shared[pair] = len(first & second) / len(first | second)
    is_named = has_header and _score_names(*usual) >= 2 and set(usual) <= set(likely)
    explicit = has_header and _score_names(*usual) == 3
    if explicit or (tuple(usual) in shared and (is_named or not has_header)):
        return usual, ""
    better = {
        pair: (_score_names(*pair) if has_header else 0, share)
        for pair, share in shared.items()
        if not set(usual) <= set(pair)
        and _replaces(usual, pair, values)
        and (
            all(kinds.get(c) == "text" for c in usual if c not in pair)
            or (has_header and _score_names(*pair) >= 2)
        )
    }
    if tuple(usual) in shared:
        better[usual[0], usual[1]] = (_score_names(*usual), shared[usual[0], usual[1]])
    if better:
        ranked = sorted(better, key=lambda pair: better[pair], reverse=True)
        if len(ranked) > 1 and better[ranked[0]] == better[ranked[1]]:
            pairs = " or ".join(f"'{a}' and '{b}'" for a, b in ranked[:2])
            return list(ranked[0]), f"{pairs} may be the ends"
        return list(ranked[0]), ""
    named = [pair for pair in combinations(likely, 2) if _score_names(*pair) >= 2]
    if has_header and not is_named and len(named) == 1:
        return list(named[0]), ""
    if has_header and not any(map(is_end_name, usual)) and len(likely) > 2:
        return usual, "no column is named like an end, and no two share an id"
    return usual, ""


def _replaces(usual: Sequence[str], pair: Sequence[str], values: Mapping[str, set[str]]) -> bool:
    """Whether the column that a pair would replace has fewer values: a kind of link, a file."""
    gone = [c for c in usual if c not in pair]
    come = [c for c in pair if c not in usual]
    most = max((len(values.get(c, ())) for c in gone), default=0)
    return most < min((len(values[c]) for c in come), default=0)


def _score_names(first: str, second: str) -> int:
    """3 for names of a source and a target, 2 for two ends, or names that differ by the side only,
    1 if one names an end."""
    ends = is_end_name(first) + is_end_name(second)
    if ends == 2:
        sides = {bool(_SOURCE.match(n)) - bool(_TARGET.match(n)) for n in (first, second)}
        return 3 if sides == {1, -1} else 2
    bare = [_SIDE.sub("*", _spell(name)) for name in (first, second)]
    return 2 if bare[0] == bare[1] and "*" in bare[0] else ends


def _spell(name: str) -> str:
    """startNode_id → start node id."""
    return re.sub(r"[^a-z0-9]+", " ", re.sub(r"([a-z])([A-Z0-9])", r"\1 \2", name).lower())


def describe_links(table: pd.DataFrame, columns: Sequence[str], count: int = 3) -> str:
    """The first links of a table in words: Anna Berg – Bo Dahl, weight 3; …

    columns  source, target and, where there are weights, their column
    """
    texts = [as_text(table[column].head(count)) for column in columns]
    links = [f"{row[0]} – {row[1]}" for row in zip(*texts, strict=True)]
    if len(texts) > 2:
        links = [f"{link}, weight {w}" for link, w in zip(links, texts[2], strict=True)]
    return "; ".join(links)


def find_kind(values: Collection[str]) -> str:
    """whole, number, time or text; blank if nothing is filled in."""
    filled = [value.strip() for value in values if value.strip() not in BLANKS]
    if not filled:
        return "blank"
    if are_times(filled):
        return "time"
    if all(map(_WHOLE.fullmatch, filled)):
        return "whole"
    return "number" if all(map(_NUMBER.fullmatch, filled)) else "text"


def are_times(values: Collection[str]) -> bool:
    """Whether all are dates, or Unix times of 1990 to 2040 in seconds or milliseconds."""
    if all(_DATE.fullmatch(value) for value in values):
        return True
    numbers = [float(v) for v in values if re.fullmatch(r"\d{9,13}(\.\d+)?", v)]
    low, high = EARLIEST, LATEST
    return len(numbers) == len(values) > 0 and any(
        all(low * unit <= number <= high * unit for number in numbers) for unit in (1, 1000)
    )


def find_use(name: str, column: pd.Series, is_part: bool = False) -> tuple[str, str, str]:
    """(use, kind, why) of a column that is neither end nor weight, as in `ColumnUse`.

    column   its cells, or the first of them
    is_part  whether there may be more, so that nothing is said of the whole column
    """
    where = f" in the first {len(column):,} cells" if is_part else ""
    texts = as_text(column)
    filled = texts[~texts.isin(BLANKS)]
    kind, distinct = find_kind(set(filled)), filled.nunique()
    if kind == "blank":
        return LEFT_OUT, "text", f"empty{where}"
    if kind == "time":
        return USES["time"], "time", "by its values"
    if kind == "whole" and _TIME.search(_spell(name)):
        return USES["time"], "time", "by its name"
    words = set(filled.str.lower())
    if words <= WAYS.keys():
        if {WAYS[word] for word in words} == {WAYS["undirected"]}:
            return LEFT_OUT, "class", f"no link has a direction{where}"
        return USES["direction"], "class", "by its values"
    is_distinct = distinct == len(filled) > 2
    if kind in ("whole", "number"):
        if is_distinct and kind == "whole" and _OWN_ID.fullmatch(_spell(name)):
            return LEFT_OUT, "id", f"every value is distinct{where}: a number of the link"
        signs = filled.str.startswith("-").mean()
        why = "not the weight unless it is chosen (“Column of the weight”, or --weight)"
        if signs:
            share = f"{format_percent(float(signs))} negative{where}"
            why = f"a rating with a sign ({share}): negative links count as any other"
        return USES["number"], "number", why
    if is_distinct:
        return LEFT_OUT, "id", f"every value is distinct{where}: a name or number of the link"
    many = distinct > max(_FEW, len(filled) // 20)
    return USES["category"], "class", "texts" if many else count_noun(distinct, "kind") + where
