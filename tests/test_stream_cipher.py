"""ChaCha20 as NumPy draws from it: the RFC's vectors, uniform numbers, streams of secret seeds."""

from __future__ import annotations

import numpy as np
from scipy import stats

from core.context import Context
from core.seeding import Seed
from core.stream_cipher import StreamCipher


def draw_bytes(cipher, count):
    return np.random.Generator(cipher).integers(0, 2**32, count // 4, np.uint32).tobytes()


def test_the_key_stream_is_that_of_rfc_8439():
    """§2.3.2: key 00…1f, nonce 00000009 0000004a 00000000, block 1; A.1: all zero."""
    nonce = bytes.fromhex("000000090000004a00000000")
    block = draw_bytes(StreamCipher(bytes(range(32)), nonce, 1), 64).hex()
    assert block.startswith("10f1e7e4d13b5915500fdd1fa32071c4c7d1f4c733c068030422aa9ac3d46c4e")
    zero = draw_bytes(StreamCipher(bytes(32)), 128).hex()
    assert zero.startswith("76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7")
    assert zero[128:192] == "9f07e7be5551387a98ba977c732d080dcb0f29a048e3656912c6533e32ee7aed"


def test_doubles_and_normals_have_their_law():
    rng = np.random.Generator(StreamCipher(bytes(range(32))))
    assert stats.kstest(rng.random(20_000), "uniform").pvalue > 1e-4
    assert stats.kstest(rng.standard_normal(20_000), "norm").pvalue > 1e-4
    counts = np.bincount(rng.integers(0, 10, 20_000), minlength=10)
    assert stats.chisquare(counts).pvalue > 1e-4


def test_streams_of_a_secret_seed_are_ciphers_that_repeat_by_name_only():
    secret = Seed.from_entropy()
    context = Context(secret, is_publishing=True)
    first, again = (context.rng("tile", 3).random(50) for _ in range(2))
    np.testing.assert_array_equal(first, again)
    assert (first != context.rng("tile", 4).random(50)).all()
    assert (first != Context(Seed.from_entropy()).rng("tile", 3).random(50)).all()
    for generator in (secret.rng("x"), secret.child("y").rng("x"), context.child("z").rng()):
        assert isinstance(generator.bit_generator, StreamCipher)
    assert not isinstance(Seed(7).rng("x").bit_generator, StreamCipher)
    assert secret.root.bit_length() > 200
