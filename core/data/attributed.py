"""Collects the nodes and links of formats that name attributes one node at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from unicodedata import normalize

import numpy as np
import pandas as pd

from core.data.assembly import MissingNodes, RawGraph
from core.data.limits import check_cells, check_num_columns
from core.errors import FormatError, InputError
from core.words import count_noun

_MAX_NOTES = 20


class AttributedNodes:
    """Nodes and links in the order of the file; links may precede the nodes they join."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._nodes: dict[str, Mapping[str, str]] = {}
        self._columns: dict[str, str] = {}
        self._ends: list[tuple[str, str]] = []
        self._weights: list[str | None] = []
        self._left_out: Counter[tuple[str, str]] = Counter()
        self._notes: list[str] = []

    def leave_out(self, what: str, where: str, count: int = 1) -> None:
        """Count something that the file says and the graph does not keep."""
        self._left_out[what, where] += count

    def count_graphs(self, count: int) -> None:
        """Note that several graphs of one file were joined."""
        if count > 1:
            self._notes.append(f"{count} graphs of the file were read as one")

    def set_default(self, column: str, value: str) -> None:
        """The value of nodes that do not name the column."""
        self._columns[column] = value
        check_num_columns(self._file, len(self._columns))

    def add_node(self, node: str | None, values: Mapping[str, str]) -> None:
        """A node with its values by column; raises where the id is empty or repeated."""
        if node is None or not node.strip():
            raise FormatError(self._file, "must give every node an id")
        node = normalize("NFC", node.strip())
        if node in self._nodes:
            raise FormatError(
                self._file, "must have distinct node ids", node, "remove the duplicate"
            )
        self._nodes[node] = values
        for column in values:
            self._columns.setdefault(column, "")
        if not len(self._nodes) % 1000:
            check_cells(self._file, len(self._nodes), len(self._columns))

    def add_link(self, source: str | None, target: str | None, weight: str | None) -> None:
        """A link between two ids; raises where an end is missing."""
        if source is None or target is None:
            raise FormatError(self._file, "must give every link two ends", (source, target))
        self._ends.append((normalize("NFC", source.strip()), normalize("NFC", target.strip())))
        self._weights.append(weight)

    def to_raw(
        self,
        format: str,
        missing_nodes: MissingNodes = "error",
        ignore_weights: bool = False,
    ) -> RawGraph:
        """Columns are all names that any node has; a node without one has an empty cell.

        Links to nodes that are not declared are refused, dropped, or declare them.
        """
        index = {node: position for position, node in enumerate(self._nodes)}
        missing = dict.fromkeys(end for pair in self._ends for end in pair if end not in index)
        ends, weights = self._ends, self._weights
        notes = [*self._notes]
        for (what, where), count in self._left_out.most_common(_MAX_NOTES):
            noun, _, rest = what.partition(" ")
            several = f"{noun}s {rest}".strip() if rest != "graph" else f"{what}s"
            notes.append(f"{count_noun(count, what, several)} {where}".strip() + " not used")
        skipped = 0
        if missing and missing_nodes == "error":
            raise InputError(
                self._file,
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
        check_cells(self._file, len(self._nodes), len(self._columns))
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
            weights=None if ignore_weights else self._parse_weights(weights),
            table=table if len(self._columns) else None,
            num_rows_skipped=skipped,
            format=format,
            notes=notes,
        )

    def _parse_weights(self, weights: list[str | None]) -> np.ndarray | None:
        """Links without a weight weigh 1, as the formats define."""
        if all(weight is None for weight in weights):
            return None
        values = np.ones(len(weights))
        for row, weight in enumerate(weights):
            if weight is not None:
                try:
                    values[row] = float(weight)
                except ValueError:
                    raise FormatError(
                        f"{self._file}: link weights",
                        "must be numbers",
                        weight,
                        "correct it or ignore the weights",
                    ) from None
        return values
