"""Re-identification attacks: one file a method; this list says which exist."""

from core.attacks.identity.column_values import ColumnValues
from core.attacks.identity.degree_match import DegreeMatch, RandomMatch
from core.attacks.identity.fingerprint import (
    ColourRefinement,
    Degree,
    DegreeTriangles,
    Ego,
    NeighborDegrees,
)
from core.attacks.identity.percolation import (
    NarayananShmatikov,
    SeededPercolation,
    StructuralAlignment,
)
from core.attacks.identity.supervised_matcher import SupervisedMatcher

IDENTITY_ATTACKS = (
    Degree,
    DegreeTriangles,
    NeighborDegrees,
    Ego,
    ColourRefinement,
    ColumnValues,
    SeededPercolation,
    NarayananShmatikov,
    StructuralAlignment,
    SupervisedMatcher,
    # baseline attackers
    RandomMatch,
    DegreeMatch,
)
