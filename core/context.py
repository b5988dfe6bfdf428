"""What a method may use besides its inputs: device, seed, progress, memory, shared work."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from core.device import Device, cpu_device
from core.progress import Progress
from core.seeding import Seed

T = TypeVar("T")


class SharedWork:
    """Remembers what several attacks of one release need: an embedding, a path count.

    The key must name everything that determines the value. `Context.share` seeds the work by
    its key, never by the cell that happens to ask first. Keeps the `limit` latest values.
    """

    def __init__(self, limit: int = 8) -> None:
        self._values: dict[tuple[object, ...], Any] = {}
        self._limit = limit

    def get(self, key: tuple[object, ...], compute: Callable[[], T]) -> T:
        """The value under `key`, computed where it is not remembered."""
        if key not in self._values:
            value = compute()
            while len(self._values) >= self._limit:
                self._values.pop(next(iter(self._values)))
            self._values[key] = value
        value = self._values[key]
        return value

    def clear(self) -> None:
        """Forget everything."""
        self._values.clear()


@dataclass(frozen=True, eq=False)
class Peer:
    """Another attack's cell of the same release, repeat and knowledge.

    seed    the stream that it runs with
    arrays  what it left: `scores` and perhaps `held_out`; None where it is not computed
    """

    seed: Seed
    arrays: Mapping[str, np.ndarray] | None = None


@dataclass(frozen=True)
class Context:
    """seed: one stream per cell; draw with `context.seed.rng("purpose")`.

    shared_seed   the stream of work that several cells share (one per release and repeat)
    memory_budget bytes that tiles and batches may take at once
    is_publishing a publishing run: entropy from the operating system, nothing recorded
    peers         by key: the attacks that this one is made of, as they run alone
    """

    seed: Seed
    shared_seed: Seed | None = None
    device: Device = field(default_factory=cpu_device)
    progress: Progress = field(default_factory=Progress)
    memory_budget: int = 1 << 30
    shared: SharedWork = field(default_factory=SharedWork)
    is_publishing: bool = False
    peers: Mapping[str, Peer] = field(default_factory=dict)

    def rng(self, *names: object) -> np.random.Generator:
        """A NumPy generator of this purpose."""
        return self.seed.rng(*names)

    def child(self, *names: object) -> Context:
        """The same context with the seed of a part of the work."""
        return replace(self, seed=self.seed.child(*names))

    def share(self, key: tuple[object, ...], compute: Callable[[Context], T]) -> T:
        """The value of `compute` under `key`, computed once per worker and release.

        `key` names the work, the release's content hash and all settings. `compute` gets a
        context whose seed depends on `key` only, so that any cell computes the same value.
        """
        root = self.shared_seed or replace(self.seed, path=())
        context = replace(self, seed=root.child(*key))
        return self.shared.get(
            (root.root, root.path, self.device.torch_name, *key), lambda: compute(context)
        )
