"""Generators of publishing runs: ChaCha20's published vectors, keys by purpose, copies."""

from __future__ import annotations

import hashlib
import json
import pickle
from copy import deepcopy

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms
from randomgen import ChaCha
from scipy import stats

from core.context import Context
from core.seeding import Seed


def draw_bytes(cipher, count):
    return np.random.Generator(cipher).integers(0, 2**32, count // 4, np.uint32).tobytes()


def make_cipher(key, nonce=bytes(12), counter=0):
    """The package numbers the 32-bit words of the stream, 16 a block."""
    block = counter | int.from_bytes(nonce, "little") << 32
    return ChaCha(key=int.from_bytes(key, "little"), counter=16 * block)


def test_the_key_stream_is_that_of_rfc_8439():
    """§2.3.2: key 00…1f, nonce 00000009 0000004a 00000000, block 1; A.1: all zero."""
    nonce = bytes.fromhex("000000090000004a00000000")
    block = draw_bytes(make_cipher(bytes(range(32)), nonce, 1), 64).hex()
    assert block.startswith("10f1e7e4d13b5915500fdd1fa32071c4c7d1f4c733c068030422aa9ac3d46c4e")
    zero = draw_bytes(make_cipher(bytes(32)), 128).hex()
    assert zero.startswith("76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7")
    assert zero[128:192] == "9f07e7be5551387a98ba977c732d080dcb0f29a048e3656912c6533e32ee7aed"


@pytest.mark.parametrize("root", [0, 12345, 2**256 - 1])
def test_a_secret_seed_draws_the_key_stream_of_its_purpose(root):
    """Against another implementation of the cipher, with the key derived by hand."""
    rng = Seed(root, is_secret=True).child("cell").rng("tile", 3)
    path = json.dumps(["cell", "tile", "3"]).encode()
    key = hashlib.blake2b(path, digest_size=32, key=root.to_bytes(32, "little")).digest()
    stream = Cipher(algorithms.ChaCha20(key, bytes(16)), mode=None).encryptor()
    expected = stream.update(bytes(4000))
    assert rng.integers(0, 2**32, 1000, np.uint32).tobytes() == expected


def test_names_that_join_to_the_same_text_have_keys_of_their_own():
    seed = Seed(7, is_secret=True)
    first, second = seed.rng("a\x1fb", "c"), seed.rng("a", "b\x1fc")
    assert (first.random(20) != second.random(20)).all()


def test_doubles_and_normals_have_their_law():
    rng = Seed(11, is_secret=True).rng()
    assert stats.kstest(rng.random(20_000), "uniform").pvalue > 1e-4
    assert stats.kstest(rng.standard_normal(20_000), "norm").pvalue > 1e-4
    counts = np.bincount(rng.integers(0, 10, 20_000), minlength=10)
    assert stats.chisquare(counts).pvalue > 1e-4


def test_a_copy_goes_on_where_the_generator_was_and_spawned_ones_differ():
    rng = Seed.from_entropy().rng("x")
    rng.random(7)
    np.testing.assert_array_equal(deepcopy(rng).random(50), rng.random(50))
    copied = pickle.loads(pickle.dumps(rng))  # noqa: S301
    np.testing.assert_array_equal(copied.random(50), rng.random(50))
    one, other = rng.spawn(2)
    assert isinstance(one.bit_generator, ChaCha)
    assert (one.random(50) != other.random(50)).all()


def test_streams_of_a_secret_seed_are_ciphers_that_repeat_by_name_only():
    secret = Seed.from_entropy()
    context = Context(secret, is_publishing=True)
    first, again = (context.rng("tile", 3).random(50) for _ in range(2))
    np.testing.assert_array_equal(first, again)
    assert (first != context.rng("tile", 4).random(50)).all()
    assert (first != Context(Seed.from_entropy()).rng("tile", 3).random(50)).all()
    for generator in (secret.rng("x"), secret.child("y").rng("x"), context.child("z").rng()):
        assert isinstance(generator.bit_generator, ChaCha)
    assert not isinstance(Seed(7).rng("x").bit_generator, ChaCha)
    assert secret.root.bit_length() > 200
