"""Attribute inference attacks: one file a method; the lists say which exist."""

from core.attacks.attribute.best_single import BestSingle
from core.attacks.attribute.ensemble import Ensemble
from core.attacks.attribute.neighbourhood_classifier import NeighbourhoodClassifier
from core.attacks.attribute.singles import BASELINE_ATTACKS, SINGLE_ATTACKS

ATTRIBUTE_ATTACKS = (
    *SINGLE_ATTACKS,
    NeighbourhoodClassifier,
    BestSingle,
    Ensemble,
    *BASELINE_ATTACKS,
)
