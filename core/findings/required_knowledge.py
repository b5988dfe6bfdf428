"""How far the attackers of an audit know less than a policy requires.

A release that holds against those who know little was not tested against those who receive it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from core.audit.asked.answers import choose_seeds
from core.audit.asked.knowledge import ADAPTIVE
from core.audit.asked.scenarios import list_scenarios
from core.audit.asked.spec import AuditSpec
from core.audit.results.view import AuditView
from core.findings.link_prior import count_withheld
from core.methods import Defense
from core.once import find_once
from core.words import count_noun, format_percent


class RequiredKnowledge(BaseModel):
    """What every attacker knows at least.

    values    share of the private values of each class, counting those that are right
    links     share of the links that an audit leaves in its releases; the published graph has all
    overlap   share of the links in a second graph, less that of wrong ones
    seeds     people whom a re-identification attacker has found already; of a small graph fewer
    adaptive  whether attackers who know the defense must have run
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    values: float = Field(default=0.1, ge=0, lt=1)
    links: float = Field(default=0.7, ge=0, le=1)
    overlap: float = Field(default=0.9, ge=0, le=1)
    seeds: int = Field(default=20, ge=0)
    adaptive: bool = False

    def is_within(self, other: RequiredKnowledge) -> bool:
        """Whether `other` requires as much of everything."""
        return all(getattr(other, name) >= value for name, value in self)


def list_less_known(
    view: AuditView, required: RequiredKnowledge, defense: Defense | None
) -> list[str]:
    """What attackers know less on a release than is required, one sentence each.

    defense  that made the release; None for the original and for one made elsewhere
    """
    spec = view.spec
    return [
        *_compare_values(spec, required),
        *_compare_links(view, required),
        *_compare_second_graph(view, required),
        *_compare_adaptive(spec, required, defense),
    ]


def _compare_values(spec: AuditSpec, required: RequiredKnowledge) -> Iterable[str]:
    threats = spec.threats
    if threats.private is None:
        return
    # Everybody of some communities tells little of the others, and named people may be anybody.
    is_drawn = threats.known_people is None and threats.known_spread == "stratified"
    shares = [threats.known] if is_drawn else []
    shares += [each.share for each in spec.knowledge.auxiliary if each.spread == "stratified"]
    known = max(shares, default=0.0) * (1 - threats.wrong_values)
    if known < required.values:
        share = format_percent(known) if known else "none"
        yield (
            f"Attackers know {share} of the private values, drawn from each class; the policy "
            f"requires {format_percent(required.values)}"
        )


def _compare_links(view: AuditView, required: RequiredKnowledge) -> Iterable[str]:
    spec, threats = view.spec, view.spec.threats
    left = _measure_left(view)
    if left < required.links:
        whose = " of the people at stake" if spec.control else ""
        yield (
            f"Attackers saw {format_percent(left)} of the links{whose}, and the published graph "
            f"has all; the policy requires {format_percent(required.links)}"
        )
    if threats.has_links and threats.evaluation != "uniform":
        kind = "the same degrees" if threats.evaluation == "degree_matched" else "common neighbours"
        yield (
            f"Withheld links were compared with pairs with {kind}, which are harder to tell apart; "
            "the policy's limits are for random pairs"
        )


def _measure_left(view: AuditView) -> float:
    """Share of the links of the people at stake that the audit leaves in its releases.

    Links named as sensitive are in no published graph either. Control nodes have no links: of
    others' links the share that leads to one of them is gone as well.
    """
    spec, num_links = view.spec, view.summary.num_edges
    hidden, held_back = count_withheld(spec, num_links) if spec.threats.has_links else (0, 0)
    if spec.threats.sensitive_links is not None:
        num_links, hidden = num_links - hidden, 0
    left = 1 - (hidden + held_back) / max(num_links, 1)
    return left * (1 - (spec.control or 0.0))


def _compare_second_graph(view: AuditView, required: RequiredKnowledge) -> Iterable[str]:
    identity = view.spec.threats.identity
    if identity is None:
        return
    overlap = measure_overlap(view)
    if overlap is None:
        overlap = identity.overlap - identity.noise
    if overlap < required.overlap:
        yield (
            f"The attackers' second graph has {format_percent(max(overlap, 0))} of the links, "
            f"wrong ones deducted; the policy requires {format_percent(required.overlap)}"
        )
    known = identity.seeds_known
    if known < required.seeds and known < (seeds := choose_seeds(view.load_graph())):
        yield (
            f"Attackers had found {count_noun(known, 'person', 'people')}; the policy requires "
            f"{min(seeds, required.seeds)}"
        )


@find_once
def measure_overlap(view: AuditView) -> float | None:
    """Share of the graph's links that a given second graph has, less its wrong ones among the same
    people as a share of the graph's links; None if it is simulated."""
    second = view.load_second_graph()
    if second is None:
        return None
    graph = view.load_graph()
    numbers = np.array([second.index.get(node, -1) for node in graph.node_ids], np.int64)
    pairs = numbers[graph.edges]
    pairs = pairs[(pairs >= 0).all(axis=1)]
    right = int(second.contains_pairs(pairs).sum())
    is_common = np.zeros(second.num_nodes, bool)
    is_common[numbers[numbers >= 0]] = True
    wrong = int(is_common[second.edges].all(axis=1).sum()) - right
    return (right - wrong) / max(graph.num_edges, 1)


def _compare_adaptive(
    spec: AuditSpec, required: RequiredKnowledge, defense: Defense | None
) -> Iterable[str]:
    if not required.adaptive or spec.knowledge.adaptive:
        return
    if spec.external_release is not None:  # nobody can run again what made it
        return
    if any(
        attack.rehearses
        and not attack.info.is_baseline
        and replace(scenario, knowledge=ADAPTIVE).differs_on(defense)
        for _, attack, scenario in list_scenarios(spec)
    ):
        yield "No adaptive attacker ran; the policy requires them"
