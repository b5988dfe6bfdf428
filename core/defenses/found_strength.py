"""Search of a defense's strength by attacks on links that the publisher withholds for it."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, Self

import numpy as np
from pydantic import Field, model_validator

from core.algorithms.pairs import hide_links
from core.attacks.link.gae_cosine import GaeCosine
from core.attacks.link.gae_svc import GaeSvc
from core.attacks.link.katz import Katz
from core.attacks.link.node2vec_cosine import Node2vecCosine
from core.attacks.link.node2vec_svc import Node2vecSvc
from core.attacks.link.resource_allocation import ResourceAllocation
from core.context import Context
from core.errors import check_support
from core.graph import Graph
from core.measures.ranking import compute_auc
from core.methods import Defense, LinkAttack, Strength
from core.progress import PartProgress
from core.release import Release
from core.threats import LinkThreat, Threats

NUM_TRIALS = 5
"""Strengths tried at most; halving a range each time, they tell it to 1/32 of the ladder."""
LEAST_HELD_OUT, MOST_HELD_OUT = 100, 0.2
"""Links held out where the secrets are fewer, and the largest share of the links that may be."""
RATIO = 4.0
"""Non-links per held-out link, so that the noise of an AUC is that of the links."""

FRONTIER = "attack AUC by strength"
"""Curve of the strengths tried; its steps are values of the setting."""


Target = Annotated[
    float | None,
    Field(
        ge=0.5,
        le=1,
        title="Attack AUC aimed at",
        description="The strength is then found: the weakest at which the strongest of several "
        "attacks, on links withheld for this, has at most this AUC. It costs up to "
        f"{NUM_TRIALS + 1} trainings and the attacks; empty: the strength is as set.",
    ),
]


@dataclass(frozen=True)
class Trial:
    """A strength, the AUC of each attack on the held-out links, below 0.5: inverted, and the
    standard error of the strongest one's."""

    value: float
    by_attack: Mapping[str, float]
    error: float = 0.0

    @property
    def strongest(self) -> str:
        """The attack whose AUC is furthest from chance."""
        return max(self.by_attack, key=lambda key: abs(self.by_attack[key] - 0.5))

    @property
    def attack(self) -> float:
        """AUC of the strongest attack, inverted if below 0.5."""
        return 0.5 + abs(self.by_attack[self.strongest] - 0.5)

    @property
    def is_inverted(self) -> bool:
        """Whether the strongest attack ranks held-out links last: the strength is too great."""
        return self.by_attack[self.strongest] < 0.5


class FindsStrength(Defense):
    """A defense of given links that takes its strength as a setting or finds it.

    With a `target`, some of the graph's links, which are not the sensitive ones, are held out as
    if they were. They are defended at several strengths, each judged by the strongest of several
    attacks (those of `build_attacks`) on a draw, inverted if below chance; the weakest strength
    within the target then defends the sensitive links, else the weakest that is no worse than any
    but for noise; the facts say which. Links are held out uniformly: sensitive links of a kind that
    is easier to infer than others are protected less than the target says. Attackers that read
    features or degrees alone are not asked, as no strength stops them: on LastFM Asia the degree
    product has .79 at the weakest of five strengths tried and .77 at the strongest.
    """

    if TYPE_CHECKING:
        target: float | None  # declared by each method, below its strength

    @model_validator(mode="after")
    def check_strength(self) -> Self:
        """Raise if the strength is both set and to be found."""
        name = self._strength.setting
        if self.target is not None and name in self.changed:
            raise ValueError(f"{name} is found where a target is set: leave out one of the two")
        return self

    @property
    def _strength(self) -> Strength:
        assert self.acts_by is not None
        return self.acts_by

    @property
    def config(self) -> dict[str, Any]:
        """All settings as JSON; the target only if there is one: keys and seeds hash this."""
        return {k: v for k, v in super().config.items() if k != "target" or v is not None}

    @property
    def _titled(self) -> str:
        return "target" if self.finds_strength else super()._titled

    @property
    def finds_strength(self) -> bool:
        return self.target is not None

    def publish(self, graph: Graph, threats: Threats, context: Context) -> Release:
        check_support(self.info.title, self.supports(graph, threats))
        if self.target is None:
            return self.protect(graph, threats, context)
        trials = find_strength(self, graph, threats, self.target, context)
        best = choose_trial(trials, self.target, self._strength)
        progress = PartProgress(context.progress, NUM_TRIALS, NUM_TRIALS + 1)
        release = self.set_strength(best.value).protect(
            graph, threats, replace(context, progress=progress)
        )
        points = sorted((trial.value, trial.attack) for trial in trials)
        facts = {
            f"found_{self._strength.setting}": best.value,
            "estimated_attack_auc": best.attack,
            **{f"estimated_auc_of_{key}": value for key, value in best.by_attack.items()},
            "meets_target": float(best.attack <= self.target),
            "strengths_tried": float(len(trials)),
        }
        return replace(
            release,
            config=self.config,
            curves={FRONTIER: points, **release.curves},
            facts={**release.facts, **facts},
        )

    def set_strength(self, value: float) -> Self:
        """This defense at a strength, without a target."""
        settings = {**self.config, "target": None, self._strength.setting: value}
        return type(self).model_validate(settings)

    @abstractmethod
    def protect(self, graph: Graph, threats: Threats, context: Context) -> Release:
        """A release at the strength that is set."""


def find_strength(
    defense: FindsStrength, graph: Graph, threats: Threats, target: float, context: Context
) -> list[Trial]:
    """Strengths of the ladder tried by bisection: weaker where the target is met or the strongest
    attack is inverted, else stronger; ends within a standard error below the target. Uses the
    number of sensitive links, and no pair of them."""
    own = hold_out(graph, threats, context)
    strength = defense.acts_by
    assert strength is not None
    weak, strong = 0.0, 1.0
    trials: list[Trial] = []
    for number in range(NUM_TRIALS):
        place = 0.5 * (weak + strong)
        progress = PartProgress(context.progress, number, NUM_TRIALS + 1)
        inner = replace(context.child("trial", number), progress=progress)
        value = _find_value(strength, place)
        trial = try_strength(defense.set_strength(value), own, inner)
        trials.append(trial)
        context.progress.record(FRONTIER, value, trial.attack)
        if target - trial.error <= trial.attack <= target:
            break
        if trial.attack <= target or trial.is_inverted:
            strong = place
        else:
            weak = place
    return trials


def try_strength(defense: FindsStrength, threats: Threats, context: Context) -> Trial:
    """AUC of each attack that can run on the links withheld from a release of `defense`."""
    assert threats.link is not None
    assert defense.acts_by is not None
    release = defense.protect(threats.visible, threats, context)
    found, errors = {}, {}
    for key, attack in build_attacks().items():
        if attack.supports(release, threats.link) is None:
            scores = attack.score(release, threats.link, context.child(key)).scores
            auc, influence = compute_auc(scores, threats.link.truth)
            found[key], errors[key] = float(auc), float(np.sqrt((influence**2).sum()))
    trial = Trial(release.config[defense.acts_by.setting], found)
    return replace(trial, error=errors[trial.strongest])


def choose_trial(trials: list[Trial], target: float, strength: Strength) -> Trial:
    """The weakest within the target; if none is, the weakest within a standard error of the lowest
    attack AUC, below which more strength would only follow noise."""
    lowest = min(trials, key=lambda trial: trial.attack)
    limit = target if lowest.attack <= target else lowest.attack + lowest.error
    sign = math.copysign(1.0, strength.strongest - strength.weakest)
    return min((t for t in trials if t.attack <= limit), key=lambda trial: sign * trial.value)


def hold_out(graph: Graph, threats: Threats, context: Context) -> Threats:
    """Threats on links of `graph` alone: as large a share as the sensitive links were, withheld,
    and non-links."""
    assert threats.link is not None
    num_secrets = len(threats.link.hidden)
    share = num_secrets / (num_secrets + graph.num_edges)
    least = min(LEAST_HELD_OUT / graph.num_edges, MOST_HELD_OUT)
    rng = context.rng("held out")
    rest, hidden, absent = hide_links(graph, max(share, least), graph.num_edges, rng, RATIO)
    prior = len(hidden) / max(graph.num_candidates - rest.num_edges, 1)
    return Threats(rest, LinkThreat(hidden, absent, prior))


def build_attacks() -> dict[str, LinkAttack]:
    """Attacks of different kinds that read links: neighbours, walks, two embeddings, each compared
    and classified."""
    kinds = (ResourceAllocation, Katz, Node2vecCosine, Node2vecSvc, GaeCosine, GaeSvc)
    return {kind.info.key: kind.model_validate({}) for kind in kinds}


def _find_value(strength: Strength, place: float) -> float:
    """Value at a place between 0, the weakest, and 1, the strongest."""
    ends = np.array([strength.weakest, strength.strongest])
    if not strength.is_log:
        return float(ends[0] + place * (ends[1] - ends[0]))
    low, high = np.log(ends)
    return float(np.exp(low + place * (high - low)))
