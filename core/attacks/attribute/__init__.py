"""Attribute inference attacks: one file a method; this list says which exist."""

from core.attacks.attribute.class_prior import ClassPrior

ATTRIBUTE_ATTACKS = (
    # null attackers
    ClassPrior,
)
