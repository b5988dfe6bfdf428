"""DPR: a synthetic graph from deep PageRank vectors, without privacy."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from pydantic import Field

from core.context import Context
from core.defenses.budgeted import DataFree, NumLinks
from core.graph import Graph
from core.methods import Defense, MethodInfo, OpenUnitInterval
from core.privacy.budget import Account
from core.privacy.mechanisms import check_release_fits
from core.release import EMPIRICAL, Guarantee, Release
from core.threats import Threats

if TYPE_CHECKING:
    from core.models.synthesis.deep_pagerank import Plan


class Dpr(Defense):
    """PrivDPR without noise: its usefulness if privacy were no concern.

    The synthetic graph has the same nodes and entirely new links. A directed input is used with its
    links in both directions, as `Graph` stores them.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="dpr",
        title="Deep PageRank, not private",
        summary="Trains node vectors to rank by links and publishes new links drawn from them.",
        source="Zhang, Hu, Ye and Xu, PrivDPR, KDD 2025, §4, DPR (No DP)",
        group="empirical",
        cost="minutes",
        uses_gpu=True,
        version=2,
    )
    data_free: DataFree = False
    num_links: NumLinks = Field(
        None, description="Links to publish, if that number is public; empty: taken from the graph."
    )
    epochs: int = Field(5, ge=1, le=100, description="Passes over all nodes.")
    batch: int = Field(16, ge=1, le=1024, description="Start nodes per training step.")
    walks: int = Field(2, ge=1, le=100, description="Random walks from each start node.")
    walk_length: int = Field(16, ge=1, le=100, description="Steps of each walk; one pair each.")
    dimensions: int = Field(128, ge=1, le=1024, description="Length of a node's vector.")
    hidden: int = Field(64, ge=1, le=1024, description="Width of the hidden layers.")
    scale: float = Field(
        8.0,
        gt=1,
        le=100,
        title="Weight scale s",
        description="Weights are scaled to spectral norm 1/s.",
    )
    sensitivity: float = Field(
        5.0,
        gt=0,
        title="Preset sensitivity S",
        description="With s it sets the number of layers, by the paper's Eq. 13.",
    )
    damping: OpenUnitInterval = Field(0.85, description="Damping factor γ of PageRank.")

    def publish(self, graph: Graph, threats: Threats, context: Context) -> Release:
        from core.models.synthesis.deep_pagerank import NoNoise, train_vectors
        from core.models.synthesis.drawing import draw_links

        data = graph.with_edges(np.empty((0, 2), np.int64)) if self.data_free else graph
        account = self.open_account(context)
        wanted = self._choose_num_links(graph, account)
        check_release_fits(self.info.title, wanted, context, "set the number of links")
        plan = self.make_plan(graph.num_nodes)
        noise = NoNoise() if account is None else account.spend_rest_on_sums(plan.steps)
        vectors, facts = train_vectors(data, plan, noise, context)
        published = graph.with_edges(draw_links(vectors, wanted, context.child("links")))
        facts = {"layers": float(plan.num_layers), "steps": float(plan.steps), **facts}
        guarantee = EMPIRICAL if account is None else self.make_guarantee(account, plan)
        return self.build_release(published, guarantee, facts=facts)

    def supports(self, graph: Graph, threats: Threats) -> str | None:
        return None if graph.num_nodes >= 2 else "needs a graph of at least two nodes"

    def make_plan(self, num_nodes: int) -> Plan:
        """Sizes and noise of the training run for these settings."""
        from core.models.synthesis.deep_pagerank import Plan

        names = {field.name for field in fields(Plan)} & type(self).model_fields.keys()
        return Plan(num_nodes, **{name: getattr(self, name) for name in names})

    def open_account(self, context: Context) -> Account | None:
        """The budget; None: no privacy."""
        return None

    def make_guarantee(self, account: Account, plan: Plan) -> Guarantee:
        """Guarantee of the training run."""
        return account.make_guarantee()

    def _choose_num_links(self, graph: Graph, account: Account | None) -> int:
        wanted = graph.num_edges if self.num_links is None else self.num_links
        return min(wanted, graph.num_pairs)
