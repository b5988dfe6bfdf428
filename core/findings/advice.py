"""Advice for one node as sentences and tables: links to hide, effect on risk, cost in usefulness.

Node names appear in the tables only.
"""

from __future__ import annotations

import pandas as pd

from core.audit.computing.advice import Advice
from core.findings.labels import metric_title
from core.findings.numbers import format_estimate, format_number
from core.words import format_percent


def describe_advice(advice: Advice) -> str:
    """Effect of hiding all advised links on the node's risk."""
    count = len(advice.links)
    title = advice.request.attack.make().title
    before = format_estimate(advice.estimate_risk(0))
    if not count:
        return (
            f"No link was found whose hiding would lower the risk under {title}, "
            f"{before} over {advice.request.num_repeats} repeats."
        )
    links = "this link" if count == 1 else f"these {count} links"
    change = advice.estimate_change(count)
    after = format_estimate(advice.estimate_risk(count))
    if change.high is not None and change.high < 0:
        head = f"Hide {links}: {before} → {after}"
    elif change.low is not None and change.low > 0:
        head = f"Hiding {links} makes it worse: {before} → {after}"
    else:
        head = f"Hiding {links} is not shown to help: {before} → {after}"
    return (
        f"{head} under {title}. The change is {format_estimate(change)} over "
        f"{advice.request.num_repeats} repeats. Without any attack the risk is "
        f"{format_number(advice.base)}, the share of its class."
    )


def describe_advice_cost(advice: Advice) -> str:
    """Links lost and change in usefulness, or "" if there are no links."""
    count = len(advice.links)
    if not count:
        return ""
    share = count / max(advice.num_links, 1)
    shown = format_percent(share) if share >= 0.001 else "less than 0.1 %"
    text = (
        f"It costs {count} of {advice.num_links:,} links ({shown}), {advice.num_own} of them "
        f"among its own {advice.degree:,}"
    )
    change = advice.estimate_utility_change()
    if change is None:
        return f"{text}."
    return f"{text}; {metric_title(advice.utility_metric)} changes by {format_estimate(change)}."


def compute_advice_steps(advice: Advice) -> pd.DataFrame:
    """One row per link to hide: links hidden so far, the neighbour, and the risk measured then.

    Attacks that take minutes are run with all links hidden only; "–" in between.
    """
    rows = [("0", "–", "–", format_estimate(advice.estimate_risk(0)), "–")]
    for count, link in enumerate(advice.links, start=1):
        is_tried = count in advice.risks
        rows.append(
            (
                str(count),
                f"{link.source} – {link.target}",
                "its own" if link.is_own else "near it",
                format_estimate(advice.estimate_risk(count)) if is_tried else "–",
                format_estimate(advice.estimate_change(count)) if is_tried else "–",
            )
        )
    return pd.DataFrame(rows, columns=["Hidden", "Next link", "Whose", "Risk", "Change"])
