"""Random numbers of publishing runs: ChaCha20 (RFC 8439) as a source for NumPy's generators.

NumPy's own generators are fast and repeatable, but who sees enough of their output can compute
the rest. This one cannot be told from chance without its 256-bit key, and the same key gives the
same stream, as methods read some noise twice.
"""

from __future__ import annotations

import ctypes
import threading
from functools import lru_cache
from typing import Any

import numpy as np

_WORDS = 36
"""State: 16 words that are enciphered, 16 of the last block, how many of those are used."""

_CONSTANTS = np.frombuffer(b"expand 32-byte k", "<u4")


class _Source(ctypes.Structure):
    """NumPy's `bitgen_t`: a state and four functions of it."""

    _fields_ = [
        ("state", ctypes.c_void_p),
        ("next_uint64", ctypes.c_void_p),
        ("next_uint32", ctypes.c_void_p),
        ("next_double", ctypes.c_void_p),
        ("next_raw", ctypes.c_void_p),
    ]


class StreamCipher:
    """A bit generator for `np.random.Generator`; one stream per key of 32 bytes."""

    def __init__(self, key: bytes, nonce: bytes = bytes(12), counter: int = 0) -> None:
        self._state = np.zeros(_WORDS, np.uint32)
        self._state[:4] = _CONSTANTS
        self._state[4:12] = np.frombuffer(key, "<u4")
        self._state[12] = counter
        self._state[13:16] = np.frombuffer(nonce, "<u4")
        self._state[32] = 16
        wide, narrow, double = _compile()
        self._source = _Source(
            self._state.ctypes.data, wide.address, narrow.address, double.address, wide.address
        )
        make = ctypes.pythonapi.PyCapsule_New
        make.restype = ctypes.py_object
        make.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        self.capsule = make(ctypes.addressof(self._source), b"BitGenerator", None)
        self.lock = threading.Lock()


@lru_cache(maxsize=1)
def _compile() -> tuple[Any, Any, Any]:
    """The functions that NumPy calls, as machine code."""
    import numba
    from numba import cfunc, njit

    @njit(inline="always")
    def turn(x: Any, a: int, b: int, c: int, d: int) -> None:
        for shift_d, shift_b in ((16, 12), (8, 7)):
            x[a] = np.uint32(x[a] + x[b])
            x[d] ^= x[a]
            x[d] = np.uint32((x[d] << np.uint32(shift_d)) | (x[d] >> np.uint32(32 - shift_d)))
            x[c] = np.uint32(x[c] + x[d])
            x[b] ^= x[c]
            x[b] = np.uint32((x[b] << np.uint32(shift_b)) | (x[b] >> np.uint32(32 - shift_b)))

    @njit
    def draw(s: Any) -> Any:
        if s[32] == 16:
            x = s[16:32]
            x[:] = s[:16]
            for _ in range(10):
                for i in range(4):
                    turn(x, i, 4 + i, 8 + i, 12 + i)
                for i in range(4):
                    turn(x, i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4)
            for i in range(16):
                x[i] = np.uint32(x[i] + s[i])
            # A 64-bit counter: the stream does not come round after 256 GiB.
            s[12] = np.uint32(s[12] + np.uint32(1))
            if s[12] == 0:
                s[13] = np.uint32(s[13] + np.uint32(1))
            s[32] = 0
        word = s[16 + s[32]]
        s[32] += 1
        return word

    @njit
    def draw_wide(s: Any) -> Any:
        low = np.uint64(draw(s))
        return low | (np.uint64(draw(s)) << np.uint64(32))

    pointer, view = numba.types.voidptr, numba.carray  # type: ignore[attr-defined]

    @cfunc(numba.uint64(pointer))
    def next_wide(address: Any) -> Any:
        return draw_wide(view(address, (_WORDS,), np.uint32))

    @cfunc(numba.uint32(pointer))
    def next_narrow(address: Any) -> Any:
        return draw(view(address, (_WORDS,), np.uint32))

    @cfunc(numba.float64(pointer))
    def next_double(address: Any) -> Any:
        wide = draw_wide(view(address, (_WORDS,), np.uint32))
        return (wide >> np.uint64(11)) * (1.0 / 9007199254740992.0)

    return next_wide, next_narrow, next_double
