"""Advice for one node: few links to hide, and the measured effect.

A GCN trained on the known nodes proposes the links; the audit's attack is then rerun without them
on the same splits and seeds. Splits used for the selection take no part in the measurement. The
node's own value only selects the class to make less likely and is never trained on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from core.audit.asked.method_choice import MethodChoice
from core.audit.asked.spec import AuditSpec
from core.audit.computing.cell import Cell, make_cell_seed, make_member_seeds, make_shared_seed
from core.audit.computing.prepared import PreparedAudit, list_seen
from core.audit.computing.threat_sampling import draw_repeat
from core.context import BasePrediction, Context
from core.data.release_columns import show_columns
from core.data.splits import draw_attribute_threat
from core.errors import InputError, check_support
from core.graph import Graph
from core.measures.intervals import combine_measurements
from core.methods import AttributeAttack
from core.node_column import NodeColumn
from core.progress import PartProgress
from core.release import ORIGINAL, Release
from core.results import Estimate, Measurement
from core.seeding import Seed
from core.threats import AttributeThreat, Threats

if TYPE_CHECKING:
    from core.models.flips.link_effects import LinkEffect

NUM_MODELS = 3
"""Number of GCNs, each trained on its own split, that propose the links together."""

MAX_DRAWS = 2000
"""Maximum number of splits drawn to find enough in which the node's value is unknown."""


class AdviceRequest(BaseModel):
    """The node, the attack, and the effort."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    node: str = Field(description="Id of the node.")
    attack: MethodChoice = Field(description="The attribute attack that must get worse.")
    max_links: int = Field(3, ge=1, le=10, description="Links to hide at most.")
    num_repeats: int = Field(5, ge=2, le=50, description="Repeats with and without the links.")


class AdvisedLink(BaseModel):
    """change: of the log-odds of the node's class without the link, averaged over the GCNs."""

    model_config = ConfigDict(frozen=True)
    source: str
    target: str
    is_own: bool
    change: float


class Advice(BaseModel):
    """Effect of hiding the links on one node's risk.

    links    in the order of selection
    base     class share of the node: the risk without an attack
    risks    number of links hidden, first ones of `links` → risk per repeat
    degree, num_links  of the node and of the whole graph, before
    utility  usefulness before and after, one value per repeat; None without a useful column
    """

    model_config = ConfigDict(frozen=True)
    request: AdviceRequest
    base: float
    links: tuple[AdvisedLink, ...]
    risks: dict[int, tuple[float, ...]]
    degree: int
    num_links: int
    utility_metric: str = ""
    utility: tuple[tuple[float, ...], tuple[float, ...]] = ((), ())

    @property
    def num_own(self) -> int:
        return sum(link.is_own for link in self.links)

    def estimate_risk(self, count: int) -> Estimate:
        """Mean over repeats with the first `count` links hidden; Student's t interval."""
        estimate = _combine(np.array(self.risks[count]))
        return replace(
            estimate, low=max(estimate.low or 0.0, 0.0), high=min(estimate.high or 0.0, 1.0)
        )

    def estimate_change(self, count: int) -> Estimate:
        """Paired difference over repeats with equal splits and seeds."""
        return _combine(np.array(self.risks[count]) - np.array(self.risks[0]))

    def estimate_utility_change(self) -> Estimate | None:
        """After − before over repeats; None if usefulness was not measured."""
        before, after = map(np.array, self.utility)
        return _combine(after - before) if len(before) else None


def compute_advice(
    spec: AuditSpec, graph: Graph, request: AdviceRequest, context: Context
) -> Advice:
    """Select the links and measure their effect.

    Links withheld at random are not removed: the advice is for the graph as published, without the
    sensitive links that the analyst named. Raises InputError if the node is not at stake and
    UnsupportedError if the attack does not apply.
    """
    spec = spec.update(hide_links=None, test_links=0.0)
    if spec.threats.private is None:
        raise InputError("advice", "needs a private column", remedy="choose one on the Data page")
    audit = PreparedAudit(spec, graph)
    graph = audit.graph
    # Less the useful column, whose prediction is measured on the same features.
    graph = show_columns(graph, [n for n in list_seen(spec, graph) if n != spec.disclosure.utility])
    node, code = _find_node(graph, graph.column(spec.threats.private), request.node)
    attack = request.attack.make("attribute_attack")
    assert isinstance(attack, AttributeAttack)
    repeats = list(islice(_draw_at_stake(replace(audit, source=graph), node), request.num_repeats))
    if len(repeats) < request.num_repeats:
        raise InputError(
            "node",
            "must be unknown to the attacker in some repeats",
            request.node,
            "lower the share of people whose value is known",
        )
    visible = repeats[0][1].visible
    check_support(attack.label, attack.supports(Release(visible), _attribute(repeats[0][1])))
    has_utility = spec.disclosure.utility is not None
    total = NUM_MODELS + request.num_repeats * (request.max_links + 1 + 2 * has_utility)
    effects = _choose_links(spec, visible, node, code, request, context, total)
    ends = visible.edges[[effect.link for effect in effects]]
    is_slow = attack.info.cost == "minutes"  # then the whole set only
    counts = [0, len(ends)] if is_slow and len(ends) else list(range(len(ends) + 1))
    step, risks = NUM_MODELS, {}
    for count in counts:
        tried = visible.without_edges(ends[:count])
        values = []
        for repeat, threats in repeats:
            inner = _enter(spec, request, repeat, context, step, total)
            values.append(_attack(attack, tried, _attribute(threats), node, inner))
            step += 1
        risks[count] = tuple(values)
    return Advice(
        request=request,
        base=float(_attribute(repeats[0][1]).attribute.shares[code]),
        links=tuple(_describe(visible, node, effect) for effect in effects),
        risks=risks,
        degree=int(visible.degrees[node]),
        num_links=visible.num_edges,
        **_compare_utility(spec, request, repeats, visible.without_edges(ends), context, total),
    )


def _find_node(graph: Graph, private: NodeColumn, name: str) -> tuple[int, int]:
    """Index of the node and code of its private value."""
    node = int(graph.find_nodes([name])[0])
    code = int(private.codes[node])
    if code < 0:
        raise InputError("node", "must have a private value", name, "choose another node")
    return node, code


def _draw_at_stake(audit: PreparedAudit, node: int) -> Iterator[tuple[int, Threats]]:
    """Repeats, beyond the audit's if needed, in which the node's value is unknown to the
    attacker."""
    for repeat in range(MAX_DRAWS):
        threats = draw_repeat(audit, repeat)
        if _attribute(threats).hidden[node]:
            yield repeat, threats


def _choose_links(
    spec: AuditSpec,
    graph: Graph,
    node: int,
    code: int,
    request: AdviceRequest,
    context: Context,
    total: int,
) -> list[LinkEffect]:
    from core.models.flips.link_effects import LinkEffects

    assert spec.threats.private is not None
    seed = Seed(spec.root_seed).child("advice", request.node)
    num_classes = graph.column(spec.threats.private).num_classes
    effects = LinkEffects(graph, num_classes, replace(context, seed=seed))
    trained = 0
    for draw in range(MAX_DRAWS):
        threat = draw_attribute_threat(
            graph, spec.threats.private, spec.threats.known, seed.child("split", draw)
        )
        if not threat.hidden[node]:
            continue
        progress = PartProgress(context.progress, trained, total)
        inner = replace(context, seed=seed.child("model", trained), progress=progress)
        effects.train(threat.observed, inner)
        trained += 1
        if trained == NUM_MODELS:
            break
    return effects.choose_links(node, code, request.max_links)


def _attack(
    attack: AttributeAttack, graph: Graph, threat: AttributeThreat, node: int, context: Context
) -> float:
    """The node's calibrated risk, computed as in the audit."""
    from core.measures.node_risk import compute_attribute_node_risk

    found = attack.infer(Release(graph), threat, context)
    risk = compute_attribute_node_risk(found, threat)
    return float(risk.risk[np.searchsorted(risk.nodes, node)])


def _compare_utility(
    spec: AuditSpec,
    request: AdviceRequest,
    repeats: list[tuple[int, Threats]],
    after: Graph,
    context: Context,
    total: int,
) -> dict[str, Any]:
    """AUC of the classifier of the useful column, or F1 for more than two classes."""
    from core.measures.utility import measure_labels

    if spec.disclosure.utility is None:
        return {}
    step, rows = total - 2 * len(repeats), []
    for graph in (repeats[0][1].visible, after):
        row = []
        for repeat, threats in repeats:
            inner = _enter(spec, request, repeat, context, step, total)
            found, _ = measure_labels(graph, threats.utility, inner)
            row.append({m.metric: m.value for m in found if m.value is not None})
            step += 1
        rows.append(row)
    for metric in ("node_classification_auc", "node_classification_f1"):
        if all(metric in found for row in rows for found in row):
            values = tuple(tuple(found[metric] for found in row) for row in rows)
            return {"utility_metric": metric, "utility": values}
    return {}


def _enter(
    spec: AuditSpec, request: AdviceRequest, repeat: int, context: Context, step: int, total: int
) -> Context:
    """Seeds of the audit's own cell, so that its numbers are reproduced without a link threat."""
    attack = request.attack
    cell = Cell("", "attack", ORIGINAL, attack.id, repeat, attack.model_dump_json())
    return replace(
        context,
        seed=make_cell_seed(spec, cell),
        shared_seed=make_shared_seed(spec, cell),
        base_predictions={
            key: BasePrediction(seed) for key, seed in make_member_seeds(spec, cell).items()
        },
        progress=PartProgress(context.progress, step, total),
    )


def _attribute(threats: Threats) -> AttributeThreat:
    assert threats.attribute is not None
    return threats.attribute


def _describe(graph: Graph, node: int, effect: LinkEffect) -> AdvisedLink:
    i, j = map(int, graph.edges[effect.link])
    first, second = (j, i) if j == node else (i, j)
    return AdvisedLink(
        source=graph.node_ids[first],
        target=graph.node_ids[second],
        is_own=node in (i, j),
        change=effect.change,
    )


def _combine(values: np.ndarray) -> Estimate:
    items = [Measurement("advice", float(value), n=1) for value in values]
    return combine_measurements(items)
