"""Evidence of an audit for the clauses of a guidance, as short texts.

`EVIDENCE` names every part that a file in assets/guidance may request. Texts are built from the
same findings as the report; an empty text is a gap, described by the second entry.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial

from core.audit.asked.attack import Attack
from core.audit.asked.scenarios import THREAT_TITLES
from core.audit.results.node_risks import NodeRisks
from core.errors import InputError
from core.findings.exposure import describe_advantage, describe_exposed
from core.findings.facts import STATE_TITLES
from core.findings.groups import answer_groups, load_groups
from core.findings.guarantees import TRUST_TITLES, UNIT_TITLES, describe_budget
from core.findings.guide import describe_purpose
from core.findings.labels import THREAT_WORDS, metric_title
from core.findings.ledger import explain_ledger
from core.findings.numbers import format_interval, format_number, format_row
from core.findings.policy import list_policies
from core.findings.strongest import find_strongest
from core.findings.tables import select_results
from core.findings.tried import count_attacks
from core.findings.usefulness import describe_usefulness, find_usefulness
from core.findings.verdict_words import describe_decision
from core.release import ORIGINAL, Guarantee
from core.report.actors import format_best, list_costs, list_subjects
from core.report.data import ReportData
from core.report.decision_page import PURPOSES, find_review_date
from core.report.leaving import describe_leaving
from core.words import begin_sentence, count_noun

Describe = Callable[[ReportData], str]


def describe_evidence(data: ReportData, name: str) -> tuple[str, str]:
    """(text, "") of a part of the audit, or ("", gap) if it is missing; raises InputError for an
    unknown part."""
    if name not in EVIDENCE:
        known = "known: " + ", ".join(EVIDENCE)
        raise InputError("evidence of a guidance", "must be a known one", name, known)
    describe, missing = EVIDENCE[name]
    text = describe(data)
    return (text, "") if text else ("", missing)


def _describe_answer(key: str, data: ReportData) -> str:
    policy = list_policies()[0] if data.verdict is None else data.verdict.policy
    answers = describe_purpose(data.view.spec, policy)
    return f"{PURPOSES.get(key, 'Conditions')}: {answers[key]}." if answers.get(key) else ""


def _describe_people(data: ReportData) -> str:
    return f"{data.noun.count(data.graph.num_nodes)} and {data.graph.num_edges:,} links."


def _describe_properties(data: ReportData) -> str:
    degrees = data.graph.degrees
    text = (
        f"Links between {data.noun.many}, {format_number(degrees.mean())} of each on average and "
        f"{degrees.max(initial=0):,} at most; {(degrees == 0).sum():,} without a link"
    )
    if data.graph.features is not None:
        text += f"; {count_noun(len(data.graph.feature_names), 'numeric column')}"
    return f"{text}."


def _describe_private(data: ReportData) -> str:
    parts = []
    for name in data.view.spec.threats.columns:
        attribute = data.graph.column(name)
        known = int(attribute.known.sum())
        parts.append(
            f"{name}: {len(attribute.classes)} classes, n = {known:,}, base rate "
            f"{format_number(attribute.shares.max())}"
        )
    return f"Private: {'; '.join(parts)}." if parts else ""


def _describe_attackers(data: ReportData) -> str:
    found: dict[str, list[Attack]] = {}
    for attack in data.tried.forms:
        assert attack.threat is not None
        found.setdefault(THREAT_TITLES[attack.threat], []).append(attack)
    parts = [f"{title}: {count_noun(count_attacks(own), 'attack')}" for title, own in found.items()]
    return begin_sentence(f"{'; '.join(parts)}; each beside baseline attackers." if parts else "")


def _describe_maximum(data: ReportData) -> str:
    """The node with the highest risk under the headline attacker, by release and secret."""
    parts, titles = [], {str(threat): title for threat, title in THREAT_TITLES.items()}
    for own in _select_subjects(data).headlines:
        ((threat, target),) = own.secrets
        name = f"{own.made.title}, {titles.get(threat, '')} {target}".rstrip()
        row = int(own.risk.argmax())
        value = format_interval(own.risk[row], own.low[row], own.high[row])
        base = format_number(own.base[row])
        parts.append(f"{name} {value}, base rate {base}, n = {len(own):,}")
    return f"Highest risk of one {data.noun.one}: {'; '.join(parts)}." if parts else ""


def _select_subjects(data: ReportData) -> NodeRisks:
    return data.nodes.select(list_subjects(data))


def _describe_sample(data: ReportData) -> str:
    """Attackers that know that their target is in the release."""
    release = list_subjects(data)[-1]
    found = [find_strongest(data.results, threat, release) for threat in data.threats]
    texts = [
        f"{THREAT_WORDS[one.threat].title}: {format_best(one)}"
        for one in found
        if one is not None and not one.is_by_baseline
    ]
    if not texts:
        return ""
    start = f"The target is known to be in the release. {data.title(release)}"
    return f"{start}: {'; '.join(texts)}."


def _describe_metric(metric: str, data: ReportData) -> str:
    """Worst value of a metric over all attacks."""
    rows = select_results(data.results, metric)
    parts = []
    for release in list_subjects(data):
        own = rows[rows.release == release]
        if not own.empty:
            row = own.loc[own.value.idxmin() if metric == "k_anonymity" else own.value.idxmax()]
            value = format_row(row)
            by = "" if row.attack is None else f" by {row.attack.title}"
            parts.append(f"{row.made.title} {value}{by}")
    return f"{metric_title(metric)}: {'; '.join(parts)}." if parts else ""


def _describe_guarantees(data: ReportData) -> str:
    made = [s for s in data.releases if s.id != ORIGINAL]
    return _join([f"{s.info.title}: {s.guarantee.label}" for s in made], 4)


def _join(parts: list[str], most: int) -> str:
    """The first parts as a sentence, with an ellipsis for the rest; "" without any."""
    shown = parts[:most] if len(parts) <= most else [*parts[:most], "…"]
    return f"{'; '.join(shown)}." if parts else ""


def _describe_testing(data: ReportData) -> str:
    if not data.tried.forms:
        return ""
    costs = {cost.measured.attack for cost in list_costs(data, list_subjects(data)[-1:])}
    run = data.view.summary
    release = data.title(list_subjects(data)[-1])
    return (
        f"{begin_sentence(data.tried.describe())}; {len(costs)} clearly beat the "
        f"baseline attackers on {release}; {run.cells_failed} of {run.cells_total} parts failed."
    )


def _describe_costs(data: ReportData) -> str:
    costs = list_costs(data, list_subjects(data)[-1:])
    if not costs:
        return ""
    spent = [cost.cpu_seconds for cost in costs if cost.cpu_seconds is not None]
    time = "processor time not measured"
    if spent:
        ends = dict.fromkeys(map(format_number, (min(spent), max(spent))))
        time = f"{' to '.join(ends)} CPU seconds"
    return (
        f"{count_noun(len(costs), 'successful attack')} on "
        f"{costs[0].measured.made.title}: {time}, published methods, one computer."
    )


def _describe_limits(data: ReportData) -> str:
    verdict, subject = data.verdict, data.subject
    if verdict is None or subject is None:
        return ""
    states = Counter(STATE_TITLES[check.state] for check in subject.checks)
    counts = "; ".join(f"{number} {state}" for state, number in states.items())
    policy = f"“{verdict.policy.title}”, version {verdict.policy.version}"
    return f"{policy}, on {subject.made.title}: {counts}."


def _describe_open_points(data: ReportData) -> str:
    subject = data.subject
    if subject is None:
        return ""
    against = [c for c in subject.checks if c.decision != "publish"]
    left = [f"{c.limit.title} {STATE_TITLES[c.state]}" for c in against]
    if subject.open_points:
        left.append(count_noun(len(subject.open_points), "open point"))
    if len(left) > 3:
        left[3:] = [f"{len(left) - 3} more"]
    return f"{subject.made.title}: {'; '.join(left) or 'every tested limit met'}."


def _describe_transformations(data: ReportData) -> str:
    return _join([s.info.title for s in data.releases if s.info.is_defended], 5)


def _describe_usefulness(data: ReportData) -> str:
    release = list_subjects(data)[-1]
    found = None if release == ORIGINAL else find_usefulness(data.results, release)
    if found is None:
        return ""
    return f"{data.title(release)}: {describe_usefulness(found)}, n = {found.second.n:,}."


def _describe_reevaluation(data: ReportData) -> str:
    made = [s.id for s in data.releases if s.id != ORIGINAL]
    if not made or not data.tried.forms:
        return ""
    return f"The same {data.tried.count} met the original and {count_noun(len(made), 'release')}."


def _describe_each_guarantee(describe: Callable[[Guarantee], str], data: ReportData) -> str:
    private = [s for s in data.releases if s.guarantee.is_private]
    return _join([f"{s.info.title}: {describe(s.guarantee)}" for s in private], 3)


def _describe_claims(data: ReportData) -> str:
    parts = [f"{data.title(run.release)}: {check.outcome}" for run, check in data.claim_checks]
    return f"Claims put to the test: {'; '.join(parts)}." if parts else ""


def _describe_records(data: ReportData) -> str:
    number = len(data.view.decisions)
    return f"{count_noun(number, 'decision')} recorded on this graph." if number else ""


NO_POLICY = "no release policy was named: choose one on the page Release decision or by --policy"
NO_ANSWER = "not answered: fill it in, or answer it on the page Release decision"
NO_RISK = "no risk of individual nodes was computed"
NO_RELEASE = "no defense was tried"
NO_GUARANTEE = "no release has a formal guarantee: what protects is empirical only"

EVIDENCE: dict[str, tuple[Describe, str]] = {
    "recipient": (partial(_describe_answer, "recipient"), f"recipient {NO_ANSWER}"),
    "purpose": (partial(_describe_answer, "use"), f"purpose {NO_ANSWER}"),
    "knowledge": (partial(_describe_answer, "knowledge"), f"knowledge {NO_ANSWER}"),
    "secrets": (partial(_describe_answer, "secrets"), f"secrets {NO_ANSWER}"),
    "legal_basis": (partial(_describe_answer, "legal_basis"), f"legal basis {NO_ANSWER}"),
    "conditions": (partial(_describe_answer, "conditions"), f"conditions {NO_ANSWER}"),
    "people": (_describe_people, "the graph is empty"),
    "properties": (_describe_properties, "the graph is empty"),
    "private": (_describe_private, "no private column was named"),
    "leaving": (describe_leaving, "what leaves is not known"),
    "attackers": (_describe_attackers, "no attack has finished"),
    "maximum": (_describe_maximum, NO_RISK),
    "average": (lambda data: describe_advantage(_select_subjects(data)), NO_RISK),
    "exposed": (lambda data: describe_exposed(_select_subjects(data), data.noun), NO_RISK),
    "sample": (_describe_sample, "no attack has finished"),
    "population": (
        lambda _data: "",
        "population attack not measured: an attacker who does not know who is in the release "
        "learns at most what the sample attack does",
    ),
    "uniqueness": (
        partial(_describe_metric, "share_unique"),
        "uniqueness not measured: re-identification was not audited (--identity)",
    ),
    "k_anonymity": (
        partial(_describe_metric, "k_anonymity"),
        "k-anonymity not measured: re-identification was not audited (--identity)",
    ),
    "guarantees": (_describe_guarantees, NO_RELEASE),
    "testing": (_describe_testing, "no attack has finished"),
    "costs": (_describe_costs, "no attack clearly beat the baseline attackers"),
    "limits": (_describe_limits, NO_POLICY),
    "open_points": (_describe_open_points, NO_POLICY),
    "decision": (
        lambda data: "" if data.verdict is None else describe_decision(data.verdict),
        NO_POLICY,
    ),
    "transformations": (_describe_transformations, NO_RELEASE),
    "usefulness": (_describe_usefulness, "usefulness of a defended release was not measured"),
    "reevaluation": (_describe_reevaluation, NO_RELEASE),
    "review": (lambda data: f"Review by {find_review_date(data.created)}.", ""),
    "budget": (partial(_describe_each_guarantee, describe_budget), NO_GUARANTEE),
    "unit": (partial(_describe_each_guarantee, lambda p: UNIT_TITLES[p.unit]), NO_GUARANTEE),
    "trust": (partial(_describe_each_guarantee, lambda p: TRUST_TITLES[p.trust]), NO_GUARANTEE),
    "accountant": (partial(_describe_each_guarantee, lambda p: p.accountant), NO_GUARANTEE),
    "claims": (_describe_claims, "no claim was put to the test (--check-claims)"),
    "groups": (
        lambda data: answer_groups(data.nodes, load_groups(data.view)),
        "groups were not compared (--group)",
    ),
    "ledger": (
        lambda data: explain_ledger(data.view.ledger) if data.view.ledger else "",
        "no publishing run of this graph is on record",
    ),
    "records": (_describe_records, "no decision is on record"),
    "provenance": (
        lambda data: f"Audit {data.view.summary.id}; versions, seeds and settings in audit.json.",
        "",
    ),
    "editions": (lambda _data: "The external edition of this report, without names.", ""),
}
"""Name in a guidance → function that describes it, and the gap if its text is empty."""
