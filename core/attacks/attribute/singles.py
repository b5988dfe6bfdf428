"""The attacks that stand alone: what `best_single` and `ensemble` may be made of."""

from core.attacks.attribute.adjacency_regression import AdjacencyRegression
from core.attacks.attribute.ai_deepwalk import AiDeepwalk
from core.attacks.attribute.ai_node2vec import AiNode2vec
from core.attacks.attribute.attri_infer import AttriInfer
from core.attacks.attribute.block_model import BlockModelAttack
from core.attacks.attribute.class_prior import ClassPrior
from core.attacks.attribute.com_infer import ComInfer
from core.attacks.attribute.denoised_blocks import DenoisedBlocks
from core.attacks.attribute.feature_boosting import FeatureBoosting
from core.attacks.attribute.feature_regression import FeatureRegression
from core.attacks.attribute.gat import Gat
from core.attacks.attribute.gcn import Gcn
from core.attacks.attribute.gps import Gps
from core.attacks.attribute.h2gcn import H2Gcn
from core.attacks.attribute.label_propagation import LabelPropagation
from core.attacks.attribute.mixhop import MixHop
from core.attacks.attribute.mlp import Mlp
from core.attacks.attribute.sage import Sage
from core.attacks.attribute.value_lookup import ValueLookup

SINGLE_ATTACKS = (
    Gps,
    LabelPropagation,
    AdjacencyRegression,
    DenoisedBlocks,
    AttriInfer,
    BlockModelAttack,
    ComInfer,
    Gcn,
    Sage,
    Gat,
    MixHop,
    H2Gcn,
    Mlp,
    AiNode2vec,
    AiDeepwalk,
)

BASELINE_ATTACKS = (ClassPrior, FeatureRegression, FeatureBoosting, ValueLookup)
