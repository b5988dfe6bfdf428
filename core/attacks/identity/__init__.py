"""Re-identification attacks: one file a method; this list says which exist."""

from core.attacks.identity.colour_refinement import ColourRefinement
from core.attacks.identity.column_values import ColumnValues
from core.attacks.identity.degree import Degree
from core.attacks.identity.degree_match import DegreeMatch
from core.attacks.identity.degree_triangles import DegreeTriangles
from core.attacks.identity.ego import Ego
from core.attacks.identity.faq_matcher import FaqMatcher
from core.attacks.identity.narayanan_shmatikov import NarayananShmatikov
from core.attacks.identity.neighbor_degrees import NeighborDegrees
from core.attacks.identity.random_match import RandomMatch
from core.attacks.identity.seeded_percolation import SeededPercolation
from core.attacks.identity.structural_alignment import StructuralAlignment
from core.attacks.identity.supervised_matcher import SupervisedMatcher
from core.attacks.identity.transport_matcher import TransportMatcher
from core.attacks.identity.value_join import ValueJoin

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
    FaqMatcher,
    SupervisedMatcher,
    TransportMatcher,
    ValueJoin,
    # baseline attackers
    RandomMatch,
    DegreeMatch,
)
