"""Attribute inference attacks: one file a method; the lists say which exist."""

from core.attacks.attribute.committee import BestSingle, Ensemble
from core.attacks.attribute.neighbourhood_classifier import NeighbourhoodClassifier
from core.attacks.attribute.singles import BASELINE_ATTACKS, SINGLE_ATTACKS

ATTRIBUTE_ATTACKS = (
    *SINGLE_ATTACKS,
    NeighbourhoodClassifier,
    BestSingle,
    Ensemble,
    *BASELINE_ATTACKS,
)
