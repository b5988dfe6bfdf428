"""Random generators: always explicit, one independent stream per named purpose.

A stream is the SHA-256 of its path of names below a root seed, so that adding a method or a repeat
never changes the numbers that another one draws.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class Seed:
    """A root seed and a path of names; `child` goes one step down, `rng` and `torch` draw.

    is_secret  a publishing run's: 256 bits from the operating system, expanded by ChaCha20

    >>> from core.seeding import Seed
    >>> first, again = (Seed(7).child("repeat", 1).rng("noise").random() for _ in range(2))
    >>> first == again, first == Seed(7).child("repeat", 2).rng("noise").random()
    (True, False)
    """

    root: int
    path: tuple[str, ...] = ()
    is_secret: bool = False

    @staticmethod
    def from_entropy() -> Seed:
        """A root from the operating system, for publishing runs; it must not be recorded."""
        return Seed(secrets.randbits(256), is_secret=True)

    def child(self, *names: object) -> Seed:
        """The seed of a sub-task, named by any values."""
        return replace(self, path=self.path + tuple(str(name) for name in names))

    def to_int(self) -> int:
        """A 64-bit integer that depends on the root and the whole path."""
        return int.from_bytes(self._digest()[:8], "big")

    def rng(self, *names: object) -> np.random.Generator:
        """A NumPy generator for this purpose.

        With a secret seed it is the ChaCha20 key stream (RFC 8439) of a key for this purpose:
        observing part of a release's noise does not reveal the rest.
        """
        seed = self.child(*names)
        if not self.is_secret:
            return np.random.default_rng(seed.to_int())
        from randomgen import ChaCha

        return np.random.Generator(ChaCha(key=int.from_bytes(seed._derive_key(), "little")))

    def torch(self, *names: object, device: str = "cpu") -> torch.Generator:
        """A torch generator for this purpose on `device`.

        On a CPU it keeps 32 bits of its seed: protective noise comes from `rng`.
        """
        import torch

        generator = torch.Generator(device=device)
        generator.manual_seed(self.child(*names).to_int() >> 1)
        return generator

    def _digest(self) -> bytes:
        text = "\x1f".join((str(self.root), *self.path))
        return hashlib.sha256(text.encode()).digest()

    def _derive_key(self) -> bytes:
        """256 bits: keyed BLAKE2 (RFC 7693) of the path under the secret root."""
        path = json.dumps(self.path).encode()
        root = self.root.to_bytes(32, "little")
        return hashlib.blake2b(path, digest_size=32, key=root).digest()


def mix_bits(values: np.ndarray) -> np.ndarray:
    """(k,) uint64, SplitMix64's finaliser (Steele, Lea and Flood, OOPSLA 2014): a hash of each
    integer."""
    z = np.asarray(values).astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
