"""Link inference attacks: one file a method; this list says which exist."""

from core.attacks.link.common_neighbors import CommonNeighbors
from core.attacks.link.degree_product import DegreeProduct

LINK_ATTACKS = (
    CommonNeighbors,
    # null attackers
    DegreeProduct,
)
