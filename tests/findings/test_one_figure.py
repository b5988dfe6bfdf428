"""Page, PDF, command and files for scripts give the same figures of random audits.

Each outlet is read as people or scripts read it: cards and lines of the pages, text of the report's
blocks, printed lines, and the rows of audit.json and nodes.parquet, from which the figures are
computed anew.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache
from itertools import product
from typing import Any

import pytest

from core.audit.asked.attack import Attack, parse_attack
from core.audit.asked.knowledge import parse_knowledge
from core.audit.asked.scenarios import THREAT_TITLES, Scenario, Threat
from core.audit.results.export import describe_audit, describe_nodes
from core.audit.results.view import AuditView
from core.cli.audit import describe_results, judge_audit
from core.findings.change import summarize_release
from core.findings.exposure import summarize_risk
from core.findings.facts import STATE_TITLES
from core.findings.labels import THREAT_WORDS, metric_title
from core.findings.numbers import format_interval
from core.findings.page_summary import summarize_decision
from core.findings.people import Secret, compare_people, rank_people
from core.findings.policy import check_policy
from core.findings.strongest import summarize_attacks
from core.findings.tradeoff import choose_axes
from core.findings.tried import Tried
from core.findings.verdict import judge
from core.findings.verdict_words import find_subject
from core.release import ORIGINAL
from core.report.blocks import Block
from core.report.data import ReportData
from core.report.decision_page import build_decision
from core.report.evidence import describe_evidence
from core.report.options import ReportOptions
from core.report.people import build_risk
from core.report.results import build_attacks, build_tradeoff
from tests.oracles.audits import LINKS, PEOPLE, UTILITIES, VALUES, draw_audit

Answers = dict[tuple[str, ...], Any]
"""(question, of what …) → the figure that an outlet gives."""

ATTACKS = {one.title: one for one in map(parse_attack, (*LINKS, *VALUES, *PEOPLE))}
THREATS: dict[str, Threat] = {THREAT_WORDS[t].attack: t for t in THREAT_TITLES if t != "included"}
WORST = {
    "link": ("tpr_at_fpr_0.01",),
    "attribute": ("tpr_at_fpr_0.01", "accuracy"),
    "identity": ("expected_found", "hits_at_1"),
}
USEFUL = {metric_title(metric): metric for metric in UTILITIES}
REACHES = r"(?:finds|reaches|is right about) "
COUNTS = r"((?:at least \d+, )?(?:likely )?)(\d+)"
EXPOSES = (
    rf"(\S.*?) exposes {COUNTS} of (\d+) people on the original"
    rf"(?:, and {COUNTS} with (.+?))?\. Exposed"
)
INTERVAL = r"\d\.\d+(?: \[.+?\])?"


def read_lines(lines: Iterable[str], view: AuditView) -> Answers:
    """What the sentences of command and report say."""
    answers: Answers = {}
    titles = {summary.info.title: summary.id for summary in view.releases}
    for line in lines:
        for aim, few, count, total, *after, where in re.findall(EXPOSES, line):
            threat = THREATS[aim[0].lower() + aim[1:]]
            answers["exposed", threat, ORIGINAL] = read_sure(few, count), count, total
            if where:
                answers["exposed", threat, titles[where]] = read_sure(*after), after[1], total
        if found := re.match(rf"(.+?) {REACHES}.*baseline attacker", line):
            answers["strongest", ATTACKS[found[1]].threat, ORIGINAL] = found[1]
        if found := re.search(r"(\d+) attacks beside", line):
            answers["attacks",] = int(found[1])
        if found := re.match(rf"(.+): (.+?) ({INTERVAL}), original", line):
            answers["useful", titles[found[1]]] = USEFUL[found[2]], found[3]
    return answers


def read_sure(words: str, count: str) -> str:
    """How many surely are, from what stands before a count: "at least 3, likely ", "likely "."""
    known = re.findall(r"\d+", words)
    return known[0] if known else "0" if words else count


def ask_page(view: AuditView) -> Answers:
    answers: Answers = {("attacks",): int(Tried.of(view).count.partition(" ")[0])}
    for made in (summary.info for summary in view.releases):
        for card in summarize_risk(view, made.id).cards:
            if aim := card.title.partition(": ")[2]:
                sure, total = re.findall(r"\d+", card.value)
                likely = re.match(r"likely (\d+)", card.compared_with)
                count = likely[1] if likely else sure
                sure = "0" if card.value.startswith("likely ") else sure
                answers["exposed", THREATS[aim], made.id] = sure, count, total
        for line in reversed(summarize_attacks(view, made.id).exact):  # baselines come second
            if found := re.match(rf".+?: .* by (.+) on {re.escape(made.title)}; ", line):
                answers["strongest", ATTACKS[found[1]].threat, made.id] = found[1]
        for line in summarize_release(view, made.id).exact:
            found = re.match(rf"(.+?): ({INTERVAL}) on {re.escape(made.title)}; ", line)
            if found and found[1] in USEFUL and not made.is_original:
                answers["useful", made.id] = USEFUL[found[1]], found[2]
    for threat in WORST:
        answers["axes", threat] = name_axes(*choose_axes(view.results, threat))
    for release in view.nodes.releases:
        for threat in WORST:
            people = rank_people(view.nodes, Secret(threat)).number.to_numpy()
            gains = compare_people(view.nodes, Secret(threat), release, people)
            names = view.nodes.names.take(people)
            for node, gain in zip(names, gains.tolist(), strict=True):
                answers["node", node, threat, release] = f"{gain:+z.2f}"
    verdict = judge(view, check_policy(view.spec.policy))
    cards = summarize_decision(verdict).cards
    answers["limits",] = [(card.title, STATE_TITLES[card.state]) for card in cards]
    return answers


def name_axes(risk: str, use: str) -> str:
    return f"{metric_title(risk)} (worst case) and {metric_title(use)}"


def ask_pdf(view: AuditView) -> Answers:
    data = ReportData(view, ReportOptions(pseudonyms=False))
    attacks, risk = build_attacks(data), build_risk(data)
    names = ("testing", "usefulness", "sample")
    *evidence, sample = (describe_evidence(data, part)[0] for part in names)
    answers = read_lines([*map(read_block, (*attacks, *risk)), *evidence], view)
    subject = find_subject(data.verdict).release
    above = r"[\d\]] by ([^;]+?), (?:above|within noise of|not clearly apart from) the baseline"
    below = r"a baseline attacker; ([^;]+?) [\d.]+ (?:\[[^]]*\] )?is "
    for title in (*re.findall(above, sample), *re.findall(below, sample)):
        answers["strongest", ATTACKS[title].threat, subject] = title
    for row in next(b for b in risk if b.get("columns", [""])[0] == "Node")["rows"]:
        threat, columns = ATTACKS[row[2]].threat, [ORIGINAL, *data.ids[1:]]
        for release, text in zip(columns, row[3:], strict=True):
            answers["node", row[0], threat, release] = text.replace("−", "-")
    (table,) = (block for block in build_decision(data) if block["kind"] == "table")
    answers["limits",] = [(row[0], row[3]) for row in table["rows"]]
    figures = [figure for b in build_tradeoff(data) for figure in b.get("figures", (b,))]
    for threat, figure in zip(WORST, figures, strict=True):
        answers["axes", threat] = figure["alt"].partition(" of each release")[0]
    return answers


def read_block(block: Block) -> str:
    return "".join(span["text"] for span in block.get("spans", ()))


def ask_command(view: AuditView) -> Answers:
    judged: list[str] = []
    judge_audit(view, judged.append)
    answers = read_lines(describe_results(view), view)
    titles = [limit.title for limit in check_policy(view.spec.policy).limits]
    for line, summary in zip(judged, view.releases, strict=False):
        reason = line.removeprefix(f"{summary.info.title}: ").partition("; ")[2]
        first = next((title for title in titles if reason.startswith(title)), None)
        answers["first", summary.id] = first
    return answers


def ask_files(view: AuditView) -> Answers:
    """By plain loops over the rows."""
    written = describe_audit(view)
    rows = [row for row in written["results"] if row["status"] == "done"]
    value = {(row["release"], name(row), row["metric"]): row for row in rows}
    ran = {attack for _, attack, _ in value if attack is not None and not attack.is_baseline}
    answers: Answers = {("attacks",): len({(attack.key, attack.threat) for attack in ran})}
    releases = [summary.id for summary in view.releases]

    def rank(release: str, threat: Threat, metric: str) -> tuple[float, str]:
        """Lead over the baselines, and by whom."""
        own = {
            attack: row["value"]
            for (where, attack, what), row in value.items()
            if attack and (where, attack.threat, what) == (release, threat, metric)
        }
        real = {attack: v for attack, v in own.items() if not attack.is_baseline}
        guess = max((v for attack, v in own.items() if attack.is_baseline), default=0.0)
        best = max(real, key=real.__getitem__, default=None)
        return (-1.0, "") if best is None else (real[best] - guess, best.title)

    risks = {t: max(own, key=lambda m: rank(ORIGINAL, t, m)[0]) for t, own in WORST.items()}
    for threat, release in product(WORST, releases):
        answers["strongest", threat, release] = rank(release, threat, risks[threat])[1]
    times = {m: sum((r, None, m) in value for r in releases) for m in UTILITIES}
    useful = max(UTILITIES, key=times.__getitem__)
    for threat, metric in risks.items():
        answers["axes", threat] = name_axes(metric, useful)
    if (ORIGINAL, None, useful) in value:
        for release in releases[1:]:
            row = value.get((release, None, useful))
            if row is not None:
                ends = format_interval(row["value"], row["low"], row["high"])
                answers["useful", release] = useful, ends
    return answers | list_headlines(view) | list_limits(view)


def list_limits(view: AuditView) -> Answers:
    """Limits in the order in which they decide: all that stand in the way, else the nearest met."""
    verdict, answers = judge(view, check_policy(view.spec.policy)), {}
    limits = {limit["name"]: limit for limit in view.spec.policy["limits"]}
    graver = {"not_tested": 0, "met": 1, "not_proven": 2, "exceeded": 3}
    for release, judged in verdict.describe()["releases"].items():
        found = []
        for one in judged["limits"]:
            limit, state = limits[one["name"]], one["state"]
            weight = 2 if state == "exceeded" and limit["weight"] == "stop" else 1
            if state == "met" or (state == "not_tested" and limit["optional"]):
                weight = 0
            times = (one["value"] or 0.0) / max(limit["limit"], 1e-3)
            found.append((weight, graver[state], times, limit["title"], STATE_TITLES[state]))
        found.sort(key=lambda one: one[:3], reverse=True)
        against = [one[3:] for one in found if one[0]]
        answers["first", release] = next((title for title, _ in against), None)
        if release == find_subject(verdict).release:
            answers["limits",] = against or [one[3:] for one in found if one[4] == "met"][:3]
    return answers


def name(row: dict[str, Any]) -> Attack | None:
    if row["method"] == "release":
        return None
    known = row["knowledge"]
    scenario = Scenario(row["method"], row["threat"], row["target"])
    if known != "standard":
        scenario = replace(scenario, knowledge=parse_knowledge(known))
    return parse_attack(scenario.id)


def list_headlines(view: AuditView) -> Answers:
    """By the attack with the largest mean advantage, which draws apart from the others."""
    answers: Answers = {}
    table = describe_nodes(view.nodes, view.spec)
    for (release, threat), own in table.groupby(["release", "threat"]):
        each = [(name({**part.iloc[0], "method": part.attack.iloc[0]}), part)
                for _, part in own.groupby(["attack", "knowledge"])]  # fmt: skip
        real = [part for attack, part in each if attack is not None and not attack.is_blind]
        worst = max(real, key=lambda part: part.advantage.mean())
        for row in worst.itertuples():
            answers["node", row.node, threat, release] = f"{row.advantage:+z.2f}"
        sure = worst.low - worst.base
        counts = sum(sure > 0.2), sum(worst.advantage > 0.2), len(worst)
        answers["exposed", threat, release] = tuple(map(str, counts))
    return answers


OUTLETS: dict[str, Callable[[AuditView], Answers]] = {
    "page": ask_page,
    "PDF": ask_pdf,
    "command": ask_command,
    "files": ask_files,
}
EVERY = {"exposed", "strongest", "attacks", "useful", "node", "limits", "axes"}
ASKED = {
    "page": EVERY,
    "PDF": EVERY,
    "command": {"exposed", "strongest", "attacks", "useful", "first"},  # it names nobody
    "files": EVERY | {"first"},
}
SEED = 6  # an audit on which each planted choice differs from the right one


def leave_out_adaptive(view: AuditView) -> AuditView:
    is_plain = [attack is None or not attack.is_adaptive for attack in view.results.attack]
    parts = {pair: part for pair, part in view.nodes.parts.items() if not pair[1].is_adaptive}
    nodes = replace(view.nodes, parts=parts, _known={})
    return replace(view, results=view.results[is_plain], load_nodes=lambda: nodes)


def leave_out_strongest(view: AuditView) -> AuditView:
    """In all its forms."""
    key = ATTACKS[ask("files", SEED)["strongest", "link", ORIGINAL]].key
    is_other = [attack is None or attack.key != key for attack in view.results.attack]
    return replace(view, results=view.results[is_other])


def leave_out_use(view: AuditView) -> AuditView:
    measured = next(value[0] for key, value in ask("files", SEED).items() if key[0] == "useful")
    return replace(view, results=view.results[view.results.metric != measured])


def leave_out_limits(view: AuditView) -> AuditView:
    """Without the limits that decide, so that others do."""
    firsts = {value for key, value in ask("files", SEED).items() if key[0] == "first"}
    policy = view.spec.policy
    kept = [limit for limit in policy["limits"] if limit["title"] not in firsts]
    return replace(view, spec=view.spec.update(policy={**policy, "limits": kept}))


PLANTED: dict[str, tuple[Callable[[AuditView], AuditView], set[str]]] = {
    "plain": (leave_out_adaptive, {"exposed", "strongest", "node"}),
    "next attack": (leave_out_strongest, {"strongest", "attacks"}),
    "other use": (leave_out_use, {"useful", "axes"}),
    "other limits": (leave_out_limits, {"limits", "first"}),
}
"""A choice of its own of one outlet → questions that it then answers differently."""


@cache
def ask(outlet: str, seed: int, planted: str = "") -> Answers:
    view = draw_audit(seed)
    answers = OUTLETS[outlet](PLANTED[planted][0](view) if planted else view)
    assert planted or ASKED[outlet] <= {key[0] for key in answers}, outlet
    return answers


def list_differences(seed: int, outlet: str = "", planted: str = "") -> list[tuple[Any, ...]]:
    """Questions that two outlets answer differently, `outlet` with a choice of its own."""
    told = {each: ask(each, seed, planted if each == outlet else "") for each in OUTLETS}
    found = []
    for key in dict.fromkeys(key for answers in told.values() for key in answers):
        given = {each: answers[key] for each, answers in told.items() if key in answers}
        if len(set(map(str, given.values()))) > 1:
            found.append((key, given))
    return found


@pytest.mark.usefixtures("no_pictures")
@pytest.mark.parametrize("seed", [1, SEED])
def test_every_outlet_gives_the_same_figures(seed: int) -> None:
    assert list_differences(seed) == []


@pytest.mark.usefixtures("no_pictures")
@pytest.mark.parametrize("planted", PLANTED)
@pytest.mark.parametrize("outlet", OUTLETS)
def test_a_choice_of_its_own_in_one_outlet_is_found(outlet: str, planted: str) -> None:
    """In each figure that the outlet gives and the choice changes."""
    found = {key[0] for key, _ in list_differences(SEED, outlet, planted)}
    due = PLANTED[planted][1] & ASKED[outlet]
    if (outlet, planted) == ("command", "plain"):  # it names the strongest on the original alone
        due -= {"strongest"}
    assert due <= found, due - found
