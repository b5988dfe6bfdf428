"""Collects the nodes and links of formats that name attributes one node at a time."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from core.data.assembly import RawGraph
from core.errors import FormatError, InputError


class AttributedNodes:
    """Nodes and links in the order of the file; links may precede the nodes they join."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._nodes: dict[str, Mapping[str, str]] = {}
        self._ends: list[tuple[str, str]] = []
        self._weights: list[str | None] = []

    def add_node(self, node: str | None, values: Mapping[str, str]) -> None:
        """A node with its values by column; raises where the id is empty or repeated."""
        if node is None or not node.strip():
            raise FormatError(self._file, "must give every node an id")
        if node.strip() in self._nodes:
            raise FormatError(
                self._file, "must have distinct node ids", node, "remove the duplicate"
            )
        self._nodes[node.strip()] = values

    def add_link(self, source: str | None, target: str | None, weight: str | None) -> None:
        """A link between two ids; raises where an end is missing."""
        if source is None or target is None:
            raise FormatError(self._file, "must give every link two ends", (source, target))
        self._ends.append((source.strip(), target.strip()))
        self._weights.append(weight)

    def to_raw(self, format: str, notes: tuple[str, ...] = ()) -> RawGraph:
        """Columns are all names that any node has; a node without one has an empty cell."""
        index = {node: position for position, node in enumerate(self._nodes)}
        unknown = {end for pair in self._ends for end in pair} - index.keys()
        if unknown:
            raise InputError(
                self._file,
                "must declare every linked node",
                f"{len(unknown)} are missing, such as '{min(unknown)}'",
                "declare them",
            )
        pairs = np.array([(index[a], index[b]) for a, b in self._ends], np.int64).reshape(-1, 2)
        columns = dict.fromkeys(name for values in self._nodes.values() for name in values)
        table = pd.DataFrame(
            {c: [values.get(c, "") for values in self._nodes.values()] for c in columns},
            dtype=object,
        )
        return RawGraph(
            pairs=pairs,
            node_ids=tuple(self._nodes),
            weights=self._parse_weights(),
            table=table if len(columns) else None,
            format=format,
            notes=notes,
        )

    def _parse_weights(self) -> np.ndarray | None:
        """Links without a weight weigh 1, as the formats define."""
        if all(weight is None for weight in self._weights):
            return None
        values = np.ones(len(self._weights))
        for row, weight in enumerate(self._weights):
            if weight is not None:
                try:
                    values[row] = float(weight)
                except ValueError:
                    raise FormatError(
                        f"{self._file}: link weights", "must be numbers", weight, "correct it"
                    ) from None
        return values
