"""Defenses: one file a method; this list says which exist."""

from core.defenses.random_deletion import RandomDeletion

DEFENSES = (
    RandomDeletion,
)
