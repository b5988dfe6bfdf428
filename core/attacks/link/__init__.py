"""List of the link inference attacks, one file each."""

from core.attacks.link.adamic_adar import AdamicAdar
from core.attacks.link.common_neighbors import CommonNeighbors
from core.attacks.link.degree_product import DegreeProduct
from core.attacks.link.denoising import Denoising
from core.attacks.link.equal_values import EqualValues
from core.attacks.link.feature_cosine import FeatureCosine
from core.attacks.link.feature_neighbourhood import FeatureNeighbourhood
from core.attacks.link.gae_cosine import GaeCosine
from core.attacks.link.gae_svc import GaeSvc
from core.attacks.link.jaccard import Jaccard
from core.attacks.link.katz import Katz
from core.attacks.link.l3_index import L3Index
from core.attacks.link.mechanism_posterior import MechanismPosterior
from core.attacks.link.ncn import Ncn
from core.attacks.link.node2vec_cosine import Node2vecCosine
from core.attacks.link.node2vec_svc import Node2vecSvc
from core.attacks.link.pair_classifier import PairClassifier
from core.attacks.link.personalized_pagerank import PersonalizedPagerank
from core.attacks.link.plausibility import Plausibility
from core.attacks.link.preferential_attachment import PreferentialAttachment
from core.attacks.link.resource_allocation import ResourceAllocation
from core.attacks.link.seal import Seal

LINK_ATTACKS = (
    CommonNeighbors,
    AdamicAdar,
    ResourceAllocation,
    Jaccard,
    L3Index,
    PreferentialAttachment,
    Katz,
    FeatureNeighbourhood,
    PairClassifier,
    Denoising,
    Ncn,
    PersonalizedPagerank,
    Seal,
    Node2vecCosine,
    Node2vecSvc,
    GaeCosine,
    GaeSvc,
    # released links
    MechanismPosterior,
    Plausibility,
    # baseline attackers
    DegreeProduct,
    FeatureCosine,
    EqualValues,
)
