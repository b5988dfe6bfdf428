"""A generated social network whose private attributes leak in known proportions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from core.arrays import decode_pairs
from core.errors import InputError
from core.graph import Graph
from core.node_column import NodeColumn
from core.node_table import NodeTable
from core.seeding import Seed


@dataclass(frozen=True)
class Planted:
    """The proportions that `generate_social` plants, and what measures must recover.

    affiliation_shares   class shares of the attribute that leaks by proximity
    inside_links         share of link ends that stay inside the affiliation, at any degree
    degree_bands         (share of people, least, greatest degree) of the three bands
    band_class           class of seniority that is typical of each band
    role_purity          share of each band that has its typical class
    label_purity         share of people whose label is that of their place
    """

    affiliation_shares: tuple[float, ...] = (0.5, 0.3, 0.2)
    inside_links: float = 0.6
    degree_bands: tuple[tuple[float, int, int], ...] = (
        (1 / 3, 4, 8),
        (1 / 2, 21, 27),
        (1 / 6, 54, 66),
    )
    band_class: tuple[int, ...] = (0, 1, 0)
    role_purity: float = 0.9
    label_purity: float = 0.8


PLANTED = Planted()

AFFILIATIONS = ("blue", "green", "red")
SENIORITIES = ("junior", "senior")
HABITS = (
    "posts_per_week",
    "recipes_shared",
    "films_rated",
    "songs_played",
    "matches_watched",
    "evening_activity",
    "account_age",
    "photos",
)
LABELS = ("cooking", "film", "music", "sport")
_INFORMATIVE = 0.35  # standard deviations by which a feature shifts with its class


def generate_social(num_nodes: int = 1000, seed: int = 0) -> Graph:
    """A social network of `num_nodes` people (p0001, …); every call with a seed is the same.

    affiliation  private; leaks by proximity only. Each link end stays inside the affiliation
                 with probability `PLANTED.inside_links`, else it meets anyone; degrees don't
                 depend on it. Expected proximity GHRatio: q + (1 − q) · share of the class.
    seniority    private; leaks by structural role only. Juniors are newcomers with few contacts
                 or organisers with very many, seniors lie between, with purity
                 `PLANTED.role_purity`. Both classes have the same mean degree and meet blindly,
                 so the expected proximity GHRatio is the class share, 1/2, while the expected
                 role GHRatio is p² + (1 − p)², p the purity.
    label        the utility attribute (main interest): follows the place on which friendships
                 depend, right for `PLANTED.label_purity` of the people.

    Eight features: five shift by a third of a standard deviation with the label, one with the
    affiliation, two are noise; none depends on seniority.
    """
    if num_nodes < 200:
        raise InputError("number of people", "must be at least 200", num_nodes)
    root = Seed(seed).child("social", num_nodes)
    rng = root.rng("people")
    affiliation = _shuffled_codes(PLANTED.affiliation_shares, num_nodes, rng)
    bands = _shuffled_codes([band[0] for band in PLANTED.degree_bands], num_nodes, rng)
    degrees = np.empty(num_nodes, np.int64)
    seniority = np.empty(num_nodes, np.int64)
    for band, (_, least, greatest) in enumerate(PLANTED.degree_bands):
        members = np.flatnonzero(bands == band)
        degrees[members] = rng.integers(least, greatest + 1, len(members))
        typical = PLANTED.band_class[band]
        pure = np.arange(len(members)) < round(PLANTED.role_purity * len(members))
        seniority[members] = np.where(rng.permutation(pure), typical, 1 - typical)
    place = rng.random(num_nodes)
    label = (place * len(LABELS)).astype(np.int64)
    stray = rng.random(num_nodes) > PLANTED.label_purity
    label[stray] = rng.integers(0, len(LABELS), int(stray.sum()))
    columns = {
        "affiliation": NodeColumn("affiliation", affiliation, AFFILIATIONS),
        "seniority": NodeColumn("seniority", seniority, SENIORITIES),
        "label": NodeColumn("label", label, LABELS),
    }
    return Graph(
        edges=_link_ends(degrees, affiliation, place, root.rng("links")),
        node_ids=tuple(f"p{i:04d}" for i in range(1, num_nodes + 1)),
        columns=NodeTable(
            columns, _draw_features(label, affiliation, root.rng("features")), HABITS
        ),
        name="social",
    )


def _shuffled_codes(
    shares: Sequence[float], num_nodes: int, rng: np.random.Generator
) -> np.ndarray:
    """(n,) codes in the exact shares (up to rounding), in random order."""
    bounds = np.round(np.cumsum(shares) * num_nodes).astype(int)
    return rng.permutation(np.searchsorted(bounds, np.arange(num_nodes), side="right"))


def _link_ends(
    degrees: np.ndarray, affiliation: np.ndarray, place: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """(m, 2) sorted links. Ends within an affiliation are linked near their place, others anywhere.

    Self-loops and duplicates are redrawn, each round in a wider neighbourhood.
    """
    n = len(degrees)
    ends = np.repeat(np.arange(n), degrees)
    is_inside = rng.random(len(ends)) < PLANTED.inside_links
    codes = np.empty(0, np.int64)
    for attempt in range(12):
        noise = rng.normal(0, 0.05 * (1 + attempt), len(ends))
        inside_key = affiliation[ends] * 1e3 + np.clip(place[ends] + noise, -10, 10)
        key = np.where(is_inside, inside_key, 1e6 + rng.random(len(ends)))
        order = np.argsort(key)
        half = len(order) // 2
        first, second = order[: 2 * half : 2], order[1 : 2 * half : 2]
        a, b = ends[first], ends[second]
        low, high = np.minimum(a, b), np.maximum(a, b)
        met = low * n + high
        good = (a != b) & (is_inside[first] == is_inside[second])
        good &= (affiliation[a] == affiliation[b]) | ~is_inside[first]
        good &= ~np.isin(met, codes)
        good &= ~pd.Series(met).duplicated().to_numpy()
        codes = np.union1d(codes, met[good])
        again = np.ones(len(ends), bool)
        again[first[good]] = again[second[good]] = False
        ends, is_inside = ends[again], is_inside[again]
        if len(ends) < 2:
            break
    return decode_pairs(codes, n)


def _draw_features(
    label: np.ndarray, affiliation: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    values = rng.normal(size=(len(label), 8))
    values[:, 0] += _INFORMATIVE * (label % 2)
    for topic in range(len(LABELS)):
        values[:, 1 + topic] += _INFORMATIVE * (label == topic)
    values[:, 5] += _INFORMATIVE * (affiliation == 0)
    return values.astype(np.float32)
