"""Resources of a method: device, seed, progress, memory budget, shared work."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from core.device import Device, compute_memory_budget, cpu_device, find_device
from core.progress import Progress
from core.seeding import Seed

T = TypeVar("T")

LEAST_KEPT = 8
"""Number of most recent values kept whatever their size."""

MAX_COUNTED = 100
"""Largest sequence whose arrays are counted; longer ones hold names."""


class SharedWork:
    """Cache of work shared by attacks on one release: embeddings, path counts, shadow releases.

    The key must name everything that determines the value. `Context.share` seeds the work by its
    key, never by the first caller. Keeps the `limit` most recent values; beyond the last LEAST_KEPT
    only while all arrays take at most `max_bytes`.
    """

    def __init__(self, limit: int = 32, max_bytes: int = 1 << 29) -> None:
        self._values: dict[tuple[object, ...], tuple[Any, int]] = {}
        self._limit, self._max_bytes = limit, max_bytes

    def get(self, key: tuple[object, ...], compute: Callable[[], T]) -> T:
        """The value under `key`, computed if not cached."""
        found = self._values.pop(key, None)
        if found is None:
            value: Any = compute()
            found = value, count_bytes(value)
        self._values[key] = found
        while len(self._values) > self._limit or self._is_too_large():
            self._values.pop(next(iter(self._values)))
        result: T = found[0]
        return result

    def _is_too_large(self) -> bool:
        total = sum(size for _, size in self._values.values())
        return len(self._values) > LEAST_KEPT and total > self._max_bytes

    def clear(self) -> None:
        """Empty the cache."""
        self._values.clear()


def count_bytes(value: object, depth: int = 5) -> int:
    """Bytes of the arrays and tensors in a value, up to `depth` levels of containers and fields."""
    size = getattr(value, "nbytes", None)
    if isinstance(size, int):
        return size
    if isinstance(value, dict | MappingProxyType):  # others may compute what they list
        parts: Iterable[object] = value.values()
    elif isinstance(value, tuple | list):
        parts = value[:MAX_COUNTED]
    else:
        parts = getattr(value, "__dict__", {}).values()
    return sum(count_bytes(part, depth - 1) for part in parts) if depth else 0


@dataclass(frozen=True, eq=False)
class BasePrediction:
    """Another attack's cell of the same release, repeat and knowledge, used as a base model.

    seed    its seed
    arrays  its results: `scores` and possibly `held_out`; None if not computed
    """

    seed: Seed
    arrays: Mapping[str, np.ndarray] | None = None


@dataclass(frozen=True)
class StoredForm(Generic[T]):
    """How costly shared work is kept as arrays.

    version  of the work, where code of two versions may meet
    """

    version: int
    pack: Callable[[T], dict[str, np.ndarray]]
    unpack: Callable[[dict[str, np.ndarray], Context], T]


class Kept(Protocol):
    """Work kept for other processes: `core.audit.store.kept.KeptWork`."""

    def get(
        self,
        key: tuple[object, ...],
        compute: Callable[[Context], T],
        form: StoredForm[T],
        context: Context,
    ) -> T:
        """What `compute` gives, computed once for all processes."""


@dataclass(frozen=True)
class Context:
    """seed: one stream per cell; draw with `context.seed.rng("purpose")`.

    shared_seed       stream of work shared by several cells (one per release and repeat)
    memory_budget     bytes for tiles and batches
    is_publishing     a publishing run: entropy of the operating system, not recorded
    base_predictions  by key: the base models of this attack
    kept              shared work of several processes
    """

    seed: Seed
    shared_seed: Seed | None = None
    device: Device = field(default_factory=cpu_device)
    progress: Progress = field(default_factory=Progress)
    memory_budget: int = 1 << 30
    shared: SharedWork = field(default_factory=SharedWork)
    is_publishing: bool = False
    base_predictions: Mapping[str, BasePrediction] = field(default_factory=dict)
    kept: Kept | None = None

    @staticmethod
    def build(seed: Seed, uses_gpu: bool = False, **fields: Any) -> Context:
        """Context on the GPU, if wanted and available, or the CPU, with the memory it has free."""
        device = find_device() if uses_gpu else cpu_device()
        budget = compute_memory_budget(device)
        return Context(seed, device=device, memory_budget=budget, **fields)

    def rng(self, *names: object) -> np.random.Generator:
        """A NumPy generator for this purpose."""
        return self.seed.rng(*names)

    def child(self, *names: object) -> Context:
        """The same context with the seed of a sub-task."""
        return replace(self, seed=self.seed.child(*names))

    def share(
        self,
        key: tuple[object, ...],
        compute: Callable[[Context], T],
        form: StoredForm[T] | None = None,
    ) -> T:
        """Value of `compute` under `key`, computed once per worker and release; with a form once
        per audit, where work is kept.

        `key` names the work, the release's content hash and all settings. `compute` gets a context
        seeded by `key` only, so that any cell computes the same value.
        """
        root = self.shared_seed or replace(self.seed, path=())
        context = replace(self, seed=root.child(*key))
        whole = (root.root, root.path, self.device.torch_name, *key)

        def find() -> T:
            if form is None or self.kept is None:
                return compute(context)
            return self.kept.get(whole, compute, form, context)

        return self.shared.get(whole, find)
