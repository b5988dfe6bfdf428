"""Degree and triangles: the attacker knows a node's degree and the links among its neighbours."""

from __future__ import annotations

from typing import ClassVar

from core.algorithms.fingerprints import Depth
from core.attacks.identity.fingerprint import CountedAttack
from core.methods import MethodInfo


class DegreeTriangles(CountedAttack):
    """Anonymity sets by degree and number of links among the neighbours."""

    depth: ClassVar[Depth] = "degree_triangles"
    info: ClassVar[MethodInfo] = MethodInfo(
        key="degree_triangles",
        title="Links and triangles",
        summary="Knows how many links each person has, and how many lie among the neighbours.",
        source="de Jong, van der Loo and Takes, Algorithms for efficiently computing structural "
        "anonymity, JEA 2023, measure Count",
        group="what is known of a person",
    )
