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
from core.attacks.link.pair_classifier import PairClassifier
from core.attacks.link.pair_networks import Ncn, Seal
from core.attacks.link.released_links import MechanismPosterior, Plausibility
from core.attacks.link.similarity import (
    FeatureCosine,
    GaeCosine,
    GaeSvc,
    Node2vecCosine,
    Node2vecSvc,
)
from core.attacks.link.walk_scores import Katz, PersonalizedPagerank

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
