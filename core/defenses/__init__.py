"""Defenses: one file a method; this list says which exist."""

from core.defenses.edge_rand import EdgeRand
from core.defenses.random_deletion import RandomDeletion
from core.defenses.random_rewiring import RandomRewiring

DEFENSES = (
    RandomDeletion,
    RandomRewiring,
    EdgeRand,
)
