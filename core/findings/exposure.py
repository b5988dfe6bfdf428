"""How many nodes are exposed on a release, by the headline attacker of each secret.

Headlines count those that are exposed beyond noise, with those that likely are beside them; nodes
tested in one repeat have no interval and are a group of their own. Page, PDF and command count by
`list_exposures`; the map, which joins secrets, by `count_exposed`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from core.audit.asked.attack import Attack
from core.audit.asked.release_info import ReleaseInfo, list_phrases
from core.audit.asked.scenarios import THREAT_TITLES, Threat
from core.audit.asked.spec import MAX_REPEATS, AuditSpec
from core.audit.results.node_risks import NodeRisks
from core.audit.results.view import AuditView
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

RULE = f"advantage above {ADVANTAGE_LIMIT:g}"
AT_LEAST = "at least: with the lower end of its 95 % interval above it"


@dataclass(frozen=True)
class Exposed:
    """Number of exposed nodes of those at stake.

    sure    with the lower end of the interval of the advantage above `ADVANTAGE_LIMIT`
    likely  with the advantage itself above it
    few     tested in one repeat, which gives no interval
    """

    sure: int
    likely: int
    at_stake: int
    few: int

    @property
    def is_settled(self) -> bool:
        """Whether noise leaves nobody open."""
        return self.sure == self.likely

    @property
    def least(self) -> str:
        """ "at least 590"; "15" if settled; "likely 4" if nobody surely is."""
        if self.is_settled:
            return f"{self.sure:,}"
        return f"at least {self.sure:,}" if self.sure else f"likely {self.likely:,}"

    @property
    def doubt(self) -> str:
        """What a card says beside that: "likely 1,860"; "none surely"; "" if settled."""
        if self.is_settled:
            return ""
        return f"likely {self.likely:,}" if self.sure else "none surely"

    @property
    def counts(self) -> str:
        """ "at least 590, likely 1,860"; "15" if settled; "likely 4" if nobody surely is."""
        is_whole = self.is_settled or not self.sure
        return self.least if is_whole else f"{self.least}, likely {self.likely:,}"

    @property
    def share(self) -> str:
        """ "at least 14 % exposed"; "14 % likely exposed" if nobody surely is."""
        if not (self.sure or self.is_settled):
            return f"{format_percent(self.likely / self.at_stake)} likely exposed"
        least = "" if self.is_settled else "at least "
        return f"{least}{format_percent(self.sure / self.at_stake)} exposed"

    def format(self) -> str:
        """ "at least 590, likely 1,860 of 3,950"."""
        return f"{self.counts} of {self.at_stake:,}"


@dataclass(frozen=True)
class Exposure:
    """Nodes that the headline attacker of a secret exposes on a release.

    repeats   most in which one of them was tested
    mean, sd  of the advantage over the base rate
    by        who the attacker is, and how it was chosen
    behind    attacks in all their forms among which it was chosen; else baseline ones
    """

    secret: Secret
    made: ReleaseInfo
    exposed: Exposed
    repeats: int
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
        """Which ones, as many: "Number of links, Number of links (error = 0.1)"."""
        named = (a.name if a.method is None else a.method.title for a in self.behind)
        return ", ".join(dict.fromkeys(named))

    @property
    def shares(self) -> tuple[float, float]:
        """Of those at stake: surely and likely exposed."""
        one = self.exposed
        return one.sure / one.at_stake, one.likely / one.at_stake

    @property
    def remedy(self) -> str:
        """ "about 5 more repeats": a node tested in one of so many waits as long for another."""
        about = "about" if self.repeats > 1 else "at least"
        return f"{about} {count_noun(self.repeats, 'more repeat')}"

    @property
    def num_settled(self) -> int:
        """Of those tested in one repeat, about how many as many repeats more would test again, were
        each as likely as it was to be in one."""
        return round(self.exposed.few * (1 - (1 - 1 / self.repeats) ** self.repeats))

    @property
    def advantage(self) -> str:
        """Mean advantage with its interval."""
        return format_mean(self.mean, self.sd, self.exposed.at_stake)


def list_exposures(nodes: NodeRisks) -> list[Exposure]:
    """One per release and secret, in the order of the audit."""
    return [
        Exposure(
            Secret(row.threat, row.target),
            nodes.made[row.release],
            Exposed(int(row.sure), int(row.exposed), int(row.n), int(row.few)),
            int(row.repeats),
            float(row.mean),
            float(row.sd),
            f"{row.attacks}, {row.how}",
            _list_behind(nodes.list_rivals(row.release, (row.threat, row.target))),
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


def count_exposed(advantage: np.ndarray | pd.Series, sure: np.ndarray | pd.Series) -> Exposed:
    """Exposed among nodes with these advantages, NaN for those not at stake.

    sure  lower ends of their intervals, NaN for those without one
    """
    known = np.asarray(advantage, float)
    is_known = ~np.isnan(known)
    known, ends = known[is_known], np.asarray(sure, float)[is_known]
    return Exposed(
        int((ends > ADVANTAGE_LIMIT).sum()),
        int((known > ADVANTAGE_LIMIT).sum()),
        len(known),
        int(np.isnan(ends).sum()),
    )


def find_least_exposing(nodes: NodeRisks, secret: Secret | None = None) -> str | None:
    """The defended release with the smallest mean advantage of the headline attacker, against one
    secret or against the worst of each node."""
    found = filter(None, (nodes.find_headline(release, secret) for release in nodes.releases))
    means = {one.release: one.advantage.mean() for one in found if one.made.is_defended}
    return min(means, key=means.__getitem__, default=None)


SHORT: dict[Threat, str] = {"included": "released links"}
"""Threat → its name where a card has no room for that of the attack."""


def summarize_risk(
    view: AuditView, release: str | None = None, policy: Policy | None = None
) -> PageSummary:
    """Number of nodes exposed on the original and on a release, per secret."""
    noun, checks = view.spec.nodes, list_checks(view, release or ORIGINAL, policy)
    cards, exact, shown = [], [], []
    is_active = view.summary.state.is_active
    for secret, found in group_exposures(view.nodes).items():
        before = found.get(ORIGINAL)
        one = before if release is None else found.get(release)
        if one is None:
            continue
        shown.append(one)
        title = f"Exposed: {SHORT.get(secret.threat, secret.attack)}"
        check = find_check(checks, secret.threat, "advantage_share")
        doubt = one.exposed.doubt
        compared = doubt or f"{format_percent(one.shares[0])} of those at stake"
        if before is not None and one is not before:
            compared = f"{doubt and f'{doubt}; '}original {before.exposed.least}"
        if is_active:
            compared += " so far"
        state = None if check is None or secret.target else check.state
        detail = f"{RULE} by {one.by}{'' if one.exposed.is_settled else f'; {AT_LEAST}'}"
        value = f"{one.exposed.least} of {one.exposed.at_stake:,}"
        cards.append(Card(title, value, compared, state, detail))
        tried = f"by {one.tried}: {one.names}"
        exact.append(f"{title}: {one.exposed.format()} on {one.made.title}, {tried}.")
        exact += filter(None, [describe_few(one, noun)])
        if before is not None and one is not before:
            exact.append(f"{title}: {before.exposed.format()} on {before.made.title}.")
    sentence = "No node's risk is known yet."
    if shown:
        worst = find_worst_exposure(shown)
        assert worst is not None
        names = list_phrases([worst.made, *(summary.info for summary in view.releases)])
        aim = f"exposed to {THREAT_WORDS[worst.secret.threat].attack}"
        counts = describe_counts(worst.exposed, noun, aim)
        start = "So far, on" if is_active else "On"
        sentence = f"{start} {names[worst.made.id]}, {counts}, by {worst.tried}."
        if worst.exposed.few:
            title = f"{begin_sentence(noun.many)} tested in one split"
            value = f"{worst.exposed.few:,} of {worst.exposed.at_stake:,}"
            compared = f"remedy: {worst.remedy}"
            cards = cards[: MAX_CARDS - 1]
            cards.append(Card(title, value, compared, None, describe_few(worst, noun)))
    return PageSummary(tuple(cards[:MAX_CARDS]), sentence, tuple(exact))


def find_worst_exposure(exposures: Iterable[Exposure]) -> Exposure | None:
    """The one with the largest share surely exposed, then likely."""
    return max(exposures, key=lambda one: one.shares, default=None)


@dataclass(frozen=True)
class MoreRepeats:
    """The same audit with the repeats that settle nodes tested in one of them: spec of the whole
    audit, number of repeats added, and what they do in a sentence."""

    spec: AuditSpec
    added: int
    reason: str


def propose_repeats(view: AuditView, release: str | None = None) -> MoreRepeats | None:
    """As many repeats again as the audit had, if the secret that exposes most on a release (by
    default the original) leaves nodes tested in one. None where no repeat can be added: for a
    release made elsewhere and the confirmation of a search."""
    found = [one for one in list_exposures(view.nodes) if one.made.id == (release or ORIGINAL)]
    worst, spec = find_worst_exposure(found), view.spec
    is_fixed = spec.external_release is not None or spec.confirmation_error is not None
    if worst is None or not worst.exposed.few or is_fixed:
        return None
    repeats = min(view.num_repeats + worst.repeats, MAX_REPEATS)
    added = repeats - view.num_repeats
    if not added:
        return None
    whole = spec.update(num_repeats=repeats, stop_early=False)
    few, settled = worst.exposed.few, f"{worst.num_settled:,}"
    verb = "tests" if added == 1 else "test"
    of = "all" if worst.num_settled == few else f"some {settled} of the {few:,}"
    text = f"{count_noun(added, 'more repeat')} {verb} {of} {spec.nodes.many} tested in one split"
    return MoreRepeats(whole, added, f"{text} once more. Finished parts are kept.")


def describe_counts(found: Exposed, noun: Noun, exposed: str = "exposed", base: str = "") -> str:
    """ "at least 590 of 3,950 people are exposed, likely 1,860".

    exposed  "exposed to link inference"; base: " at stake", where a reader may take it for all
    """
    if not (found.sure or found.is_settled):
        verb = "is" if found.likely == 1 else "are"
        return (
            f"no {noun.one} is surely {exposed}, but {found.likely:,} of {found.at_stake:,}{base} "
            f"likely {verb}"
        )
    verb = "is" if found.sure == 1 else "are"
    text = f"{found.least} of {found.at_stake:,} {noun.many}{base} {verb} {exposed}"
    return text if found.is_settled else f"{text}, likely {found.likely:,}"


def describe_few(one: Exposure, noun: Noun = PEOPLE) -> str:
    """Nodes tested too little, and the remedy; "" if there are none."""
    if not one.exposed.few:
        return ""
    who = f"{one.exposed.few:,} of {noun.count(one.exposed.at_stake)}"
    verb = "was" if one.exposed.few == 1 else "were"
    where = "one split" if one.repeats == 1 else f"one of {one.repeats} splits"
    return (
        f"{who} {verb} tested in {where}, which gives no interval: {one.remedy} would test each of "
        "them once more."
    )


def answer_risk(nodes: NodeRisks, noun: Noun = PEOPLE, release: str | None = None) -> str:
    """The same with exact figures, on the original and on a release: who counts as exposed, the
    mean advantage, and who was tested too little.

    release  id of a defended one; else the one that exposes least
    """
    best, sentences = release, []
    if best is None or best not in nodes.releases or not nodes.made[best].is_defended:
        best = find_least_exposing(nodes)
    for secret, found in group_exposures(nodes).items():
        first = found.get(ORIGINAL) or next(iter(found.values()))
        where, title = first.made.name, begin_sentence(secret.attack)
        of = noun.count(first.exposed.at_stake)
        text = f"{title} exposes {first.exposed.counts} of {of} on {where}"
        means = f"{first.advantage} on {where}"
        after = found.get(best or "")
        if after is not None and after is not first:
            text += f", and {after.exposed.counts} with {after.made.title}"
            means += f", {after.advantage} with {after.made.title}"
        few, is_settled = describe_few(first, noun), "at least" not in text
        sentences.append(
            f"{text}. Exposed: {RULE} by {first.by}{'' if is_settled else f'; {AT_LEAST}'}. "
            f"Tried: {first.tried}: {first.names}. "
            f"Mean advantage: {means}.{few and f' {few}'}"
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
        f"Upper bound on the original for {Secret(row.threat, row.target).attack}: "
        f"{row.exposed:,} of {row.n:,}, "
        "with the best attack of each node chosen in hindsight. Guessing would reach "
        f"{format_percent(row.noise)}."
        for row in nodes.select([ORIGINAL]).bound.itertuples()
    )


def describe_exposed(nodes: NodeRisks, noun: Noun = PEOPLE) -> str:
    """Counts alone, by release and secret; "" if none is known."""
    exposures = list_exposures(nodes)
    found = [f"{_name(one)}: {one.exposed.format()} by {one.tried}" for one in exposures]
    who = f"{begin_sentence(noun.many)} with an advantage above {ADVANTAGE_LIMIT:g}"
    return f"{who}: {'; '.join(found)}." if found else ""


def describe_advantage(nodes: NodeRisks) -> str:
    """Mean advantages with their intervals, by release and secret; "" if none is known."""
    found = [
        f"{_name(one)} {one.advantage}, n = {one.exposed.at_stake:,}"
        for one in list_exposures(nodes)
    ]
    return f"Mean advantage over the base rate: {'; '.join(found)}." if found else ""


def _name(one: Exposure) -> str:
    title = THREAT_TITLES.get(one.secret.threat, "")
    return f"{one.made.title}, {title} {one.secret.target}".rstrip()
