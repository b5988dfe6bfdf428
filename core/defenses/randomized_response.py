"""Randomised response on pairs: by a curator, by one end of each pair, by both."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import Field

from core.context import Context
from core.defenses.budgeted import EdgePrivateDefense, LinkLocalDefense
from core.graph import Graph
from core.methods import Defense, MethodInfo
from core.privacy.budget import Account
from core.privacy.guarantees import EDGE, LINK_ONCE, LINK_TWICE
from core.privacy.link_local import draw_noisy_rows, merge_reports
from core.privacy.mechanisms import check_release_fits, draw_flips
from core.release import Release
from core.threats import Threats


class RandomizedResponse(LinkLocalDefense):
    """Publishes what the server receives; the weight of a pair is the share of its two ends
    that reported a link."""

    info: ClassVar[MethodInfo] = MethodInfo(
        key="randomized_response",
        title="Randomised response",
        summary="Every node flips each bit of its own list; both ends report each link.",
        source="Warner, JASA 1965; baseline RR of Blink (Zhu et al., CCS 2023, §5.1)",
        group="link-local DP",
    )

    def publish(self, graph: Graph, threats: Threats, context: Context) -> Release:
        account = Account(LINK_TWICE, self.epsilon, context)
        flip = account.spend_bits().flip
        expected = 2.0 * (graph.num_edges + graph.num_pairs * flip)
        check_release_fits("randomised response", expected, context, "raise epsilon")
        everywhere = np.ones(graph.num_nodes)
        ones = draw_noisy_rows(
            graph, (1.0 - flip) * everywhere, flip * everywhere, context.rng("rows")
        )
        published = merge_reports(graph, ones)
        return self.build_release(published, account.make_guarantee())


class EdgeRand(EdgePrivateDefense):
    """Flips each pair independently with probability 1/(1+e^ε).

    The draw does not look at the threats: a withheld pair is as likely to appear by chance as
    any other. Weights are not published.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="edge_rand",
        title="EdgeRand",
        summary="Flips every pair of nodes at random, so that any link can be denied.",
        source="Mülle, Clifton and Böhm, EDBT Workshops 2015; Wu et al., LinkTeller, S&P 2022",
        group="edge DP",
    )

    def publish(self, graph: Graph, threats: Threats, context: Context) -> Release:
        account = Account(EDGE, self.epsilon, context)
        flip = account.spend_bits().flip
        expected = graph.num_edges * (1 - flip) + (graph.num_pairs - graph.num_edges) * flip
        check_release_fits("EdgeRand", expected, context, "raise epsilon or use a smaller graph")
        kept, added = draw_flips(graph, flip, context.rng("flips"))
        published = graph.with_edges(np.concatenate([graph.edges[kept], added]))
        return self.build_release(published, account.make_guarantee())


class SymRR(Defense):
    """Node i perturbs and sends only the bits of the nodes before it."""

    info: ClassVar[MethodInfo] = MethodInfo(
        key="sym_rr",
        title="SymRR",
        summary="Each pair is reported once, by one end, with its bit flipped at random.",
        source="Imola, Murakami and Chaudhuri, USENIX Security 2021, as used by Blink §5.1",
        group="link-local DP",
    )
    epsilon: float = Field(
        6.0,
        gt=0,
        le=100,
        title="Privacy budget ε",
        description="Budget of one link.",
    )

    def publish(self, graph: Graph, threats: Threats, context: Context) -> Release:
        account = Account(LINK_ONCE, self.epsilon, context)
        flip = account.spend_bits().flip
        check_release_fits(
            self.info.title, graph.num_edges + graph.num_pairs * flip, context, "raise epsilon"
        )
        kept, added = draw_flips(graph, flip, context.rng("flips"))
        published = graph.with_edges(np.concatenate([graph.edges[kept], added]))
        return self.build_release(published, account.make_guarantee())


class Rabv(SymRR):
    """Randomised response on one bit a pair; the other bit of the pair copies it.

    The whole budget goes to the bits: the graph is published as collected, without LF-GDPR's
    degree query and calibration, as the GPS paper uses it. What is left has the law of SymRR.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="rabv",
        title="RABV",
        summary="Flips one bit of each pair of symmetric bits at random and copies it.",
        source="Ye, Hu, Au, Meng and Xiao, LF-GDPR, TKDE 2020; baseline of GPS (KDD 2024, §6.3)",
        group="link-local DP",
    )


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
    delta: float = Field(
        0.1,
        gt=0,
        lt=1,
        title="Degree share δ",
        description="Share of the budget for degrees.",
    )

    def publish(self, graph: Graph, threats: Threats, context: Context) -> Release:
        n = graph.num_nodes
        account = Account(LINK_TWICE, self.epsilon, context)
        noisy = account.add_number_noise(graph.degrees, self.delta, 1.0, "degrees")
        degrees = np.clip(noisy, 0.0, n - 1.0)
        flip = account.spend_bits(account.share_left, "rows").flip
        expected_ones = degrees * (1.0 - 2.0 * flip) + (n - 1) * flip
        thin = np.clip(degrees / np.maximum(expected_ones, 1e-12), 0.0, 1.0)
        check_release_fits("DPRR", float(degrees.sum()), context, "raise epsilon")
        ones = draw_noisy_rows(graph, (1.0 - flip) * thin, flip * thin, context.rng("rows"))
        guarantee = account.make_guarantee("basic composition, rows + degrees")
        return self.build_release(merge_reports(graph, ones), guarantee)
