"""The guarantee of a release as rows and sentences, for the guarantee card and the report.

(ε, δ)-DP bounds the change of anybody's odds on a secret by e^ε, whatever their other knowledge.
From prior odds p/(1−p) the posterior is at most σ(ε + ln p/(1−p)).
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pandas as pd
from scipy.special import expit, logit

from core.audit.results.view import ClaimRun
from core.findings.numbers import format_number
from core.registry import find_method
from core.release import Guarantee
from core.results import Estimate
from core.words import format_value

MODERATE, WEAK, VOID = 1.0, 3.0, 6.0
"""ε above which a guarantee is called moderate (even odds become 73 %), weak (95 %) and very
weak (99.8 %)."""

POINTS = 201
"""Points of the curve that a claim allows."""

TINY_SIGNAL = 1e-3
"""Ratio of gradient to noise below which training cannot have learned from the data."""

UNIT_TITLES = {
    "none": "nothing that could be proven",
    "edge": "one link",
    "link": "one entry of one person's list of links",
    "node": "all links of one person at once",
}
SECRETS = {
    "edge": "whether any one pair is linked",
    "link": "whether any one pair is linked",
    "node": "which links any one person has",
}
TRUST_TITLES = {
    "central": "central: the publisher holds the true graph",
    "local": "local: each person randomises their own list; nobody else sees it",
    "": "not stated",
}
EMPIRICAL = (
    "There is no formal guarantee. This audit measured the attacks that ran; a stronger attacker, "
    "or one who knows more, may do better."
)
UNKNOWN = (
    "The release was made elsewhere. Any guarantee that it has is not known and was not checked."
)
VOID_DELTA = (
    "That promises nothing, since δ is above one in the number of nodes: publishing one node at "
    "random with all that is known of it would keep to it. Rely on the measured attacks."
)
NOT_PROVEN = (
    "That does not prove the claim: a better attacker, another pair of neighbouring graphs or more "
    "trials may show more."
)


def list_guarantee_rows(guarantee: Guarantee) -> list[tuple[str, str]]:
    """Name and value of everything that a guarantee states."""
    if not guarantee.is_private:
        protects = UNIT_TITLES["none"] if guarantee.is_known else "not known"
        return [("Guarantee", guarantee.label), ("Protects", protects)]
    return [
        ("Protects", UNIT_TITLES[guarantee.unit]),
        ("Neighbouring", guarantee.relation or "not stated"),
        ("Budget", describe_budget(guarantee)),
        ("Accountant", guarantee.accountant or "not stated"),
        ("Trust", TRUST_TITLES[guarantee.trust]),
        ("Not covered", ", ".join(guarantee.not_covered) or "nothing stated"),
    ]


def describe_budget(guarantee: Guarantee) -> str:
    """ε, δ and the other parts of the budget, in words."""
    received, chance = guarantee.epsilon_received, guarantee.delta_received
    parts = [f"ε = {received:g}" if received is not None else "ε not stated"]
    if chance:
        parts.append(f"δ = {format_value(chance)}")
    if guarantee.epsilon_transcript is not None:
        parts.append(
            f"the recipient holds the reports of both ends of a link, {guarantee.epsilon:g} each"
        )
    if guarantee.epsilon_naive is not None:
        parts.append(f"naive composition would claim ε = {guarantee.epsilon_naive:.3g}")
    return "; ".join(parts)


def explain_guarantee(guarantee: Guarantee, num_nodes: int, density: float | None = None) -> str:
    """What an adversary may still learn under the guarantee, in plain words.

    num_nodes  of the graph, which bounds a δ that promises something
    density    share of linked pairs, the prior of an attacker without knowledge
    """
    if not guarantee.is_known:
        return UNKNOWN
    if not guarantee.is_private:
        return EMPIRICAL
    epsilon = guarantee.epsilon_received
    if epsilon is None:
        return "The budget is not stated, so the guarantee cannot be put in numbers."
    chance = guarantee.delta_received
    but = f", but for a chance of {format_value(chance)}" if chance else ""
    text = (
        f"The release multiplies anybody's odds on {SECRETS[guarantee.unit]} by at most "
        f"{_format_factor(epsilon)}{but}, whatever else they know. Even odds may become "
        f"{_format_chance(bound_chance(0.5, epsilon))}"
    )
    if density and guarantee.unit != "node":
        text += (
            f"; a prior at the density of this graph, {_format_chance(density)}, may become "
            f"{_format_chance(bound_chance(density, epsilon))}"
        )
    judged = VOID_DELTA if guarantee.promises_nothing(num_nodes) else _judge(epsilon)
    text = f"{text}. {judged}"
    if guarantee.unit != "node":
        text += " Patterns of many links, and what follows from them, are not hidden."
    return text


def explain_signal(facts: Mapping[str, Estimate]) -> str:
    """Ratio of signal to noise of methods trained by noisy gradients, as a sentence."""
    signal, noise = (facts.get(name) for name in ("gradient_norm", "noise_norm"))
    if signal is None or noise is None or not signal.value or not noise.value:
        return ""
    ratio = signal.value / noise.value
    text = f"In this audit the gradient of the data was {ratio:.0e} of the noise on it."
    if ratio < TINY_SIGNAL:
        text += (
            " The release carries next to nothing of the data. Compare it with its "
            "data-independent baseline: only what exceeds that came from the data."
        )
    return text


def explain_target(facts: Mapping[str, Estimate]) -> str:
    """Whether a defense that finds its strength met its target, as a sentence."""
    met, attack = (facts.get(name) for name in ("meets_target", "estimated_attack_auc"))
    if met is None or attack is None or met.value is None or attack.value is None:
        return ""
    outcome = "met its target"
    if met.value < 1:
        outcome += " in some repeats only" if met.value else " at no strength that it tried"
    return (
        f"On links held out for this, the strongest of its attacks had an AUC of "
        f"{format_number(attack.value)}: the defense {outcome}."
    )


def bound_chance(prior: float, epsilon: float) -> float:
    """Largest posterior probability under an ε-DP release for a prior in (0, 1)."""
    return float(expit(epsilon + logit(prior)))


def explain_claim(run: ClaimRun) -> str:
    """Result of a finished claim check, and its limits."""
    if run.check is None or run.check.is_refuted:
        return describe_outcome(run)
    return f"{describe_outcome(run)} {NOT_PROVEN}"


def describe_outcome(run: ClaimRun) -> str:
    """The outcome of the check and details of this method."""
    check = run.check
    if check is None:
        return ""
    if check.is_refuted:
        return f"{check.verdict} Do not publish with this mechanism."
    sentences = [check.verdict]
    if check.unit == "link" and check.claimed == 2 * check.config.get("epsilon", 0):
        sentences.append("Both ends report a link, so the game is held to 2ε.")
    sentences.append(find_method(check.defense, "defense").info.claim_blind_spot)
    return " ".join(filter(None, sentences))


def compute_claim_region(epsilon: float, delta: float) -> pd.DataFrame:
    """false, low, high: true positive rates that (ε, δ)-DP allows at each false positive rate
    (Kairouz, Oh and Viswanath, ICML 2015, Theorem 2.1).

    A test and its complement are both bounded, so the region is max(0, e^{−ε}(q − δ), 1 − e^ε (1 −
    q) − δ) ≤ p ≤ min(1, e^ε q + δ, 1 − e^{−ε}(1 − q − δ)).
    """
    grow, shrink = math.exp(min(epsilon, 700.0)), math.exp(-epsilon)
    corner = min(1.0, (1 - delta) / (1 + grow))
    q = np.unique(np.concatenate([np.linspace(0, 1, POINTS), [corner, 1 - corner]]))
    high = np.minimum(np.minimum(1.0, grow * q + delta), 1 - shrink * (1 - q - delta))
    low = np.maximum(np.maximum(0.0, shrink * (q - delta)), 1 - grow * (1 - q) - delta)
    return pd.DataFrame({"false": q, "low": low, "high": np.minimum(high, 1.0)})


def _judge(epsilon: float) -> str:
    if epsilon > VOID:
        return "That is next to nothing: rely on the measured attacks, not on the guarantee."
    if epsilon > WEAK:
        return "That is a weak guarantee: rely on the measured attacks as well."
    if epsilon > MODERATE:
        return "That is a moderate guarantee."
    return "That is a strong guarantee."


def _format_factor(epsilon: float) -> str:
    factor = math.exp(min(epsilon, 700.0))
    return f"e^{epsilon:g} = {format_number(factor)}" if factor < 1e6 else f"e^{epsilon:g}"


def _format_chance(share: float) -> str:
    """Percentage that never rounds to certainty."""
    percent = 100 * share
    if percent > 99.995:
        return "all but 100 %"
    if 1 <= percent < 99:
        return f"{percent:.0f} %"
    return f"{percent:.1f} %" if 0.1 <= percent < 99.9 else f"{percent:.2f} %"
