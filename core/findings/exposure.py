"""How many nodes are exposed on a release, by the headline attacker of each secret.

Page, PDF and command count by `list_exposures`; the map, which joins secrets, by `count_exposed`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from core.audit.asked.attack import Attack
from core.audit.asked.release_info import ReleaseInfo, list_phrases
from core.audit.asked.scenarios import THREAT_TITLES
from core.audit.results.node_risks import NodeRisks
from core.audit.results.view import AuditView
from core.findings.facts import Count
from core.findings.labels import THREAT_WORDS
from core.findings.numbers import format_mean
from core.findings.page_summary import MAX_CARDS, Card, PageSummary, find_check, list_checks
from core.findings.people import Secret, list_secrets
from core.findings.policy import Policy
from core.findings.tried import count_attacks
from core.measures.node_risk import ADVANTAGE_LIMIT
from core.nouns import PEOPLE, Noun
from core.release import ORIGINAL
from core.words import begin_sentence, count_noun, format_percent


@dataclass(frozen=True)
class Exposure:
    """Nodes that the headline attacker of a secret exposes on a release.

    count     of those at stake
    mean, sd  of the advantage over the base rate
    by        who the attacker is, and how it was chosen
    behind    attacks in all their forms among which it was chosen; else baseline ones
    """

    secret: Secret
    made: ReleaseInfo
    count: Count
    mean: float
    sd: float
    by: str
    behind: tuple[Attack, ...]

    @property
    def tried(self) -> str:
        """How many attacks stand behind the count: "3 quick attacks"."""
        kind = "baseline attacker" if self.behind[0].is_baseline else "attack"
        costs = {attack.method.info.cost for attack in self.behind if attack.method is not None}
        is_quick = costs == {"instant"} and kind == "attack"
        return count_noun(count_attacks(self.behind), f"quick {kind}" if is_quick else kind)

    @property
    def names(self) -> str:
        """Which ones: "Adamic–Adar, Jaccard"."""
        return ", ".join(dict.fromkeys(attack.name for attack in self.behind))

    @property
    def at_stake(self) -> int:
        assert self.count.total is not None
        return self.count.total

    @property
    def share(self) -> float:
        return self.count.value / self.at_stake

    @property
    def advantage(self) -> str:
        """Mean advantage with its interval."""
        return format_mean(self.mean, self.sd, self.at_stake)


def list_exposures(nodes: NodeRisks) -> list[Exposure]:
    """One per release and secret, in the order of the audit."""
    return [
        Exposure(
            Secret(row.threat, row.target),
            nodes.made[row.release],
            Count(int(row.exposed), int(row.n)),
            float(row.mean),
            float(row.sd),
            f"{row.attacks}, {row.how}",
            _list_behind(nodes.list_attacks(row.release, (row.threat, row.target))),
        )
        for row in nodes.exposed.itertuples()
    ]


def _list_behind(attacks: list[Attack]) -> tuple[Attack, ...]:
    return tuple(attack for attack in attacks if not attack.is_baseline) or tuple(attacks)


def group_exposures(nodes: NodeRisks) -> dict[Secret, dict[str, Exposure]]:
    """Secret → release id → exposure."""
    found: dict[Secret, dict[str, Exposure]] = {}
    for one in list_exposures(nodes):
        found.setdefault(one.secret, {})[one.made.id] = one
    return found


def count_exposed(advantage: np.ndarray | pd.Series) -> Count:
    """Exposed among nodes with these advantages, NaN for those not at stake."""
    known = np.asarray(advantage, float)
    known = known[~np.isnan(known)]
    return Count(int((known > ADVANTAGE_LIMIT).sum()), len(known))


def find_least_exposing(nodes: NodeRisks, secret: Secret | None = None) -> str | None:
    """The defended release with the smallest mean advantage of the headline attacker, against one
    secret or against the worst of each node."""
    found = filter(None, (nodes.find_headline(release, secret) for release in nodes.releases))
    means = {one.release: one.advantage.mean() for one in found if one.made.is_defended}
    return min(means, key=means.__getitem__, default=None)


def summarize_risk(
    view: AuditView, release: str | None = None, policy: Policy | None = None
) -> PageSummary:
    """Number of nodes exposed on the original and on a release, per secret."""
    noun, checks = view.spec.nodes, list_checks(view, release or ORIGINAL, policy)
    cards, exact, shown = [], [], []
    for secret, found in group_exposures(view.nodes).items():
        before = found.get(ORIGINAL)
        one = before if release is None else found.get(release)
        if one is None:
            continue
        shown.append(one)
        title = f"{begin_sentence(noun.many)} exposed: {secret.attack}"
        check = find_check(checks, secret.threat, "advantage_share")
        compared = f"{format_percent(one.share)} of those at stake"
        if before is not None and one is not before:
            compared = f"original {before.count.format()}"
        state = None if check is None or secret.target else check.state
        detail = f"by {one.by}; advantage above {ADVANTAGE_LIMIT:g}"
        cards.append(Card(title, one.count.format(), compared, state, detail))
        tried = f"by {one.tried}: {one.names}"
        exact.append(f"{title}: {one.count.format()} on {one.made.title}, {tried}.")
    sentence = "No node's risk is known yet."
    if shown:
        worst = max(shown, key=lambda one: one.share)
        verb = "is" if worst.count.value == 1 else "are"
        aim = THREAT_WORDS[worst.secret.threat].attack
        names = list_phrases([worst.made, *(summary.info for summary in view.releases)])
        who = f"{worst.count.format()} {noun.many} {verb}"
        sentence = f"On {names[worst.made.id]}, {who} exposed to {aim}, by {worst.tried}."
    return PageSummary(tuple(cards[:MAX_CARDS]), sentence, tuple(exact))


def answer_risk(nodes: NodeRisks, noun: Noun = PEOPLE, release: str | None = None) -> str:
    """The same with exact figures, on the original and on a release: who counts as exposed, and
    the mean advantage.

    release  id of a defended one; else the one that exposes least
    """
    best, sentences = release, []
    if best is None or best not in nodes.releases or not nodes.made[best].is_defended:
        best = find_least_exposing(nodes)
    for secret, found in group_exposures(nodes).items():
        first = found.get(ORIGINAL) or next(iter(found.values()))
        where, title = first.made.name, begin_sentence(secret.attack)
        text = f"{title} exposes {first.count.value:,} of {noun.count(first.at_stake)} on {where}"
        means = f"{first.advantage} on {where}"
        after = found.get(best or "")
        if after is not None and after is not first:
            text += f", and {after.count.value:,} with {after.made.title}"
            means += f", {after.advantage} with {after.made.title}"
        sentences.append(
            f"{text}. Exposed: advantage above {ADVANTAGE_LIMIT:g} by {first.by}. "
            f"Tried: {first.tried}: {first.names}. "
            f"Mean advantage: {means}."
        )
    return " ".join(sentences) or "No node's risk is known yet."


def list_risks(
    nodes: NodeRisks, noun: Noun = PEOPLE, release: str | None = None
) -> list[tuple[str, str]]:
    """`answer_risk` and `answer_bound` of each secret separately."""
    each = [nodes.select(secret=secret) for secret in list_secrets(nodes)] or [nodes]
    return [(answer_risk(rows, noun, release), answer_bound(rows)) for rows in each]


def answer_bound(nodes: NodeRisks) -> str:
    """Upper bound on exposure on the original: nodes exposed by any attack, chosen in hindsight,
    beside what as many guessing attackers reach."""
    return " ".join(
        f"Upper bound for {Secret(row.threat, row.target).attack}: {row.exposed:,} of {row.n:,}, "
        "with the best attack of each node chosen in hindsight. Guessing would reach "
        f"{format_percent(row.noise)}."
        for row in nodes.select([ORIGINAL]).bound.itertuples()
    )


def describe_exposed(nodes: NodeRisks, noun: Noun = PEOPLE) -> str:
    """Counts alone, by release and secret; "" if none is known."""
    exposures = list_exposures(nodes)
    found = [f"{_name(one)}: {one.count.format()} by {one.tried}" for one in exposures]
    who = f"{begin_sentence(noun.many)} with an advantage above {ADVANTAGE_LIMIT:g}"
    return f"{who}: {'; '.join(found)}." if found else ""


def describe_advantage(nodes: NodeRisks) -> str:
    """Mean advantages with their intervals, by release and secret; "" if none is known."""
    found = [f"{_name(one)} {one.advantage}, n = {one.at_stake:,}" for one in list_exposures(nodes)]
    return f"Mean advantage over the base rate: {'; '.join(found)}." if found else ""


def _name(one: Exposure) -> str:
    title = THREAT_TITLES.get(one.secret.threat, "")
    return f"{one.made.title}, {title} {one.secret.target}".rstrip()
