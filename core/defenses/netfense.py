"""NetFense: flips few links so that the private class of a node cannot be inferred."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from pydantic import Field

from core.context import Context
from core.errors import check_support
from core.graph import Graph
from core.methods import (
    NEEDS_PRIVATE,
    Defense,
    MethodInfo,
    OpenUnitInterval,
    Strength,
    Suggestion,
    UnitInterval,
)
from core.release import Release
from core.threats import Threats

if TYPE_CHECKING:
    from core.models.flips.perturbation import Flipper, Surrogates
    from core.models.flips.unnoticed import PageRankEffect


class FlipDefense(Defense):
    """Flips links or features at one target after the other."""

    targets: int = Field(
        0,
        ge=0,
        title="Nodes protected",
        description="How many, drawn at random; 0 protects all: those whose value is hidden, or "
        "every node if the publisher knows the whole column.",
    )
    acts_by: ClassVar[Strength | None] = Strength("budget", 2, 40, is_log=True, in_title=False)
    budget: int = Field(
        10,
        ge=1,
        le=1000,
        title="Flips per node",
        description="At most; NetFense uses 10, and 20 for a single node.",
    )

    @property
    def reads_values(self) -> bool:
        return True

    def flip_around_targets(
        self,
        graph: Graph,
        threats: Threats,
        surrogates: Surrogates,
        flip_once: Callable[[Flipper, int], bool],
        context: Context,
        **kinds: bool,
    ) -> Release:
        """The release after up to `budget` flips per target, until `flip_once` makes none.

        kinds  structure and features, as `Flipper` takes them
        """
        from core.models.flips.perturbation import Flipper, draw_targets, find_withheld

        assert threats.attribute is not None
        flipper = Flipper(graph, surrogates, find_withheld(graph, threats), **kinds)
        targets = draw_targets(threats.attribute, self.targets, context.rng("targets"))
        for index, v in enumerate(targets.tolist()):
            for step in range(self.budget):
                position = index + step / self.budget
                context.progress.update(position, len(targets), "flipping links")
                if not flip_once(flipper, v):
                    break
        facts = {
            "features_flipped": float(len(flipper.state.flipped_features)),
            "nodes_protected": float(len(targets)),
        }
        return self.build_release(flipper.to_graph(), facts=facts)


class NetFense(FlipDefense):
    """Per target, greedy flips that lower gap^{a_d} / p^{a_m} (Eq. 7).

    gap is the difference of the two largest private-class probabilities, which generalises |p₁ −
    p₂| to more than two classes; p is the probability of the class predicted for the label. Both
    come from a few GCNs, scored exactly, or as in the paper from a linear one, whose ties leave
    more of a GCN's gap. A gap below the tolerance counts as zero: Eq. 7 would sacrifice the label
    to remove its remainder, which another training restores. Probabilities replace the paper's raw
    scores, whose sign could invert the ratio. The gap is reduced to zero and not below, since
    confident errors leak by inversion. All classifiers are trained on known nodes.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="netfense",
        title="NetFense",
        summary="Flips a few links at each target so that its private class is a coin toss.",
        source="Hsieh and Li, NetFense, TKDE 2021, Eq. 3-7, Algorithm 1",
        group="empirical",
        cost="minutes",
    )
    suggestion: ClassVar[Suggestion | None] = Suggestion(
        5,
        ("attribute",),
        ("column", "links"),
        "changes few links to hide the private value and keep another column predictable",
        recipients=("partner", "internal"),
        is_learned=True,
    )
    what: Literal["structure", "features", "both"] = Field(
        "structure", description="What is flipped: links, binary features, or either."
    )
    choice: Literal["loss", "random"] = Field(
        "loss",
        description="Flips of lowest loss, or random ones that keep the degree distribution.",
    )
    classifier: Literal["gcn", "linear"] = Field(
        "gcn", description="What the flips are to mislead: GCNs, or the paper's linear form."
    )
    members: int = Field(
        5,
        ge=1,
        le=50,
        title="GCNs averaged",
        description="More GCNs average out their random initialisation; linear uses one.",
    )
    quantile: float = Field(
        0.9,
        gt=0,
        le=1,
        title="PageRank quantile (τ)",
        description="Only flips whose effect on PageRank is below this quantile.",
    )
    restart: OpenUnitInterval = Field(
        0.1, description="Restart probability of personalised PageRank (α)."
    )
    privacy: float = Field(
        2.0, gt=0, le=10, title="Exponent of the gap (a_d)", description="Larger: more private."
    )
    utility: float = Field(
        1.0, ge=0, le=10, title="Exponent of the label (a_m)", description="Larger: more useful."
    )
    tolerance: UnitInterval = Field(
        0.1,
        title="Negligible gap",
        description="Flips stop at this gap; GCNs of other initialisations differ by as much.",
    )

    def supports(self, graph: Graph, threats: Threats) -> str | None:
        return check_flips(graph, threats, self.what != "structure")

    def publish(self, graph: Graph, threats: Threats, context: Context) -> Release:
        check_support(self.info.title, self.supports(graph, threats))
        from core.models.flips.perturbation import fit_surrogates
        from core.models.flips.unnoticed import PageRankEffect

        uses_gcns = self.classifier == "gcn" and self.choice == "loss"
        surrogates = fit_surrogates(graph, threats, context, self.members if uses_gcns else 0)
        ranks, rng = PageRankEffect(self.restart), context.rng("flips")
        return self.flip_around_targets(
            graph,
            threats,
            surrogates,
            partial(self.flip_once, ranks=ranks, rng=rng),
            context,
            structure=self.what != "features",
            features=self.what != "structure",
        )

    def flip_once(
        self, flipper: Flipper, v: int, ranks: PageRankEffect, rng: np.random.Generator
    ) -> bool:
        """One flip at v; False if none is allowed or none helps."""
        from core.models.flips.perturbation import compute_gap

        if self.choice == "random":
            partners = np.flatnonzero(flipper.find_degree_preserving(v))
            if len(partners):
                flipper.state.flip_link(v, int(rng.choice(partners)))
            return len(partners) > 0
        surrogates = flipper.surrogates
        _, label = surrogates.split(flipper.original_scores[v][None])
        private, _ = surrogates.split(flipper.state.compute_scores(v)[None])
        if compute_gap(private)[0] <= self.tolerance:
            return False
        predicted = int(label.argmax()) if label.size else None

        def loss(scores: np.ndarray) -> np.ndarray:
            """Eq. 7; among gaps below the tolerance the label decides."""
            private, label = surrogates.split(scores)
            gap = np.hypot(compute_gap(private), self.tolerance)
            value: np.ndarray = gap**self.privacy
            if predicted is not None:
                value = value / np.maximum(label[:, predicted], 1e-12) ** self.utility
            return value

        return flipper.flip_best(v, flipper.find_unnoticed(v, ranks, self.quantile), loss)


def check_flips(graph: Graph, threats: Threats, with_features: bool) -> str | None:
    """Reason why links and features of a graph cannot be flipped, or None."""
    if threats.attribute is None:
        return NEEDS_PRIVATE
    if graph.num_edges == 0:
        return "needs a graph with links"
    if graph.weights is not None:
        return "needs links without weights; load the graph again and ignore its link weights"
    if with_features:
        from core.models.flips.perturbation import has_binary_features

        if not has_binary_features(graph):
            return "needs features of 0 and 1; set what = structure to flip links alone"
    return None
