"""Random generators: always explicit, one independent stream per named purpose.

A stream is the SHA-256 of its path of names below a root seed, so that adding a method or
a repeat never shifts the numbers that another one draws.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from core.stream_cipher import StreamCipher

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class Seed:
    """A root seed and a path of names; `child` goes one step down, `rng` and `torch` draw.

    is_secret  a publishing run's: 256 bits of the operating system, drawn from by a cipher
    """

    root: int
    path: tuple[str, ...] = ()
    is_secret: bool = False

    @staticmethod
    def from_entropy() -> Seed:
        """A root from the operating system, for publishing runs; it must not be recorded."""
        return Seed(secrets.randbits(256), is_secret=True)

    def child(self, *names: object) -> Seed:
        """The seed of a part of the work, named by any values."""
        return replace(self, path=self.path + tuple(str(name) for name in names))

    def to_int(self) -> int:
        """A 64-bit integer that depends on the root and the whole path."""
        return int.from_bytes(self._digest()[:8], "big")

    def rng(self, *names: object) -> np.random.Generator:
        """A NumPy generator of this purpose."""
        if not self.is_secret:
            return np.random.default_rng(self.child(*names).to_int())
        # Publishing runs: who sees a release must not be able to compute the rest of its stream.
        cipher: Any = StreamCipher(self.child(*names)._digest())
        return np.random.Generator(cipher)

    def torch(self, *names: object, device: str = "cpu") -> torch.Generator:
        """A torch generator of this purpose on `device`.

        On a CPU it keeps 32 bits of its seed: noise that protects anybody comes from `rng`.
        """
        import torch

        generator = torch.Generator(device=device)
        generator.manual_seed(self.child(*names).to_int() >> 1)
        return generator

    def _digest(self) -> bytes:
        text = "\x1f".join((str(self.root), *self.path))
        return hashlib.sha256(text.encode()).digest()
