"""The columns of the nodes: one name space, whatever a column is used for."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from types import MappingProxyType
from typing import Any, cast

import numpy as np
from scipy import sparse

from core.arrays import freeze_matrix, join_columns
from core.errors import InputError, propose_nearest
from core.node_column import NodeColumn

MANY = 200
"""Columns of a block above which they are one choice and one row of a table."""


@dataclass(frozen=True, eq=False)
class NodeTable(Mapping[str, NodeColumn]):
    """Name → column: those that stand alone, and a block of like ones, as the words of papers.

    alone  name → column, in the order of the input
    block  (n, d) float32, dense or CSR: numbers that attackers read; or None
    names  d texts, by default "0", "1", …; one that also stands alone has its classes there
    read   columns of `alone` that attackers read as numbers → the number of an unknown cell

    What attackers read are the features: the block, then the numbers of `read`. All other columns
    are attributes. A column keeps its values and classes when its use changes.

    >>> from core import Graph
    >>> from core.node_column import NodeColumn
    >>> age = NodeColumn.from_values("age", ["30", "41", ""])
    >>> table = Graph.from_pairs([(0, 1), (1, 2)], attributes={"age": age}).columns
    >>> seen = table.as_features(["age"])
    >>> list(seen.attributes), seen.feature_names, seen.features.ravel().tolist()
    ([], ('age',), [30.0, 41.0, 35.5])
    >>> seen["age"].codes.tolist()
    [0, 1, -1]
    """

    alone: Mapping[str, NodeColumn] = field(default_factory=dict)
    block: np.ndarray | sparse.csr_array | None = None
    names: tuple[str, ...] = ()
    read: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("alone", "read"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))
        for name, middle in self.read.items():
            if name not in self.alone or not np.isfinite(middle):
                raise InputError(f"feature '{name}'", "must be a column with a median")
            self.alone[name].find_median()  # raises for other values than numbers
        if self.block is None:
            object.__setattr__(self, "names", ())
            return
        block = freeze_matrix(self.block)
        names = tuple(self.names) or tuple(map(str, range(block.shape[1])))
        object.__setattr__(self, "block", block)
        object.__setattr__(self, "names", names)
        if len(names) != block.shape[1]:
            raise InputError("feature names", "must be one per feature column")
        if not np.isfinite(block.data if sparse.issparse(block) else block).all():
            raise InputError("features", "must be finite", remedy="fill or drop missing values")

    # -- by name --------------------------------------------------------------------------

    def __getitem__(self, name: str) -> NodeColumn:
        if name in self.alone:
            return self.alone[name]
        return NodeColumn.from_values(name, self.read_numbers(name))

    def __contains__(self, name: object) -> bool:
        return name in self.alone or name in self._places

    def __iter__(self) -> Iterator[str]:
        yield from self.attributes
        yield from (name for name in self.feature_names if name not in self.attributes)

    def __len__(self) -> int:
        return len({*self.alone, *self.names})

    def find(self, name: str, what: str = "column") -> NodeColumn:
        """The column of a name; raises InputError about `what` if there is none."""
        self.check([name], what)
        return self[name]

    def check(self, names: Iterable[str], what: str = "column") -> None:
        """Raise InputError about `what` for the first name that is no column."""
        for name in names:
            if name not in self:
                remedy = (
                    propose_nearest(str(name), list(self)) or f"columns are: {self.list_some()}"
                )
                raise InputError(what, "must be a column of the graph", name, remedy)

    def list_some(self) -> str:
        """The first names, for a message."""
        return ", ".join(islice(self, 20)) or "none"

    def check_rows(self, n: int) -> None:
        """Raise InputError for a column that has not n values."""
        for name, column in self.alone.items():
            if column.codes.shape != (n,):
                raise InputError(f"column '{name}'", f"must have {n} values")
        if self.block is not None and self.block.shape[0] != n:
            raise InputError("features", f"must have {n} rows", self.block.shape[0])

    # -- by use ---------------------------------------------------------------------------

    @property
    def together(self) -> tuple[str, ...]:
        """Names of a block so wide that it is one choice, as the words of papers; or none."""
        return self.names if len(self.names) > MANY else ()

    def list_choices(self) -> list[str]:
        """Columns that are chosen one by one."""
        words = set(self.together)
        return [name for name in self if name in self.alone or name not in words]

    @cached_property
    def attributes(self) -> Mapping[str, NodeColumn]:
        """Name → column that attackers do not read unless it is published."""
        return MappingProxyType({n: c for n, c in self.alone.items() if n not in self.read})

    @cached_property
    def feature_names(self) -> tuple[str, ...]:
        """d names of the columns that attackers read."""
        return (*self.names, *self.read)

    @cached_property
    def features(self) -> np.ndarray | sparse.csr_array | None:
        """(n, d) float32, dense or CSR, what attackers read; None if that is nothing."""
        if not self.read:
            return self.block
        numbers = [self.alone[name].fill_numbers(middle) for name, middle in self.read.items()]
        return freeze_matrix(join_columns(self.block, np.stack(numbers, 1).astype(np.float32)))

    @cached_property
    def _places(self) -> Mapping[str, int]:
        """Name of a feature → its place."""
        return {name: place for place, name in reversed([*enumerate(self.feature_names)])}

    def select_features(self, names: Sequence[str]) -> Any:
        """(n, k) float32, dense or CSR: features of these names."""
        features: Any = self.features
        return features[:, [self._places[name] for name in names]]

    def read_numbers(self, name: str) -> np.ndarray:
        """(n,) float32 of a feature."""
        column = self.select_features([name])
        return np.asarray((column.toarray() if sparse.issparse(column) else column).ravel())

    # -- other tables ---------------------------------------------------------------------

    def as_attributes(self, names: Collection[str]) -> NodeTable:
        """The table with these columns as attributes; raises InputError for an unknown one."""
        if not any(name in self._places for name in names):
            self.check(names)
            return self
        found = {name: self.find(name) for name in names}
        read = {name: middle for name, middle in self.read.items() if name not in found}
        return NodeTable({**self.alone, **found}, *self._cut(found), read)

    def as_features(self, names: Collection[str]) -> NodeTable:
        """The table with these columns as features, unknown cells as the column's median.

        Raises InputError for a column that is unknown or holds no numbers.
        """
        self.check(names)
        new = [name for name in names if name not in self._places]
        read = {**self.read, **{name: self.alone[name].find_median() for name in new}}
        alone = {n: c for n, c in self.alone.items() if n in read or n not in set(names)}
        return replace(self, alone=alone, read=read)

    def with_column(self, column: NodeColumn) -> NodeTable:
        """The table with a column in place of the one of its name, used as that is.

        Raises InputError for an unknown name, and for a feature that holds no numbers.
        """
        name, block = column.name, cast(Any, self.block)
        self.check([name])
        alone = {**self.alone, name: column} if name in self.alone else self.alone
        read = {**self.read, name: column.find_median()} if name in self.read else self.read
        if name in self.names:
            numbers = column.fill_numbers(column.find_median())[:, None]
            block = block.tolil(copy=True) if sparse.issparse(block) else np.array(block)
            block[:, [self.names.index(name)]] = numbers
        return replace(self, alone=alone, block=block, read=read)

    def select(self, names: Collection[str]) -> NodeTable:
        """Only the columns of these names."""
        kept = set(names)
        rest = self.without_features([name for name in self.feature_names if name not in kept])
        return replace(rest, alone={n: c for n, c in rest.alone.items() if n in kept})

    def without_features(self, names: Collection[str]) -> NodeTable:
        """The table without the features of these names."""
        gone = {name for name in names if name in self._places}
        if not gone:
            return self
        alone = {n: c for n, c in self.alone.items() if n not in gone or n not in self.read}
        read = {name: middle for name, middle in self.read.items() if name not in gone}
        return NodeTable(alone, *self._cut(gone), read)

    def _cut(self, gone: Container[str]) -> tuple[Any, tuple[str, ...]]:
        """The block without the columns of these names, and its names."""
        keep = [place for place, name in enumerate(self.names) if name not in gone]
        block: Any = self.block
        if len(keep) < len(self.names):
            block = block[:, keep] if keep else None
        return block, tuple(self.names[place] for place in keep)

    def update(self, **parts: Any) -> NodeTable:
        """The table with other `attributes`, or other `features` (a block) and `feature_names`."""
        own = dict(parts.get("attributes", self.attributes))
        if "features" in parts:
            return NodeTable(own, parts["features"], parts.get("feature_names", self.feature_names))
        read = {name: middle for name, middle in self.read.items() if name not in own}
        return replace(self, alone={**own, **{name: self.alone[name] for name in read}}, read=read)

    def take(self, nodes: np.ndarray) -> NodeTable:
        """The rows of these node numbers."""
        block: Any = self.block
        return replace(
            self,
            alone={name: column.take(nodes) for name, column in self.alone.items()},
            block=None if block is None else block[nodes],
        )
