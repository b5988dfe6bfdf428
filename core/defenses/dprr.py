"""DPRR: randomised response thinned so that each node's expected degree is kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from pydantic import Field

from core.context import Context
from core.defenses.budgeted import LinkLocalDefense
from core.graph import Graph
from core.methods import SYMBOLS, MethodInfo, OpenUnitInterval
from core.privacy.budget import Account
from core.privacy.guarantees import LINK_TWICE
from core.privacy.link_local import draw_noisy_rows, merge_reports
from core.privacy.mechanisms import check_release_fits
from core.release import Release
from core.threats import Threats


class DegreePreservingRR(LinkLocalDefense):
    """Each node keeps a one of its noisy row with probability d̃/(d̃(2π−1) + (n−1)(1−π)).

    π = e^ε₂/(1+e^ε₂) with the row's budget ε₂, d̃ its noisy degree.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="dprr",
        title="DPRR",
        summary="Noisy lists, thinned by each node so that its number of links stays right.",
        source="Hidano and Murakami, Degree-preserving randomized response, 2022",
        group="link-local DP",
    )
    symbols: ClassVar[Mapping[str, str]] = {**SYMBOLS, "delta": "degree share"}
    delta: OpenUnitInterval = Field(
        0.1, title="Degree share", description="Share of the budget for degrees."
    )

    def publish(self, graph: Graph, threats: Threats, context: Context) -> Release:
        candidates = graph.node_candidates
        account = Account(LINK_TWICE, self.epsilon, context)
        noisy = account.add_number_noise(graph.degrees, self.delta, 1.0, "degrees")
        degrees = np.clip(noisy, 0.0, candidates)
        flip = account.spend_bits(account.share_left, "rows").flip
        expected_ones = degrees * (1.0 - 2.0 * flip) + candidates * flip
        thin = np.clip(degrees / np.maximum(expected_ones, 1e-12), 0.0, 1.0)
        check_release_fits("DPRR", float(degrees.sum()), context, "raise epsilon")
        ones = draw_noisy_rows(graph, (1.0 - flip) * thin, flip * thin, context.rng("rows"))
        guarantee = account.make_guarantee("basic composition, rows + degrees")
        return self.build_release(merge_reports(graph, ones), guarantee)
