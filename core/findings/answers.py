"""One-sentence summaries of results with their figures, shown at the top of each page.

The sentences contain titles of methods and measures and numbers, but no user data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from core.audit.asked.release_info import parse_release
from core.audit.asked.scenarios import Threat
from core.audit.results.node_risks import NodeRisks
from core.audit.store.states import State
from core.findings.beat_baseline import compare_with_baseline, describe_comparisons
from core.findings.differences import compare_rows, is_clear
from core.findings.inverted_scores import (
    INVERTIBLE,
    describe_inverted,
    describe_strength,
    format_strength,
    invert_scores,
)
from core.findings.labels import LOW_FPR, THREAT_WORDS, method_name, metric_title, release_title
from core.findings.numbers import (
    format_estimate,
    format_interval,
    format_mean,
    format_number,
    format_row,
)
from core.findings.people import Secret, list_secrets
from core.findings.tables import attack_rows, compute_worst_attacks, main_metric, select_results
from core.findings.tradeoff import compute_admissible, find_best_release, list_equally_useful
from core.measures.node_risk import ADVANTAGE_LIMIT
from core.nouns import PEOPLE, Noun
from core.release import ORIGINAL
from core.results import RELEASE
from core.words import begin_sentence, format_percent


def answer_attack(results: pd.DataFrame, threat: Threat) -> str:
    """Whether the strongest attack on the original beats the strongest baseline, at a low FPR and
    overall."""
    found = compare_with_baseline(results, threat, ORIGINAL)
    if not found:
        return f"No attack that could {THREAT_WORDS[threat].aim} has finished yet."
    return describe_comparisons(found)


def answer_odds(results: pd.DataFrame) -> str:
    """Precision among the first hundred pairs named on the original; "" if it was not computed."""
    rows = select_results(results, "precision_at_100", [ORIGINAL])
    if rows.empty:
        return ""
    best = rows.loc[rows.value.idxmax()]
    return (
        f"Of the 100 unlinked pairs that {best.attack.title} ranks highest, a share of "
        f"{format_row(best)} are withheld links."
    )


def answer_defense(results: pd.DataFrame, threat: Threat) -> str:
    """The release that lowers the worst case most, at a low FPR and by the headline metric.

    The two need not be the same release.
    """
    title = THREAT_WORDS[threat].title
    sentences: list[str] = []
    for metric in filter(None, dict.fromkeys((LOW_FPR, main_metric(results, threat)))):
        worst = _keep_tried(compute_worst_attacks(results, metric, threat), results)
        text = _describe_lowest(worst.set_index("release"))
        if text:
            start = "Overall, the" if sentences else f"{title}: the"
            sentences += [f"{start} strongest attack {text}"]
        if text and metric in INVERTIBLE:
            sentences += [describe_inverted(worst)]
    return " ".join(filter(None, sentences))


def _keep_tried(worst: pd.DataFrame, results: pd.DataFrame) -> pd.DataFrame:
    """Drop releases on which the original's strongest attack is still pending.

    Releases that the attack cannot run on are kept.
    """
    strongest = worst[worst.release == ORIGINAL].method
    if strongest.empty:
        return worst
    ended = results.status.isin([State.DONE, State.SKIPPED])
    tried = results[ended & (results.method == strongest.iloc[0])].release
    return worst[worst.release.isin(tried)]


def _describe_lowest(worst: pd.DataFrame) -> str:
    """ "finds 0.43 … on the original. With X it falls to 0.05 by Y."; "" if there is nothing to
    compare. `worst` is `compute_worst_attacks`, indexed by release."""
    defended = worst[np.array([made.is_defended for made in worst.made], bool)]
    if defended.empty or ORIGINAL not in worst.index:
        return ""
    best, before = defended.loc[defended.value.idxmin()], worst.loc[ORIGINAL]
    change = f"does not fall: {format_strength(best)}"
    if best.value < before.value:
        verb = "falls to" if is_clear(best, before) else "is not clearly lower:"
        change = f"{verb} {format_strength(best)} by {best.attack.title}"
        paired = compare_rows(before, best)
        if paired is not None:
            change += f", a change of {format_estimate(paired)} on the same splits"
    strength = describe_strength(before.metric, format_strength(before))
    return f"{strength} on the original. With {best.made.title} it {change}."


def answer_risk(nodes: NodeRisks, noun: Noun = PEOPLE) -> str:
    """Number of nodes exposed by each threat's headline attacker, on the original and on the
    release that exposes fewest, then who counts as exposed and the mean advantage."""
    table = nodes.exposed
    if table.empty:
        return "No node's risk is known yet."
    first = ORIGINAL if ORIGINAL in set(table.release) else table.release.iloc[0]
    best = find_least_exposing(nodes)
    sentences = []
    for row in table[table.release == first].itertuples():
        head, where = begin_sentence(_describe_secret(row)), method_name(first)
        text = f"{head} exposes {row.exposed:,} of {noun.count(row.n)} on {where}"
        means = f"{format_mean(row.mean, row.sd, row.n)} on {where}"
        same = (table.release == best) & (table.threat == row.threat)
        other = table[same & (table.target == row.target)]
        if best is not None and best != first and len(other):
            after = next(other.itertuples())
            text += f", and {after.exposed:,} with {release_title(str(best))}"
            means += (
                f", {format_mean(after.mean, after.sd, after.n)} with {release_title(str(best))}"
            )
        sentences.append(
            f"{text}. Exposed: advantage above {ADVANTAGE_LIMIT:g} by {row.attacks}, {row.how}. "
            f"Mean advantage: {means}."
        )
    return " ".join(sentences)


def list_risks(nodes: NodeRisks, noun: Noun = PEOPLE) -> list[tuple[str, str]]:
    """`answer_risk` and `answer_bound` of each secret separately."""
    each = [nodes.select(secret=secret) for secret in list_secrets(nodes)] or [nodes]
    return [(answer_risk(rows, noun), answer_bound(rows)) for rows in each]


def answer_bound(nodes: NodeRisks) -> str:
    """Upper bound on exposure on the original: nodes exposed by any attack, chosen in hindsight,
    beside what as many guessing attackers reach."""
    return " ".join(
        f"Upper bound for {_describe_secret(row)}: {row.exposed:,} of {row.n:,}, with "
        "the best attack of each node chosen in hindsight. Guessing would reach "
        f"{format_percent(row.noise)}."
        for row in nodes.select([ORIGINAL]).bound.itertuples()
    )


def _describe_secret(row: Any) -> str:
    """ "attribute inference", "attribute inference of team" for a further column."""
    return THREAT_WORDS[row.threat].attack + (f" of {row.target}" if row.target else "")


def answer_inverted(results: pd.DataFrame, releases: Sequence[str]) -> str:
    """Attacks clearly below chance on these releases, and why this is no protection."""
    rows = attack_rows(results, "auc")
    return describe_inverted(invert_scores(rows[rows.release.isin(list(releases))]))


def answer_mechanisms(results: pd.DataFrame) -> list[str]:
    """One sentence per mechanism: its effect on the original, and the release that hides it
    best."""
    names = {
        "proximity": "a node's neighbours",
        "role": "a node's role peers",
        "combined": "a node's neighbours and role peers together",
    }
    sentences = []
    for key, who in names.items():
        ratios = select_results(results, f"ghratio_{key}", method=RELEASE).set_index("release")
        gaps = select_results(results, f"ghratio_{key}_gap", method=RELEASE).set_index("release")
        if ORIGINAL not in ratios.index or ORIGINAL not in gaps.index:
            continue
        gap = gaps.loc[ORIGINAL]
        is_blind = pd.isna(gap.low) or gap.low <= 0 <= gap.high
        if pd.isna(gap.low):
            verdict = "one repeat does not show whether this differs from chance"
        elif is_blind:
            verdict = "no more than chance gives"
        elif gap.value > 0:
            verdict = f"{format_row(gap)} more than chance"
        else:
            verdict = f"{format_interval(-gap.value, -gap.high, -gap.low)} less than chance"
        text = (
            f"On the original, {format_row(ratios.loc[ORIGINAL])} of {who} share its value: "
            f"{verdict}"
        )
        others = gaps.drop(index=ORIGINAL)
        if len(others) and not is_blind:
            best = others.loc[others.value.abs().idxmin()]
            text += f"; with {best.made.title} the difference is {format_row(best)}"
        sentences.append(text + ".")
    return sentences


def answer_tradeoff(
    table: pd.DataFrame,
    limit: float,
    risk: str,
    utility: str,
    refused: Mapping[str, str] | None = None,
) -> str:
    """The most useful defended release within `limit` that no other threat rules out.

    table    `compute_tradeoff` of one threat
    refused  release → reason why the policy refuses it
    """
    if table.empty:
        return "No release has both numbers yet."
    refused = refused or {}
    rows = table.set_index("release", drop=False)
    best_id = find_best_release(table, limit, utility, refused)
    admissible = set(table.release[compute_admissible(table, limit)])
    barred = _bar(rows.title[rows.index.isin(admissible & set(refused))], refused)
    within = f"{metric_title(risk)} at or below {format_number(limit)}, interval included"
    if not admissible:
        lowest = rows.loc[rows.risk.idxmin()]
        value = format_interval(lowest.risk, lowest.risk_low, lowest.risk_high)
        return f"No release keeps {within}; the lowest is {value} on {lowest.title}."
    keep = f"{len(admissible)} of {len(table)} releases keep {within}"
    if best_id is None:
        others = barred or "Only the original is: add a defense."
        return f"{keep}, but none of them can be recommended. {others}"
    passing = {made.id for made in rows.made if made.is_defended} & admissible - set(refused)
    tied = list_equally_useful(table, best_id, passing)
    rank = "as useful as any within noise" if tied else "the most useful"
    if len(passing) == 1:
        rank = "the only one to recommend"
    best, useful = rows.loc[best_id], rows.apply(_format_utility, axis=1)
    beside = f" (the original: {useful[ORIGINAL]})" if ORIGINAL in rows.index else ""
    value = format_interval(best.risk, best.risk_low, best.risk_high)
    inverted = " (that attack is clearly wrong, and counts inverted)" if best.is_inverted else ""
    return (
        f"{keep}. Of these, {best.title} is {rank}: {metric_title(utility)} {useful[best_id]}"
        f"{beside} at a risk of {value}{inverted}. {barred}"
    ).strip()


def _format_utility(row: pd.Series) -> str:
    return format_interval(row.utility, row.utility_low, row.utility_high)


def _bar(titles: pd.Series, refused: Mapping[str, str]) -> str:
    """Releases (id → title) that satisfy this threat but are refused because of another one."""
    if titles.empty:
        return ""
    parts = [f"{title}, {refused[str(release)]}" for release, title in titles[:3].items()]
    more = [f"{len(titles) - 3} more"] if len(titles) > 3 else []
    return f"Refused under other limits: {'; '.join(parts + more)}."


def find_least_exposing(nodes: NodeRisks, secret: Secret | None = None) -> str | None:
    """The defended release with the smallest mean advantage of the headline attacker, against one
    secret or against the worst of each node."""
    found = filter(None, (nodes.find_headline(release, secret) for release in nodes.releases))
    means = {
        one.release: one.advantage.mean() for one in found if parse_release(one.release).is_defended
    }
    return min(means, key=means.__getitem__, default=None)
