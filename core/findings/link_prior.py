"""Link risk at the graph's own density, beside that of the balanced test.

Link risk is reported for equally many withheld links and non-links. Among all pairs that the
release does not link, withheld links are far rarer; by Bayes the odds shrink by the prior odds,
and 1 of 100 wrongly accused are many more than the links found.

Chances are stored as each node's mean over its links. Bayes' rule is convex in the chance where
links are the rarer, so the mean moved is at most the mean of the moved chances (Jensen), and at
most also because calibration on m links gives none a chance beyond m / (m + 1): a bound is told.
"""

from __future__ import annotations

import math

import pandas as pd
from scipy.special import expit, logit

from core.audit.asked.spec import AuditSpec
from core.audit.results.view import AuditView
from core.findings.numbers import format_interval, format_number

BALANCED = "Link risk and its base rate are those where half of the pairs are links."
UNEVEN = "It is a mean over links: one that is surely found weighs more there."


def count_withheld(spec: AuditSpec, num_links: int) -> tuple[int, int]:
    """Links that are at stake, and those held back for usefulness or by name, of `num_links`."""
    named = {frozenset(pair) for pair in spec.threats.sensitive_links or ()}
    hidden = len(named)
    if spec.threats.sensitive_links is None:
        hidden = round((spec.threats.hide_links or 0.0) * num_links)
    if spec.held_back_links is not None:
        return hidden, len({frozenset(pair) for pair in spec.held_back_links} - named)
    return hidden, min(round(spec.test_links * num_links), num_links - hidden)


def count_pairs(view: AuditView) -> tuple[int, int] | None:
    """Withheld links, and all pairs that the visible graph does not link, as in each repeat; of two
    modes pairs across them alone.

    None if no links are withheld or no pair is left.
    """
    spec, num_links = view.spec, view.summary.num_edges
    if not spec.threats.has_links:
        return None
    hidden, held_back = count_withheld(spec, num_links)
    withheld = hidden + held_back
    n, modes = view.summary.num_nodes, view.load_graph().modes
    candidates = n * (n - 1) // 2 if modes is None else math.prod(modes.counts.tolist())
    pairs = candidates - (num_links - withheld)
    return (hidden, pairs) if 0 < hidden <= pairs else None


def find_link_prior(view: AuditView) -> float | None:
    """Share of withheld links among the pairs of `count_pairs`; None without any."""
    counts = count_pairs(view)
    return None if counts is None else counts[0] / counts[1]


def describe_accused(view: AuditView, share: float) -> str:
    """What accusing 1 of 100 unconnected pairs is in pairs, beside the withheld links that an
    attacker finds with it; "" if none are withheld or found.

    share  of the withheld links that it finds: TPR at 1 % FPR
    """
    counts = count_pairs(view)
    if counts is None or share <= 0:
        return ""
    hidden, pairs = counts
    unconnected = pairs - hidden
    right, wrong = share * hidden, 0.01 * unconnected
    odds = f"{format_count(wrong / right)} wrong for each right"
    if wrong < right:
        odds = f"{format_count(right / wrong)} right for each wrong"
    return (
        f"Of {format_count(unconnected)} unconnected pairs, 1 of 100 is {format_count(wrong)} "
        f"accused wrongly for {format_count(right)} withheld links found: {odds}."
    )


def format_count(value: float) -> str:
    """A number of two significant digits: 109,876 → "110,000", 42.4 → "42", 1.32 → "1.3"."""
    rounded = float(f"{value:.2g}")
    return f"{rounded:,.0f}" if rounded >= 10 else f"{rounded:g}"


def move_prior(chance: float, prior: float) -> float:
    """P(link | score) under `prior`, from the `chance` under equal priors."""
    if not (0.0 < chance < 1.0 and 0.0 < prior < 1.0):
        return min(max(chance, 0.0), 1.0)
    return float(expit(logit(chance) + logit(prior)))


def describe_link_prior(view: AuditView, node: str, release: str) -> str:
    """Sentence on a node's link risk in the balanced test and at the graph's density.

    "" if the release has no link risk of this node.
    """
    figures = view.nodes.list_figures(node, ("link", ""))
    row = next((one for one in figures if one.release == release), None)
    prior = find_link_prior(view)
    if row is None or prior is None:
        return ""
    interval = format_interval(row.risk, row.low, row.high)
    own = bound_moved(row.risk, prior)
    if not pd.isna(row.low):
        own += f", by the lower end {bound_moved(row.low, prior)}"
    return (
        f"{BALANCED} {describe_density(prior)}: there a risk of {interval} becomes {own}. {UNEVEN}"
    )


def bound_moved(risk: float, prior: float) -> str:
    """What a mean of chances `move_prior` to, as a bound: "at least 0.023"."""
    side = "at least" if prior <= 0.5 else "at most"
    return f"{side} {format_number(move_prior(risk, prior))}"


def describe_density(prior: float) -> str:
    """ "Of the pairs that the release does not link, 1 in 6,900 is a withheld link"."""
    return f"Of all pairs that are not linked, 1 in {1 / prior:,.0f} is a withheld link"


def describe_report_prior(view: AuditView) -> str:
    """Note below the report's table of nodes; "" without withheld links."""
    prior = find_link_prior(view)
    if prior is None:
        return ""
    shown = ", ".join(
        f"a risk of {risk} becomes {bound_moved(risk, prior)}" for risk in (0.9, 0.99)
    )
    return f"{BALANCED} {describe_density(prior)}: there {shown}. {UNEVEN}"
