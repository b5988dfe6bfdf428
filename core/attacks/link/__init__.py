"""Link inference attacks: one file a method; this list says which exist."""

from core.attacks.link.adamic_adar import AdamicAdar
from core.attacks.link.common_neighbors import CommonNeighbors
from core.attacks.link.degree_product import DegreeProduct
from core.attacks.link.feature_cosine import FeatureCosine
from core.attacks.link.gae_cosine import GaeCosine
from core.attacks.link.jaccard import Jaccard
from core.attacks.link.preferential_attachment import PreferentialAttachment
from core.attacks.link.resource_allocation import ResourceAllocation

LINK_ATTACKS = (
    CommonNeighbors,
    AdamicAdar,
    ResourceAllocation,
    Jaccard,
    PreferentialAttachment,
    GaeCosine,
    # null attackers
    DegreeProduct,
    FeatureCosine,
)
