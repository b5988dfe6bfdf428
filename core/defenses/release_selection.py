"""Which of several sampled releases to publish: attacks on a draw of each, judged by beliefs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from core.context import Context
from core.defenses.link_changes import change_links
from core.graph import Graph
from core.methods import AttributeAttack
from core.release import Release
from core.threats import AttributeThreat

MAX_TRIALS = 4
"""States on which the learned attacks are run before one is chosen."""
SLACK = 0.03
"""An estimate this far above the target may be within it: the noise of an AUC over some hundred
people."""

KNOWS_MOST = 0.5
"""A publisher who knows a larger share of the values verifies with attackers who know less."""
ATTACKER_SHARES = (0.1, 0.3)
"""Of the values that such a publisher knows, the shares that simulated attackers know."""


@dataclass(frozen=True, eq=False)
class Choice:
    """Keep probabilities (m,), the attack AUC estimated for them by the strongest attack, by each
    attack, and the rough estimates of all states, without the learned attacks: their spread
    shows how unstable the training is. AUCs below one half count inverted."""

    attack: float
    probabilities: np.ndarray
    rough: list[float]
    by_attack: dict[str, float] = field(default_factory=dict)

    def is_near(self, target: float) -> bool:
        """Whether the estimate may be within the target, as far as its noise tells."""
        return self.attack <= target + SLACK


def choose_state(
    graph: Graph,
    threat: AttributeThreat,
    beliefs: np.ndarray,
    states: Sequence[np.ndarray],
    target: float,
    context: Context,
) -> Choice:
    """The state (m,) that keeps most links with an estimated attack AUC within the target.

    Label propagation and the degree judge every state; some of those that pass also the attacks
    of the usual ensemble: the one with most links, then halfway between one that is too weak and
    one that is not. If none passes, the attacks judge the least leaking in turn, and the one with
    the lowest estimate is taken. `beliefs` (n, C) stand for the truth, so that nothing hidden is
    read.
    """
    from core.attacks.attribute.label_propagation import LabelPropagation

    attackers = draw_attackers(threat, context)
    quick = {"label_propagation": LabelPropagation.model_validate({})}
    learned = _make_verifiers()
    rough: list[dict[str, float]] = []
    for index, probabilities in enumerate(states):
        drawn = draw_links(graph, probabilities, context.rng("trial", index))
        found = _estimate_all(quick, drawn, attackers, beliefs, context)
        rough.append({**found, "degree": _estimate_degree(drawn, attackers, beliefs)})
    strongest = [max(found.values()) for found in rough]
    order = sorted(range(len(states)), key=lambda k: (max(strongest[k], target), -states[k].mean()))
    hopeful = sum(found <= target for found in strongest)
    best = Choice(np.inf, states[order[0]], strongest)
    # Places in the order: too many links, and few enough.
    weak, strong = -1, hopeful or min(MAX_TRIALS, len(order))
    for _ in range(MAX_TRIALS):
        place = (weak + strong) // 2 if weak >= 0 and hopeful else weak + 1
        k = order[place]
        drawn = draw_links(graph, states[k], context.rng("trial", k))
        inner = context.child("trial", k)
        found = {**rough[k], **_estimate_all(learned, drawn, attackers, beliefs, inner)}
        attack = max(found.values())
        if attack <= target or attack < best.attack:
            best = Choice(attack, states[k], strongest, found)
        weak, strong = (weak, place) if attack <= target else (place, strong)
        if strong - weak <= 1:
            break
    return best


def choose_better(one: Choice, other: Choice, target: float) -> Choice:
    """Of two choices the one within the target, or near it, with more links; else the lower."""
    rough = [*one.rough, *other.rough]
    if one.is_near(target) and other.is_near(target):
        better = max(one, other, key=lambda choice: float(choice.probabilities.mean()))
    else:
        better = min(one, other, key=lambda choice: choice.attack)
    return replace(better, rough=rough)


def draw_links(graph: Graph, probabilities: np.ndarray, rng: np.random.Generator) -> Graph:
    """One Bernoulli draw a link (GPS Eq. 12); weights of kept links stay."""
    drop = np.flatnonzero(rng.random(graph.num_edges) >= probabilities)
    return change_links(graph, drop)


def draw_attackers(threat: AttributeThreat, context: Context) -> list[AttributeThreat]:
    """Whom a release is verified against: the attacker who knows what the publisher knows, or,
    where the publisher knows most values, attackers who know a stratified part of them."""
    known = np.flatnonzero(threat.known)
    if len(known) <= KNOWS_MOST * len(threat.known):
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
    """The attacks of the usual ensemble that learn something, without their slow tuning."""
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
    """AUC of each attack over the nodes it must guess, against beliefs, by its best attacker."""
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
