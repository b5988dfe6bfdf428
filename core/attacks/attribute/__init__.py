"""Attribute inference attacks: one file a method; this list says which exist."""

from core.attacks.attribute.class_prior import ClassPrior
from core.attacks.attribute.feature_regression import FeatureRegression
from core.attacks.attribute.label_propagation import LabelPropagation

ATTRIBUTE_ATTACKS = (
    LabelPropagation,
    # null attackers
    ClassPrior,
    FeatureRegression,
)
