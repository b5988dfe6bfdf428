"""The attacks that stand alone: what `best_single` and `ensemble` may be made of."""

from core.attacks.attribute.ai_deepwalk import AiDeepwalk, AiNode2vec
from core.attacks.attribute.attri_infer import AttriInfer
from core.attacks.attribute.block_model import BlockModelAttack
from core.attacks.attribute.feature_boosting import ClassPrior, FeatureBoosting, FeatureRegression
from core.attacks.attribute.gps import Gps
from core.attacks.attribute.label_propagation import ComInfer, LabelPropagation
from core.attacks.attribute.neural import Gat, Gcn, H2Gcn, MixHop, Mlp, Sage

SINGLE_ATTACKS = (
    Gps,
    LabelPropagation,
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

BASELINE_ATTACKS = (
    ClassPrior,
    FeatureRegression,
    FeatureBoosting,
)
