"""node2vec + cosine: nodes that random walks visit together are likely linked."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import Field

from core.attacks.link.similarity import compute_cosines
from core.context import Context
from core.methods import LinkAttack, MethodInfo
from core.release import Release
from core.results import PairScores
from core.threats import LinkThreat


class Node2vecAttack(LinkAttack):
    """Settings of the attacks on node2vec embeddings; equal settings share one embedding."""

    dimensions: int = Field(64, ge=2, le=1024, description="Length of a node's vector.")
    walk_length: int = Field(40, ge=2, le=1000, description="Nodes in a walk.")
    walks_per_node: int = Field(10, ge=1, le=1000, description="Walks that start at each node.")
    window: int = Field(5, ge=1, le=100, description="Steps between nodes that count as close.")
    p: float = Field(1.0, ge=0.05, le=20, description="Return parameter: low values turn back.")
    q: float = Field(1.0, ge=0.05, le=20, description="In-out parameter: low values wander off.")

    def embed(self, release: Release, context: Context) -> np.ndarray:
        """(n, dimensions) node2vec vectors, shared by all attacks that need them."""
        from core.models.node2vec import share_node2vec

        return share_node2vec(
            release.graph,
            context,
            **self.model_dump(
                include={"dimensions", "walk_length", "walks_per_node", "window", "p", "q"}
            ),
        )


class Node2vecCosine(Node2vecAttack):
    """Score cos(z_i, z_j) of node2vec embeddings of the release."""

    info: ClassVar[MethodInfo] = MethodInfo(
        key="node2vec_cosine",
        title="node2vec + cosine",
        summary="Embeds the nodes by random walks and compares two nodes' embeddings.",
        source="Grover and Leskovec, node2vec, KDD 2016; PPGSL §V-A2",
        group="embeddings",
        cost="minutes",
    )

    def score(self, release: Release, threat: LinkThreat, context: Context) -> PairScores:
        return PairScores(compute_cosines(self.embed(release, context), threat.pairs))
