"""Random generators: always explicit, one independent stream per named purpose.

A stream is the SHA-256 of its path of names below a root seed, so that adding a method or
a repeat never shifts the numbers that another one draws.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class Seed:
    """A root seed and a path of names; `child` goes one step down, `rng` and `torch` draw."""

    root: int
    path: tuple[str, ...] = ()

    @staticmethod
    def from_entropy() -> Seed:
        """A root from the operating system, for publishing runs; it must not be recorded."""
        return Seed(secrets.randbits(128))

    def child(self, *names: object) -> Seed:
        """The seed of a part of the work, named by any values."""
        return Seed(self.root, self.path + tuple(str(name) for name in names))

    def to_int(self) -> int:
        """A 64-bit integer that depends on the root and the whole path."""
        text = "\x1f".join((str(self.root), *self.path))
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")

    def rng(self, *names: object) -> np.random.Generator:
        """A NumPy generator of this purpose."""
        return np.random.default_rng(self.child(*names).to_int())

    def torch(self, *names: object, device: str = "cpu") -> torch.Generator:
        """A torch generator of this purpose on `device`."""
        import torch

        generator = torch.Generator(device=device)
        generator.manual_seed(self.child(*names).to_int() >> 1)
        return generator
