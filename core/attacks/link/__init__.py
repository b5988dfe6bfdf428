"""Link inference attacks: one file a method; this list says which exist."""

from core.attacks.link.denoising import Denoising
from core.attacks.link.feature_neighbourhood import FeatureNeighbourhood
from core.attacks.link.heuristics import (
    AdamicAdar,
    CommonNeighbors,
    DegreeProduct,
    Jaccard,
    PreferentialAttachment,
    ResourceAllocation,
)
from core.attacks.link.katz import Katz
from core.attacks.link.mechanism_posterior import MechanismPosterior
from core.attacks.link.ncn import Ncn
from core.attacks.link.pair_classifier import PairClassifier
from core.attacks.link.personalized_pagerank import PersonalizedPagerank
from core.attacks.link.plausibility import Plausibility
from core.attacks.link.seal import Seal
from core.attacks.link.similarity import (
    FeatureCosine,
    GaeCosine,
    GaeSvc,
    Node2vecCosine,
    Node2vecSvc,
)

LINK_ATTACKS = (
    CommonNeighbors,
    AdamicAdar,
    ResourceAllocation,
    Jaccard,
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
)
