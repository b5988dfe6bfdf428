"""Streams: each purpose has its own, and it is the same everywhere."""

from __future__ import annotations

import hashlib

import numpy as np

from core.seeding import Seed


def test_a_stream_is_the_hash_of_its_path():
    digest = hashlib.sha256(b"7\x1fcell\x1f3").digest()
    assert Seed(7).child("cell", 3).to_int() == int.from_bytes(digest[:8], "big")


def test_equal_paths_draw_equal_numbers_whatever_was_drawn_before():
    seed = Seed(1).child("attack")
    first = seed.rng("split").random(3)
    seed.rng("noise").random(100)
    assert seed.rng("split").random(3).tolist() == first.tolist()
    assert Seed(1, ("attack", "split")).rng().random(3).tolist() == first.tolist()


def test_other_roots_names_and_depths_draw_other_numbers():
    seeds = [Seed(0), Seed(1), Seed(0).child("a"), Seed(0).child("b"), Seed(0).child("a", "b")]
    seeds += [Seed(0).child("ab"), Seed(0).child("a").child("a"), Seed(0).child("b", "a")]
    assert len({seed.to_int() for seed in seeds}) == len(seeds)


def test_streams_of_neighbouring_repeats_are_not_correlated():
    draws = np.stack([Seed(0).child(repeat).rng().standard_normal(4000) for repeat in range(8)])
    correlations = np.corrcoef(draws)[np.triu_indices(8, 1)]
    assert np.abs(correlations).max() < 5 / np.sqrt(4000)


def test_torch_generators_follow_the_same_path():
    import torch

    draws = [torch.rand(3, generator=Seed(2).torch(name)).tolist() for name in ("a", "a", "b")]
    assert draws[0] == draws[1] != draws[2]


def test_a_publishing_seed_is_never_the_same():
    assert len({Seed.from_entropy().root for _ in range(20)}) == 20
