"""SEAL: a graph network on each pair's enclosing subgraph."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from core.context import Context
from core.methods import LinkAttack, MethodInfo
from core.release import Release
from core.results import PairScores
from core.threats import LinkThreat


class Seal(LinkAttack):
    """Logit of a DGCNN on each pair's enclosing subgraph with double-radius labels."""

    info: ClassVar[MethodInfo] = MethodInfo(
        key="seal",
        title="SEAL",
        summary="Trains a graph network to tell links from non-links by the links around a pair.",
        source="Zhang and Chen, Link prediction based on graph neural networks, NeurIPS 2018; "
        "PPGSL §V-A2",
        group="learned structure",
        cost="minutes",
        uses_gpu=True,
        version=5,
    )
    is_slow: ClassVar[bool] = True

    hops: int = Field(2, ge=1, le=3, description="Hops around a pair that are looked at.")
    max_nodes: int = Field(
        100, ge=2, le=1000, description="Nodes around a pair at most, the nearest first."
    )
    max_pairs: int = Field(
        10_000, ge=4, le=1_000_000, description="Pairs to train on at most, half of them links."
    )
    epochs: int = Field(5, ge=1, le=500, description="Training epochs.")

    def score(self, release: Release, threat: LinkThreat, context: Context) -> PairScores:
        from core.models.seal import fit_seal

        graph, config = release.graph, self.config
        # Trained once per release, for standard and adaptive attackers.
        model = context.share(
            ("seal", graph.content_hash, *config.values()),
            lambda shared: fit_seal(graph, shared, **config),
        )
        return PairScores(model.score(threat.pairs, context))
