"""What cells took where they were first measured: the estimate where nothing ran yet.

Seconds of a worker for Cora, rounded, most of them while two workers shared a machine that nobody
else used (2026-11-22), GPS sampling's from NBA. They only have to be right to a factor of two, and
a machine that has run audits goes by those. What is not here goes by its class of cost: a new
method need not be added.
"""

from __future__ import annotations

TYPICAL_S = {
    ("attack", "ai_deepwalk"): 2.5,
    ("attack", "ai_node2vec"): 3.5,
    ("attack", "attri_infer"): 0.6,
    ("attack", "best_single"): 6.0,
    ("attack", "block_model"): 2.8,
    ("attack", "ensemble"): 1.0,
    ("attack", "feature_boosting"): 1.4,
    ("attack", "feature_neighbourhood"): 1.0,
    ("attack", "feature_regression"): 0.8,
    ("attack", "gae_cosine"): 2.5,
    ("attack", "gae_svc"): 0.2,
    ("attack", "gat"): 7.0,
    ("attack", "gcn"): 4.0,
    ("attack", "gps"): 3.0,
    ("attack", "h2gcn"): 12.0,
    ("attack", "katz"): 0.25,
    ("attack", "mixhop"): 14.0,
    ("attack", "mlp"): 1.5,
    ("attack", "ncn"): 9.0,
    ("attack", "neighbourhood_classifier"): 4.5,
    ("attack", "node2vec_cosine"): 2.0,
    ("attack", "node2vec_svc"): 0.1,
    ("attack", "pair_classifier"): 4.0,
    ("attack", "personalized_pagerank"): 0.9,
    ("attack", "sage"): 12.0,
    ("attack", "seal"): 19.0,
    ("publish", "blink"): 1.3,
    ("publish", "gps_sampling"): 25.0,
    ("publish", "k_degree_anonymity"): 0.3,
    ("publish", "ppgsl"): 8.0,
    ("measure", "homophily"): 0.05,
    ("measure", "structure"): 0.3,
    ("measure", "pairs"): 0.1,
    ("measure", "utility"): 3.0,
}
"""(kind, key) → seconds on a graph of `REFERENCE_SIZE`; what several share counts once."""
