"""What the attacks on random-walk embeddings share."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from core.context import Context
from core.methods import AttributeAttack
from core.models.tuning import fit_logistic
from core.release import Release
from core.results import ClassProbabilities
from core.threats import AttributeThreat


class EmbeddingAttack(AttributeAttack):
    """Logistic regression on node2vec vectors, its penalty chosen on the known nodes."""

    holds_out = True
    dimensions: int = Field(64, ge=1, le=1024, description="Length of a node's vector.")
    walk_length: int = Field(40, ge=2, le=1000, description="Steps of a random walk.")
    walks_per_node: int = Field(10, ge=1, le=1000, description="Walks from each node.")

    def infer_from_walks(
        self, release: Release, threat: AttributeThreat, context: Context, p: float, q: float
    ) -> ClassProbabilities:
        """Class probabilities by logistic regression on node2vec vectors of walks with p and q."""
        from core.models.node2vec import share_node2vec

        vectors = share_node2vec(
            release.graph,
            context,
            dimensions=self.dimensions,
            p=p,
            q=q,
            walk_length=self.walk_length,
            walks_per_node=self.walks_per_node,
        )
        scale = float(vectors.std())
        scaled = np.asarray(vectors, np.float64) / (scale if scale > 0 else 1.0)
        probabilities, penalty, held_out = fit_logistic(
            scaled, threat.observed, threat.num_classes, context
        )
        return ClassProbabilities(probabilities, {"inverse_penalty": penalty}, held_out)
