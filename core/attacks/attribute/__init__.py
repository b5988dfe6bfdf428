"""Lists of the attribute inference attacks, one file each."""

from core.attacks.attribute.averaged_regression import AveragedRegression
from core.attacks.attribute.best_single import BestSingle
from core.attacks.attribute.ensemble import Ensemble
from core.attacks.attribute.neighbourhood_classifier import NeighbourhoodClassifier
from core.attacks.attribute.singles import BASELINE_ATTACKS, SINGLE_ATTACKS

ATTRIBUTE_ATTACKS = (
    *SINGLE_ATTACKS,
    AveragedRegression,
    NeighbourhoodClassifier,
    BestSingle,
    Ensemble,
    *BASELINE_ATTACKS,
)
