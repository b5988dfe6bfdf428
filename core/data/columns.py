"""Proposes the roles of a table's columns, which the user corrects."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from unicodedata import normalize

import numpy as np
import pandas as pd

from core.errors import FormatError, InputError
from core.node_column import LEADING_ZERO

ROLES = ("id", "source", "target", "weight", "private", "utility", "feature", "attribute", "ignore")

_ENDS = re.compile(
    r"((source|target|from|to|src|dst|head|tail|start|end|node|user|id|person|member|u|v)"
    r"(_?(node|user|person|member))?([ _-]?ids?)?[ _-]?([12ab])?)|(from|to)nodeid"
    r"|sender|receiver|recipient|caller|callee|follower|followee|citing|cited"
    r"|von|nach|quelle|ziel|desde|hasta|origen|destino|origine|destination|vers",
    re.IGNORECASE,
)
_WEIGHT = re.compile(r"weights?|w|strength|count|gewicht|peso|poids", re.IGNORECASE)
_ID = re.compile(
    r"(.*[ _-])?(ids?|uuid|guid)|(node|user|person|member|account)s?|[a-z]+I[Dd]|id\d*|key",
    re.IGNORECASE,
)
_NEO4J_ID = re.compile(r".*:(START_ID|END_ID|ID)(\(.*\))?")
_LABEL = re.compile(
    r"y|(.*[ _-])?(label|class|target|category|group|community|type)", re.IGNORECASE
)
_PRIVATE_WORDS = (
    "country",
    "nationality",
    "ethnicity",
    "race",
    "religion",
    "gender",
    "sex",
    "orientation",
    "party",
    "politics",
    "health",
    "diagnosis",
    "disease",
    "income",
    "age",
    "region",
    "private",
    "sensitive",
)
MAX_FLAGS = 20
"""A table of people has a few columns of two values, which are classes. One with more has words or
codes of a category spread over columns, which are features."""
BLANKS = frozenset({"", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "<NA>", "?"})
_NUMBERS_FOR_UNKNOWN = ("-1", "-9", "-99", "-999", "-9999", "999", "9999")
_WORDS_FOR_UNKNOWN = frozenset({"unknown", "missing", "n/a"}) | {word.lower() for word in BLANKS}


def list_known(columns: Iterable[str]) -> str:
    """Remedy for a column that a table does not have: the first 20 that it has."""
    return f"columns are: {', '.join(list(columns)[:20]) or 'none'}"


def guess_roles(table: pd.DataFrame, link_ids: Collection[str] = ()) -> dict[str, str]:
    """Proposed role of each column of a node table.

    link_ids  ends of the links, which the id column of a node table should contain
    At most one column is proposed as private, by its name. None is as utility: it is published.
    """
    names = [str(c) for c in table.columns]
    roles = guess_node_roles(table, guess_id_column(table, link_ids))
    found = next(
        (
            name
            for word in _PRIVATE_WORDS
            for name in names
            if roles[name] in ("feature", "attribute") and word in _words(name)
        ),
        None,
    )
    return roles if found is None else roles | {found: "private"}


def guess_node_roles(table: pd.DataFrame, id_column: str | None = None) -> dict[str, str]:
    """id, feature, attribute or ignore for each column of a node table.

    Numbers are features; those of a few columns with two values are classes, so attributes.
    """
    if id_column is None:
        id_column = guess_id_column(table)
    roles: dict[str, str] = {}
    for column in map(str, table.columns):
        if column == id_column:
            roles[column] = "id"
        else:
            roles[column] = "ignore" if why_ignore(table[column]) else _value_role(table[column])
    flags = [c for c, role in roles.items() if role == "feature" and _is_flag(table[c])]
    return roles | dict.fromkeys(flags if len(flags) <= MAX_FLAGS else (), "attribute")


def guess_id_column(table: pd.DataFrame, link_ids: Collection[str] = ()) -> str | None:
    """The column of node ids: distinct values, most of which are link ends; ties go to a column
    named like an id, then to the first."""
    columns = [str(c) for c in table.columns]
    named = [c for c in columns if _ID.fullmatch(c)]
    exact = [c for c in named if c.lower() in ("id", "node_id", "user_id", "node", "user")]
    likely = list(dict.fromkeys([*exact, *named, *columns[:1]]))
    wanted = {normalize("NFC", node) for node in link_ids}
    best, most = None, -1
    for column in dict.fromkeys([*likely, *(columns if wanted else ())]):
        values = as_text(table[column])
        is_whole = not is_numeric(table[column]) or values.str.fullmatch(r"-?\d+").all()
        if len(values) and values.is_unique and (values != "").all() and is_whole:
            matches = len(wanted.intersection(normalize("NFC", value) for value in values))
            if matches > most and (matches or column in likely):
                best, most = column, matches
    return best or (exact[0] if exact else None)


def guess_unknown_markers(table: pd.DataFrame) -> dict[str, list[str]]:
    """`find_unknown_markers` of each column that has any."""
    found = {str(c): find_unknown_markers(as_text(table[c]).unique()) for c in table.columns}
    return {column: markers for column, markers in found.items() if markers}


def find_unknown_markers(values: Iterable[str]) -> list[str]:
    """Values of a column that may mean "unknown"; proposed, never applied automatically.
    Empty cells always do and are not named.

    A number is proposed only if it is an outlier: the minimum (−1, −9, −999) of a column without
    other negative values, or a maximum (999) far beyond the others.
    """
    present = list(dict.fromkeys(values))
    numbers = pd.to_numeric(pd.Series(present, dtype=object), errors="coerce").dropna()
    found = []
    for marker in _NUMBERS_FOR_UNKNOWN:
        value = float(marker)
        others = numbers[numbers != value]
        is_apart = len(others) and (value < 0 <= others.min() or value > max(0, 5 * others.max()))
        if marker in present and is_apart:
            found.append(marker)
    return [*found, *sorted(v for v in present if v and v.lower() in _WORDS_FOR_UNKNOWN)]


def check_roles(roles: Mapping[str, str], columns: list[str]) -> None:
    """Raise InputError for an invalid role, or for a missing column that is not ignored."""
    for column, role in roles.items():
        if role not in ROLES:
            raise InputError(
                f"role of column '{column}'",
                "must be a known role",
                role,
                "known: " + ", ".join(ROLES),
            )
        if column not in columns and role != "ignore":
            raise InputError("column", "must be in the node data", column, list_known(columns))


def check_distinct_names(names: Sequence[str], file: str) -> None:
    """Raise FormatError for a repeated column name."""
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise FormatError(
            file, "must have distinct column names", repeated[0], "rename one of the columns"
        )


def plain_names(names: Sequence[str]) -> list[str]:
    """Column names without Neo4j's types: `:START_ID(Person)` is source, `:END_ID` target,
    `personId:ID` personId, `age:int` age."""
    if not any(_NEO4J_ID.fullmatch(name) for name in names):
        return list(names)
    own = {":START_ID": "source", ":END_ID": "target", ":ID": "id", ":TYPE": "type"}
    own[":LABEL"] = "label"
    bare = [re.sub(r"\(.*\)$", "", name) for name in names]
    return [own.get(name) or name.rpartition(":")[0] or name for name in bare]


def is_end_name(name: str) -> bool:
    """Whether a column of this name holds one end of a link."""
    return bool(_ENDS.fullmatch(name) or re.fullmatch(r":(START|END)_ID(\(.*\))?", name))


def is_weight_name(name: str) -> bool:
    """Whether a column of this name holds the weight of a link."""
    return bool(_WEIGHT.fullmatch(name))


def is_link_name(name: str) -> bool:
    """Whether a column of this name holds an end or the weight of a link."""
    return bool(_ENDS.fullmatch(name)) or is_weight_name(name)


def as_text(column: pd.Series) -> pd.Series:
    """Stripped texts; missing cells are "", 1.0 is "1"."""
    if pd.api.types.is_float_dtype(column):
        whole = (
            column.notna()
            & np.isfinite(column)
            & (column.abs() < 1 << 53)
            & (column == column.round())
        )
        texts = column.astype(object).where(column.notna(), "")
        texts[whole] = column[whole].astype(np.int64).astype(object)
        return texts.map(str).astype(object)
    texts = column.astype(object).where(column.notna(), "")
    return texts.map(lambda value: str(value).strip()).astype(object)


def is_numeric(column: pd.Series) -> bool:
    """Whether every cell is a number, a truth value or blank, and at least one is a number.

    Digits with a leading zero are no number.
    """
    return _holds_numbers(column) and not _has_leading_zeros(column)


def are_codes(column: pd.Series) -> bool:
    """Whether the column would be numeric but for leading zeros, as postal codes are."""
    return _holds_numbers(column) and _has_leading_zeros(column)


def _has_leading_zeros(column: pd.Series) -> bool:
    if pd.api.types.is_numeric_dtype(column):
        return False
    return bool(as_text(column).str.match(LEADING_ZERO).any())


def _holds_numbers(column: pd.Series) -> bool:
    missing = as_numbers(column).isna()
    if missing.all():
        return False
    return not missing.any() or bool(as_text(column[missing]).isin(BLANKS).all())


def as_numbers(column: pd.Series) -> pd.Series:
    """float64 of a column, NaN where a cell is no number; true and false are 1 and 0."""
    if pd.api.types.is_datetime64_any_dtype(column):
        return pd.Series(np.nan, column.index, dtype=float)
    numbers = pd.to_numeric(column, errors="coerce").astype(float)
    if numbers.isna().all():
        truth = as_text(column).str.lower().map({"true": 1.0, "false": 0.0})
        return truth.astype(float)
    return numbers


def why_ignore(column: pd.Series) -> str | None:
    """Reason for ignoring a column of a node table by default, or None."""
    if _ID.fullmatch(str(column.name)) and len(column) > 2 and as_text(column).is_unique:
        return "a second id: every value is distinct"
    if is_numeric(column):
        return None
    text = as_text(column)
    num_distinct = text.nunique()
    if num_distinct == len(text) > 2:
        return "a name: every value is distinct"
    if num_distinct > max(50, 0.2 * len(text)):
        what = "codes with leading zeros" if are_codes(column) else "free text"
        return f"{what}: {num_distinct} distinct values"
    return None


def _value_role(column: pd.Series) -> str:
    if _LABEL.fullmatch(str(column.name)) and column.nunique() <= 100:
        return "attribute"
    return "feature" if is_numeric(column) else "attribute"


def _is_flag(column: pd.Series) -> bool:
    """Whether the values are true and false, 0 and 1 or 1 and 2, each of them present."""
    values = set(as_numbers(column).dropna().unique())
    return values in ({0.0, 1.0}, {1.0, 2.0})


def _words(name: str) -> set[str]:
    spaced = re.sub(r"([a-z])([A-Z])", r"\1 \2", name)
    return set(re.split(r"[^a-z]+", spaced.lower()))
