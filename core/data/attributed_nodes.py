"""Nodes and links with attributes as GraphML, GEXF, GML and JSON declare them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from unicodedata import normalize

import numpy as np
import pandas as pd

from core.data.assembly import MissingNodes, RawGraph
from core.data.columns import is_weight_name, list_known
from core.data.link_columns import NO_WEIGHT, USES
from core.data.link_values import ReadColumn, choose_column, parse_columns
from core.data.loaded import LEFT_OUT, ColumnUse
from core.data.text_input import check_cells, check_num_columns
from core.errors import FormatError, InputError
from core.link_table import BOTH, DIRECTION, FORWARD, LinkColumn
from core.words import count_noun

_MAX_NOTES = 20
_MAX_VALUES = 1000
"""Values of a column of the links by which its meaning is guessed."""


class AttributedNodes:
    """Nodes and links in the order of the file; links may precede the nodes they join.

    file    what messages call it
    weight  column of the links that is their weight; "none": no weights; None: by the format
    given   column of the links → time, kind or ignore, as the caller states
    """

    def __init__(
        self, file: str, weight: str | None = None, given: Mapping[str, str] | None = None
    ) -> None:
        self.file = file
        self.weight = weight
        self._given = given or {}
        self._values: dict[str, dict[int, str]] = {}
        self._directed: list[bool | None] = []
        self._nodes: dict[str, Mapping[str, str]] = {}
        self._columns: dict[str, str] = {}
        self._ends: list[tuple[str, str]] = []
        self._weights: list[str | None] = []
        self._left_out: Counter[tuple[str, str]] = Counter()
        self._unread: Counter[tuple[str, str, str]] = Counter()
        self._declared: dict[tuple[str, str], None] = {}
        self._ids = ("id", "by the format")
        self._notes: list[str] = []
        self._weight_names: Counter[str] = Counter()

    def leave_out(self, what: str, where: str, count: int = 1) -> None:
        """Count content that the graph does not keep."""
        self._left_out[what, where] += count

    def leave_out_value(self, table: str, column: str, why: str) -> None:
        """Count a value that the graph does not keep, of a column of the nodes or of the links."""
        self._unread[table, column, why] += 1

    def declare(self, table: str, column: str) -> None:
        """A column that the file declares; without any value it is left out as empty."""
        self._declared[table, column] = None

    def set_ids(self, column: str, why: str) -> None:
        """Which column of the nodes has their ids, and why."""
        self._ids = column, why

    def note(self, text: str) -> None:
        """Add a remark to the report."""
        self._notes.append(text)

    def count_graphs(self, count: int) -> None:
        """Remark that several graphs of one file were joined."""
        if count > 1:
            self.note(f"{count} graphs of the file were read as one")

    def set_direction(self, is_directed: bool) -> None:
        """Whether links that do not say so themselves, so far, are directed."""
        self._directed = [is_directed if own is None else own for own in self._directed]

    def set_default(self, column: str, value: str) -> None:
        """Value for nodes without the column."""
        self._columns[column] = value
        check_num_columns(self.file, len(self._columns))

    def add_node(self, node: str | None, values: Mapping[str, str]) -> None:
        """Add a node with its values by column; raises for an empty or repeated id."""
        if node is None or not node.strip():
            raise FormatError(self.file, "must give every node an id")
        node = normalize("NFC", node.strip())
        if node in self._nodes:
            raise FormatError(
                self.file, "must have distinct node ids", node, "remove the duplicate"
            )
        self._nodes[node] = values
        for column in values:
            self._columns.setdefault(column, "")
        if not len(self._nodes) % 1000:
            check_cells(self.file, len(self._nodes), len(self._columns))

    def add_link(
        self,
        source: str | None,
        target: str | None,
        values: Mapping[str, str | None],
        usual: Sequence[str] = ("weight",),
        is_directed: bool | None = None,
    ) -> None:
        """Add a link between two ids with its values by column; raises if an end is missing.

        usual  columns of which the first filled one is the weight unless the caller states another
        is_directed  whether it has a direction; None: as `set_direction` says, else not
        """
        if source is None or target is None:
            raise FormatError(self.file, "must give every link two ends", (source, target))
        self._ends.append((normalize("NFC", source.strip()), normalize("NFC", target.strip())))
        filled = {column: value for column, value in values.items() if value is not None}
        read = [column for column in usual if self._given.get(column) != "ignore"]
        name = self.weight or next((column for column in read if column in filled), "")
        self._weights.append(filled.pop(name, None))
        if self._weights[-1] is not None:
            self._weight_names[name] += 1
        for column, value in filled.items():
            self._values.setdefault(column, {})[len(self._ends) - 1] = value
        check_num_columns(self.file, len(self._values))
        self._directed.append(is_directed)

    def _read_link_columns(self) -> tuple[dict[str, LinkColumn], list[ColumnUse]]:
        """Columns of the links, one value a link, and the use of each."""
        ends = [ColumnUse("links", end, end, "id") for end in ("source", "target")]
        weights = [
            ColumnUse("links", column, "weight", "number", count_noun(count, "value"))
            for column, count in self._weight_names.items()
        ]
        chosen: list[ReadColumn] = []
        rest: list[ColumnUse] = []
        for name, values in self._values.items():
            stated = self._given
            if self.weight == NO_WEIGHT and is_weight_name(name):
                stated = {**stated, name: "ignore"}
            first, is_part = list(islice(values.values(), _MAX_VALUES)), len(values) > _MAX_VALUES
            found = choose_column(name, first, stated, is_part)
            found = replace(found, why=f"{found.why} ({count_noun(len(values), 'value')})")
            if isinstance(found, ReadColumn):
                chosen.append(found)
            else:
                rest.append(found)
        rows = range(len(self._ends))
        cells = {c.name: [self._values[c.name].get(row, "") for row in rows] for c in chosen}
        columns, uses = parse_columns(chosen, cells, self.file)
        if any(self._directed) and DIRECTION not in self._values:
            codes = [FORWARD if is_directed else BOTH for is_directed in self._directed]
            columns[DIRECTION] = LinkColumn("direction", np.array(codes))
            uses.append(ColumnUse("links", DIRECTION, USES["direction"], "class", "by the format"))
        return columns, [*ends, *weights, *rest, *uses]

    def _list_unread(self, uses: Sequence[ColumnUse]) -> tuple[list[ColumnUse], list[str]]:
        """Uses of columns of which no value is read; remarks on those with other values too."""
        read = {(use.table, use.name) for use in uses}
        read |= {("nodes", name) for name in (*self._columns, self._ids[0])}
        rows: dict[tuple[str, str], ColumnUse] = {}
        notes = []
        for (table, name, why), count in self._unread.items():
            values = count_noun(count, "value")
            if (table, name) in read or (table, name) in rows:
                notes.append(f"{values} of column '{name}' of the {table} not used: {why}")
            else:
                why = f"{why} ({values})"
                rows[table, name] = ColumnUse(table, name, LEFT_OUT, "text", why)
        for table, name in self._declared.keys() - read - rows.keys():
            rows[table, name] = ColumnUse(table, name, LEFT_OUT, "text", "empty")
        return [rows[key] for key in sorted(rows)], notes

    def to_raw(self, format: str, missing_nodes: MissingNodes = "error") -> RawGraph:
        """Columns are the union of all nodes' names; missing cells are empty.

        Links to undeclared nodes are refused, dropped, or declare them.
        """
        if self.weight not in (None, NO_WEIGHT) and not self._weight_names:
            known = list_known(self._values)
            raise InputError(f"{self.file}: weight", "must be a column", self.weight, known)
        for name, role in self._given.items():
            if role in ("time", "kind") and name not in self._values:
                known = list_known(self._values)
                raise InputError(f"{self.file}: {role}", "must be a column", name, known)
        index = {node: position for position, node in enumerate(self._nodes)}
        missing = dict.fromkeys(end for pair in self._ends for end in pair if end not in index)
        ends, weights = self._ends, self._weights
        notes = [*self._notes]
        for (what, where), count in self._left_out.most_common(_MAX_NOTES):
            noun, _, rest = what.partition(" ")
            several = f"{noun}s {rest}".strip() if rest != "graph" else f"{what}s"
            notes.append(f"{count_noun(count, what, several)} {where}".strip() + " not used")
        skipped = 0
        columns, uses = self._read_link_columns()
        uses.append(ColumnUse("nodes", self._ids[0], "id", "id", self._ids[1]))
        unread, told = self._list_unread(uses)
        uses += unread
        notes += told
        if missing and missing_nodes == "error":
            raise InputError(
                self.file,
                "must declare every linked node",
                f"{len(missing)} are missing, such as '{min(missing)}'",
                "declare them, add the undeclared nodes, or drop their links",
            )
        if missing and missing_nodes == "add":
            for node in missing:
                self.add_node(node, {})
                index[node] = len(index)
            notes.append(f"{len(missing)} nodes that were not declared were added")
        elif missing:
            kept = [row for row, (a, b) in enumerate(ends) if a in index and b in index]
            skipped = len(ends) - len(kept)
            notes.append(f"{skipped} links to {len(missing)} ids without a row were dropped")
            ends, weights = [ends[row] for row in kept], [weights[row] for row in kept]
            columns = {name: column.take(np.array(kept)) for name, column in columns.items()}
        check_cells(self.file, len(self._nodes), len(self._columns))
        pairs = np.array([(index[a], index[b]) for a, b in ends], np.int64).reshape(-1, 2)
        table = pd.DataFrame(
            {
                column: [values.get(column, default) for values in self._nodes.values()]
                for column, default in self._columns.items()
            },
            dtype=object,
        )
        return RawGraph(
            pairs=pairs,
            node_ids=tuple(self._nodes),
            weights=self._parse_weights(weights),
            table=table if len(self._columns) else None,
            num_rows_skipped=skipped,
            format=format,
            notes=notes,
            columns=uses,
            link_columns=columns,
        )

    def _parse_weights(self, weights: list[str | None]) -> np.ndarray | None:
        """Missing weights are 1, as the formats define."""
        if all(weight is None for weight in weights):
            return None
        values = np.ones(len(weights))
        for row, weight in enumerate(weights):
            if weight is not None:
                try:
                    values[row] = float(weight)
                except ValueError:
                    raise FormatError(
                        f"{self.file}: link weights",
                        "must be numbers",
                        weight,
                        "correct it or leave the weights out: --weight none",
                    ) from None
        return values


def with_article(word: str) -> str:
    """a word, an other."""
    return f"{'an' if word[:1] in 'aeiou' else 'a'} {word}"
