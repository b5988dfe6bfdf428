"""Selection among sampled releases by attacks on a draw of each, evaluated on imputed values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from core.context import Context
from core.defenses.link_changes import change_links
from core.graph import Graph
from core.methods import AttributeAttack
from core.release import Release
from core.threats import AttributeThreat

MAX_TRIALS = 4
"""Number of states on which the learned attacks are run before one is selected."""
SLACK = 0.03
"""Excess of an estimate over the target that noise can explain for some hundred nodes."""

FRONTIER = "attack AUC by share of links kept"
"""Curve of the fully evaluated states; its steps are shares."""

KNOWN_LIMIT = 0.5
"""Known share above which simulated attackers get only part of the known values."""
ATTACKER_SHARES = (0.1, 0.3)
"""Shares of the publisher's known values given to simulated attackers."""


@dataclass(frozen=True, eq=False)
class EvaluatedState:
    """Keep probabilities (m,) and the attack AUC estimated on a draw, of the strongest attack
    and of each. AUCs below 0.5 are inverted."""

    attack: float
    probabilities: np.ndarray
    by_attack: dict[str, float] = field(default_factory=dict)

    @property
    def share_kept(self) -> float:
        """Expected share of the links in the release."""
        return float(self.probabilities.mean())


@dataclass(frozen=True, eq=False)
class Choice:
    """The selected state, `best`, and the alternatives.

    rough  AUC of each state without the learned attacks, whose spread shows the instability
    tried  fully evaluated states: the frontier of links kept against the attack
    """

    best: EvaluatedState
    rough: list[float]
    tried: tuple[EvaluatedState, ...] = ()

    def is_near(self, target: float) -> bool:
        """Whether the estimate may be within the target given its noise."""
        return self.best.attack <= target + SLACK


def evaluate_quickly(
    graph: Graph,
    threat: AttributeThreat,
    beliefs: np.ndarray,
    states: Sequence[np.ndarray],
    context: Context,
    *,
    first: int = 0,
    max_isolated: float = 1.0,
) -> list[dict[str, float]]:
    """AUC of label propagation and of the degree on a draw of each state (m,).

    first  number of the first state, as `choose_state` counts
    """
    from core.attacks.attribute.label_propagation import LabelPropagation

    attackers = draw_attackers(threat, context)
    quick = {"label_propagation": LabelPropagation.model_validate({})}
    rough = []
    for index, probabilities in enumerate(states, start=first):
        drawn = draw_links(graph, probabilities, context.rng("trial", index), max_isolated)
        found = _estimate_all(quick, drawn, attackers, beliefs, context)
        rough.append({**found, "degree": _estimate_degree(drawn, attackers, beliefs)})
    return rough


def choose_state(
    graph: Graph,
    threat: AttributeThreat,
    beliefs: np.ndarray,
    states: Sequence[np.ndarray],
    target: float,
    context: Context,
    *,
    rough: Sequence[dict[str, float]] | None = None,
    least_kept: float = 0.0,
    max_isolated: float = 1.0,
) -> Choice:
    """The state (m,) that keeps most links with an estimated attack AUC within the target.

    Label propagation and the degree evaluate every state; some of those that pass are evaluated by
    the attacks of the default ensemble too: the one with most links, then by bisection. If none
    passes, the least leaking states are evaluated in turn, and the lowest estimate is used.
    `beliefs` (n, C) replace the truth, so that no hidden value is used.

    rough         results of `evaluate_quickly`; computed by default
    least_kept    if no tried state is within the target and keeps this share of the links, the
    least leaking one that keeps it is tried too
    max_isolated  as in `draw_links`
    """
    attackers = draw_attackers(threat, context)
    learned = _make_verifiers()
    if rough is None:
        rough = evaluate_quickly(graph, threat, beliefs, states, context, max_isolated=max_isolated)
    strongest = [max(found.values()) for found in rough]
    tried: dict[int, EvaluatedState] = {}

    def evaluate(k: int) -> EvaluatedState:
        drawn = draw_links(graph, states[k], context.rng("trial", k), max_isolated)
        found = _estimate_all(learned, drawn, attackers, beliefs, context.child("trial", k))
        found = {**rough[k], **found}
        tried[k] = evaluated = EvaluatedState(max(found.values()), states[k], found)
        context.progress.record(FRONTIER, evaluated.share_kept, evaluated.attack)
        return evaluated

    order = sorted(range(len(states)), key=lambda k: (max(strongest[k], target), -states[k].mean()))
    num_within = sum(found <= target for found in strongest)
    best: EvaluatedState | None = None
    # Positions in the order: above the target, and within it.
    weak, strong = -1, num_within or min(MAX_TRIALS, len(order))
    for _ in range(MAX_TRIALS):
        place = (weak + strong) // 2 if weak >= 0 and num_within else weak + 1
        evaluated = evaluate(order[place])
        if best is None or evaluated.attack <= target or evaluated.attack < best.attack:
            best = evaluated
        weak, strong = (weak, place) if evaluated.attack <= target else (place, strong)
        if strong - weak <= 1:
            break
    assert best is not None
    useful = [k for k in range(len(states)) if k not in tried and states[k].mean() >= least_kept]
    if least_kept and useful and not find_releases(tried.values(), target, least_kept).meets_both:
        evaluate(min(useful, key=lambda k: strongest[k]))
    return Choice(best, strongest, tuple(tried.values()))


@dataclass(frozen=True, eq=False)
class NearestReleases:
    """The releases nearest to each of two goals, and whether one meets both."""

    private: EvaluatedState
    useful: EvaluatedState
    meets_both: bool


def find_releases(
    tried: Iterable[EvaluatedState], target: float, least_kept: float
) -> NearestReleases:
    """Of the tried states, at least one:

    private  within the target, with most links; else the one with the lowest attack AUC
    useful   keeps `least_kept` of the links, with the lowest attack AUC; else most links
    """
    tried = list(tried)
    private = min(tried, key=lambda j: (max(j.attack, target), -j.share_kept))
    useful = min(tried, key=lambda j: (-min(j.share_kept, least_kept), j.attack))
    meets_both = private.attack <= target and private.share_kept >= least_kept
    return NearestReleases(private, useful, meets_both)


def choose_better(one: Choice, other: Choice, target: float) -> Choice:
    """Of two choices the one within or near the target with more links; else the lower AUC."""
    rough, tried = [*one.rough, *other.rough], (*one.tried, *other.tried)
    if one.is_near(target) and other.is_near(target):
        better = max(one, other, key=lambda choice: choice.best.share_kept)
    else:
        better = min(one, other, key=lambda choice: choice.best.attack)
    return replace(better, rough=rough, tried=tried)


def draw_links(
    graph: Graph, probabilities: np.ndarray, rng: np.random.Generator, max_isolated: float = 1.0
) -> Graph:
    """One Bernoulli draw per link (GPS Eq. 12); weights of kept links are unchanged.

    max_isolated  largest share of non-isolated nodes that may become isolated. Beyond it, likely
    links of such nodes are kept.
    """
    keep = rng.random(graph.num_edges) < probabilities
    degrees = np.bincount(graph.edges[keep].ravel(), minlength=graph.num_nodes)
    is_isolated = (graph.degrees > 0) & (degrees == 0)
    allowed = int(max_isolated * np.count_nonzero(graph.degrees))
    surplus = int(is_isolated.sum()) - allowed
    if surplus > 0:
        exposed = np.flatnonzero(is_isolated[graph.edges].any(axis=1))
        for number in exposed[np.argsort(-probabilities[exposed], kind="stable")].tolist():
            rescued = is_isolated[graph.edges[number]].sum()
            if surplus <= 0:
                break
            if rescued:
                keep[number] = True
                is_isolated[graph.edges[number]] = False
                surplus -= int(rescued)
    return change_links(graph, np.flatnonzero(~keep))


def draw_attackers(threat: AttributeThreat, context: Context) -> list[AttributeThreat]:
    """Attackers for verification: with the publisher's knowledge or, if the publisher knows most
    values, with stratified parts of it."""
    known = np.flatnonzero(threat.known)
    if len(known) <= KNOWN_LIMIT * len(threat.known):
        return [threat]
    from core.models.tuning import draw_folds

    attackers = []
    for share in ATTACKER_SHARES:
        parts = draw_folds(threat.observed, round(1 / share), context.rng("attacker", share))
        mask = np.zeros(len(threat.known), bool)
        mask[parts[0]] = True
        attackers.append(replace(threat, known=mask, hidden=threat.known & ~mask))
    return attackers


def _make_verifiers() -> dict[str, AttributeAttack]:
    """Learning attacks of the default ensemble without their slow tuning."""
    from core.attacks.attribute.ai_deepwalk import AiDeepwalk
    from core.attacks.attribute.attri_infer import AttriInfer
    from core.attacks.attribute.gcn import Gcn
    from core.attacks.attribute.gps import Gps

    return {
        "gps": Gps.model_validate({}),
        "ai_deepwalk": AiDeepwalk.model_validate({}),
        "attri_infer": AttriInfer.model_validate({}),
        "gcn": Gcn.model_validate({"folds": 0}),
    }


def _estimate_all(
    attacks: Mapping[str, AttributeAttack],
    drawn: Graph,
    attackers: Sequence[AttributeThreat],
    beliefs: np.ndarray,
    context: Context,
) -> dict[str, float]:
    """AUC of each attack over its hidden nodes against beliefs, by its best attacker."""
    from core.models.gps.sampler_training import compute_believed_auc

    result = {}
    for key, attack in attacks.items():
        found = [0.5]
        for number, threat in enumerate(attackers):
            if attack.supports(Release(drawn), threat):
                continue
            inner = context.child(key, number)
            values = attack.infer(Release(drawn), threat, inner).probabilities
            found.append(compute_believed_auc(values[~threat.known], beliefs[~threat.known]))
        result[key] = max(found)
    return result


def _estimate_degree(
    drawn: Graph, attackers: Sequence[AttributeThreat], beliefs: np.ndarray
) -> float:
    from core.models.gps.sampler_training import compute_believed_auc

    unknown = ~attackers[0].known
    degrees = np.tile(drawn.degrees[unknown, None], beliefs.shape[1])
    return compute_believed_auc(degrees, beliefs[unknown])
