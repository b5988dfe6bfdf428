"""Empirical check of a guarantee by the distinguishing game on two neighbouring graphs.

The defense runs many times on either graph. An attacker chooses one rule "statistic at least (at
most) t" that says which graph it was. If the rule accuses the first graph with probability P under
it and Q under the other, (ε, δ)-DP requires P ≤ e^ε Q + δ, so that

  ε ≥ ln((P − δ) / Q).

Clopper–Pearson bounds on P and Q turn error counts into a lower bound on ε at 95 % confidence. The
rule is chosen on the first quarter of the trials and evaluated on the rest, so that the choice
needs no correction; there are three looks, for early stopping, which share the 5 %. A bound above
the claim refutes it. A bound below proves nothing: the attacker may be weak, or the trials too few.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from core.context import Context
from core.errors import InputError, UnsupportedError, check_support
from core.graph import Graph
from core.methods import Defense
from core.progress import Progress
from core.release import Guarantee, Release
from core.threats import Threats

CONFIDENCE = 0.95
MIN_TRIALS = 40
DEFAULT_TRIALS = 2000
MOST_TRIALS = 20_000
"""Smallest and largest number of trials chosen by default."""

LOOKS = (0.5, 0.75, 1.0)
"""Shares of the trials at which the bound is computed; the first quarter chooses the rule."""

CHOICE_ALPHAS = (0.001, 0.02, 0.2, 0.9)
"""Error rates at which rules are compared, the first with any valid rule being used. Small,
since the best of many rules is biased; larger ones for few trials."""

MAX_THRESHOLDS = 60
"""Thresholds compared per statistic: the best of many rules is biased."""

Statistic = Callable[[Release], Sequence[float]]
Describe = Callable[[Release], Mapping[str, Any]]


@dataclass(frozen=True)
class Rule:
    """Accuse `accused` (0 or 1) if sign · statistic ≥ threshold."""

    statistic: int
    sign: float
    threshold: float
    accused: int

    def judge(self, statistics: np.ndarray) -> np.ndarray:
        """(t,) whether each trial's statistic satisfies the rule."""
        return self.sign * statistics[:, self.statistic] >= self.threshold


@dataclass(frozen=True)
class ClaimCheck:
    """Outcome of one game.

    claimed      ε that the release may not exceed between these two graphs
    lower_bound  lower bound on ε with 95 % confidence, ≥ 0
    resolution   largest bound possible with that many trials; larger claims cannot be refuted
    trials       runs of the defense on both graphs together;  planned  maximum allowed
    roc          (k, 2) false and true accusation rates of the chosen statistic, evaluation trials
    statistic    name of the statistic
    num_claims   checks that shared the error rate
    """

    defense: str
    config: dict[str, Any]
    unit: str
    claimed: float
    delta: float
    lower_bound: float
    resolution: float
    trials: int
    planned: int
    statistic: str
    roc: np.ndarray

    num_claims: int = 1

    @property
    def is_testable(self) -> bool:
        """Whether that many trials could have refuted the claim."""
        return self.resolution > self.claimed

    @property
    def outcome(self) -> str:
        """Table entry: "refuted", "not refuted", or "not testable with 2,000 trials"."""
        if self.is_refuted:
            return "refuted"
        return "not refuted" if self.is_testable else f"not testable with {self.trials:,} trials"

    @property
    def is_refuted(self) -> bool:
        return self.lower_bound > self.claimed

    @property
    def verdict(self) -> str:
        """The result in one sentence."""
        shown = f"ε ≥ {self.lower_bound:.2f} with 95 % confidence in {self.trials:,} trials"
        if self.is_refuted:
            return f"The claim ε = {self.claimed:g} does not hold: the game shows {shown}."
        if not self.is_testable:
            return (
                f"The claim ε = {self.claimed:g} is not testable with {self.trials:,} trials: "
                f"they could show at most ε = {self.resolution:.2f}."
            )
        return f"The claim ε = {self.claimed:g} was not refuted: the game shows {shown}."

    def describe(self) -> dict[str, Any]:
        """Everything as JSON, for the store and the report."""
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {**fields, "roc": self.roc.tolist(), "verdict": self.verdict}

    @staticmethod
    def restore(description: dict[str, Any]) -> ClaimCheck:
        """The check from its JSON fields."""
        names = ClaimCheck.__dataclass_fields__
        fields = {name: description[name] for name in names if name in description}
        return ClaimCheck(**{**fields, "roc": np.array(description["roc"])})


def check_claim(
    defense: Defense,
    context: Context,
    *,
    neighbors: tuple[Graph, Graph] | None = None,
    trials: int | None = None,
    describe: Describe | None = None,
    num_claims: int = 1,
) -> ClaimCheck:
    """Play the game for the configured `defense`, drawing noise as in a publishing run.

    trials      by default as many as can refute the claim, see `choose_trials`
    describe    Release ↦ published metadata, whose numbers are used as statistics beside the links
                where the graphs differ, at those nodes, and in total
    num_claims  simultaneous checks, each held to a share of the error rate (Bonferroni)

    neighbors   two neighbouring graphs on the same nodes; by default a small pair, since a
                guarantee must hold for every pair and runs on it are cheap

    Raises UnsupportedError for a defense without guarantee or that does not support the graphs.
    """
    if trials is not None and trials < MIN_TRIALS:
        raise InputError("number of trials", f"must be at least {MIN_TRIALS}", trials)
    inner = replace(context, progress=_CancelOnly(context.progress), is_publishing=True)
    first = _publish_first(defense, inner, neighbors)
    guarantee = first.guarantee
    left, right = neighbors or make_neighbors(guarantee.unit)
    statistic = make_statistic(left, right)
    metadata = _WrittenNumbers(describe or _describe, first)
    claimed = guarantee.epsilon_received or 0.0
    trials = choose_trials(guarantee, num_claims) if trials is None else trials
    alpha = (1 - CONFIDENCE) / len(LOOKS) / num_claims
    delta, per_side = guarantee.delta, trials // 2
    num_choosing = per_side // 4
    looks = [round(share * per_side) for share in LOOKS]
    samples: tuple[list[tuple[float, ...]], list[tuple[float, ...]]] = ([], [])
    rule, bound = Rule(0, 1.0, 0.0, 0), 0.0
    for trial in range(per_side):
        for side, graph in enumerate((left, right)):
            trial_context = inner.child("claim check", side, trial)
            release = defense.publish(graph, Threats(graph), trial_context).strip()
            samples[side].append((*statistic(release), *metadata.read(release)))
        played = trial + 1
        so_far = f": ε ≥ {bound:.2f} so far" if bound else ""
        context.progress.update(played, per_side, f"checking the claim{so_far}")
        if played == num_choosing:
            rule = _choose_rule(np.array(samples[0]), np.array(samples[1]), delta)
        if played in looks:
            evaluated = tuple(np.array(part[num_choosing:]) for part in samples)
            bound = max(bound, _bound_by_rule(rule, evaluated[0], evaluated[1], delta, alpha))
            context.progress.record("claim_lower_bound", 2 * played, bound)
            if bound > claimed:
                break
    return ClaimCheck(
        defense.info.key,
        defense.config,
        guarantee.unit,
        claimed,
        delta,
        lower_bound=bound,
        resolution=compute_resolution(len(evaluated[0]), delta, alpha),
        trials=2 * played,
        planned=2 * per_side,
        statistic=(*STATISTICS, *metadata.names)[rule.statistic],
        roc=_compute_roc(rule, evaluated[0], evaluated[1]),
        num_claims=num_claims,
    )


def compute_resolution(count: int, delta: float, alpha: float) -> float:
    """Largest bound that `count` evaluation trials per side can give: all trials of
    one graph are accused and none of the other."""
    return float(compute_lower_bound(count, count, 0, count, delta, alpha))


def choose_trials(guarantee: Guarantee, num_claims: int = 1) -> int:
    """Number of trials able to refute the claim: DEFAULT_TRIALS to MOST_TRIALS, doubled until
    the largest possible bound is ½ above it. DEFAULT_TRIALS if none is enough."""
    alpha, claimed = (1 - CONFIDENCE) / len(LOOKS) / num_claims, guarantee.epsilon_received or 0.0
    trials = DEFAULT_TRIALS
    while trials <= MOST_TRIALS:
        per_side = trials // 2
        if compute_resolution(per_side - per_side // 4, guarantee.delta, alpha) > claimed + 0.5:
            return trials
        trials *= 2
    return DEFAULT_TRIALS


def compute_lower_bound(
    hits: ArrayLike,
    trials: int,
    false_hits: ArrayLike,
    false_trials: int,
    delta: float,
    alpha: float,
) -> np.ndarray:
    """Lower bound on ε with confidence 1 − alpha from two error counts, ≥ 0; of any shape.

    Each rate has a one-sided Clopper–Pearson bound at alpha/2, so that both hold together.
    """
    from scipy.stats import beta

    hit_counts, false_counts = np.asarray(hits), np.asarray(false_hits)
    low = np.where(
        hit_counts > 0, beta.ppf(alpha / 2, np.maximum(hit_counts, 1), trials - hit_counts + 1), 0.0
    )
    high = beta.isf(alpha / 2, false_counts + 1, np.maximum(false_trials - false_counts, 1))
    high = np.where(false_counts < false_trials, high, 1.0)
    return np.log(np.maximum((low - delta) / high, 1.0))


def make_neighbors(unit: str, num_nodes: int | None = None) -> tuple[Graph, Graph]:
    """A ring with chords, 2 links per node, with and without one more link, or a hub's links.

    150 nodes for a link: sparse, so that a link matters where only the largest noisy values are
    published; 24 for a node, for which runs are expensive.
    """
    n = num_nodes or (24 if unit == "node" else 150)
    nodes = np.arange(1, n)
    ring = np.concatenate([np.stack([nodes, np.roll(nodes, step)], 1) for step in (1, 2)])
    others = nodes if unit == "node" else nodes[:1]
    extra = np.stack([np.zeros_like(others), others], axis=1)
    with_links = Graph.from_pairs(np.concatenate([ring, extra]), n, name="with")
    return with_links, Graph.from_pairs(ring, n, name="without")


STATISTICS = ("links in question", "links at their ends", "links in all")


def make_statistic(left: Graph, right: Graph) -> Statistic:
    """The release's (weighted) links where the two graphs differ, + for `left`, − for `right`;
    at the nodes of those pairs; in all."""
    only_left = left.edges[~right.contains_pairs(left.edges)]
    only_right = right.edges[~left.contains_pairs(right.edges)]
    pairs = np.concatenate([only_left, only_right])
    if not len(pairs):
        raise InputError("neighbouring graphs", "must differ in at least one link")
    signs = np.repeat([1.0, -1.0], [len(only_left), len(only_right)])
    nodes = np.unique(pairs)

    def compute(release: Release) -> tuple[float, ...]:
        adjacency = release.graph.adjacency
        inside = float((signs * adjacency[pairs[:, 0], pairs[:, 1]]).sum())
        return inside, float(adjacency[nodes].sum()), float(adjacency.sum()) / 2

    return compute


def _publish_first(
    defense: Defense, context: Context, neighbors: tuple[Graph, Graph] | None
) -> Release:
    """A first release with its guarantee, not counted as a trial."""
    graph = (neighbors or make_neighbors("edge"))[0]
    check_support(defense.info.title, defense.supports(graph, Threats(graph)))
    release = defense.publish(graph, Threats(graph), context.child("claim")).strip()
    if not release.guarantee.is_private:
        raise UnsupportedError(
            defense.info.title, "must guarantee differential privacy to have a claim to check"
        )
    return release


def _describe(release: Release) -> dict[str, Any]:
    return {"facts": release.facts, "guarantee": asdict(release.guarantee)}


class _WrittenNumbers:
    """Numbers in the published metadata, by the names of the first release."""

    def __init__(self, describe: Describe, first: Release) -> None:
        self._describe = describe
        self.names = sorted(_list_numbers(describe(first)))

    def read(self, release: Release) -> tuple[float, ...]:
        numbers = _list_numbers(self._describe(release))
        return tuple(numbers.get(name, -1.0) for name in self.names)


def _list_numbers(value: Any, name: str = "written") -> dict[str, float]:
    if isinstance(value, Mapping):
        parts = [_list_numbers(part, f"{name}: {key}") for key, part in value.items()]
        return {key: number for part in parts for key, number in part.items()}
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return {name: float(value)} if is_number else {}


def _choose_rule(left: np.ndarray, right: np.ndarray, delta: float) -> Rule:
    """The rule with the largest bound on the given trials (n, k) of either side."""
    for alpha in CHOICE_ALPHAS:
        best, rule = max(_list_best_rules(left, right, delta, alpha), key=lambda pair: pair[0])
        if best > 0:
            break
    return rule


def _list_best_rules(
    left: np.ndarray, right: np.ndarray, delta: float, alpha: float
) -> Iterator[tuple[float, Rule]]:
    """Best threshold and bound per statistic, direction and accused graph."""
    for index in range(left.shape[1]):
        for sign in (1.0, -1.0):
            values = [np.sort(sign * part[:, index]) for part in (left, right)]
            thresholds = _list_thresholds(np.concatenate(values))
            hits = [len(v) - np.searchsorted(v, thresholds) for v in values]
            for accused in (0, 1):
                bounds = compute_lower_bound(
                    hits[accused], len(left), hits[1 - accused], len(right), delta, alpha
                )
                best = int(bounds.argmax())
                yield float(bounds[best]), Rule(index, sign, float(thresholds[best]), accused)


def _list_thresholds(values: np.ndarray) -> np.ndarray:
    """Distinct values, or MAX_THRESHOLDS quantiles if there are more."""
    distinct = np.unique(values)
    if len(distinct) <= MAX_THRESHOLDS:
        return distinct
    return np.unique(np.quantile(values, np.linspace(0, 1, MAX_THRESHOLDS)))


def _bound_by_rule(
    rule: Rule, left: np.ndarray, right: np.ndarray, delta: float, alpha: float
) -> float:
    sides = (left, right)
    hits = [int(rule.judge(part).sum()) for part in sides]
    yes, no = rule.accused, 1 - rule.accused
    return float(
        compute_lower_bound(hits[yes], len(sides[yes]), hits[no], len(sides[no]), delta, alpha)
    )


def _compute_roc(rule: Rule, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """(k, 2) rates of accusing `rule.accused` falsely and truly, over all thresholds."""
    values = [np.sort(rule.sign * part[:, rule.statistic]) for part in (left, right)]
    thresholds = np.append(_list_thresholds(np.concatenate(values))[::-1], -np.inf)
    rates = [1 - np.searchsorted(v, thresholds) / len(v) for v in values]
    curve = np.stack([rates[1 - rule.accused], rates[rule.accused]], axis=1)
    return np.concatenate([[[0.0, 0.0]], curve])


class _CancelOnly(Progress):
    """Progress that only allows cancelling."""

    def __init__(self, outer: Progress) -> None:
        self._outer = outer

    def check(self) -> None:
        self._outer.check()
