"""Attribute inference attacks: one file a method; this list says which exist."""

from core.attacks.attribute.class_prior import ClassPrior
from core.attacks.attribute.feature_regression import FeatureRegression
from core.attacks.attribute.gat import Gat
from core.attacks.attribute.gcn import Gcn
from core.attacks.attribute.gps import Gps
from core.attacks.attribute.label_propagation import LabelPropagation
from core.attacks.attribute.mlp import Mlp
from core.attacks.attribute.sage import Sage

ATTRIBUTE_ATTACKS = (
    Gps,
    LabelPropagation,
    Gcn,
    Sage,
    Gat,
    Mlp,
    # null attackers
    ClassPrior,
    FeatureRegression,
)
