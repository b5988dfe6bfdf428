"""Identifiability per actor, and the measured cost of each successful attack.

Means reasonably likely to be used are judged by cost, time and technology (recital 26 GDPR; UK ICO,
anonymisation guidance). Each attack that clearly beat the baseline attackers is therefore listed
with its processor time and the records of auxiliary data that it needs.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import partial
from typing import Any

import pandas as pd

from core.audit.asked.attack import Attack, describe_knowledge
from core.audit.asked.knowledge import Auxiliary, Composition, Joint, Shadow
from core.audit.asked.scenarios import Threat
from core.audit.store.states import State
from core.findings.facts import Outcome
from core.findings.inverted_scores import format_strength
from core.findings.labels import LOW_FPR, metric_title
from core.findings.numbers import format_number
from core.findings.strongest import Strongest, find_strongest
from core.findings.tables import main_metric
from core.findings.tried import list_tried
from core.graph import Graph
from core.once import find_once
from core.release import ORIGINAL
from core.report.data import ReportData
from core.report.guidance import Actor

NEEDS_SECOND_GRAPH = "what is known of a person"
"""Re-identification attacks that need one record per node."""


LOW_METRICS = ("tpr_at_fpr_0.001", LOW_FPR)
"""Measures of a success before the headline metric, lowest FPR first."""


def describe_best(found: Strongest) -> dict[str, Any]:
    """The figures of a comparison as JSON for dpia.json."""
    best, baseline = found.best, found.baseline
    return {
        "release": found.made.id,
        "threat": found.threat,
        "attack": found.attack.id,
        "metric": best.metric,
        "value": best.value,
        "low": best.low,
        "high": best.high,
        "n": best.n,
        "repeats": best.seeds,
        "baseline": None if baseline is None else baseline.value,
        "beats": found.beats,
    }


PLACES: dict[Outcome, str] = {
    "higher": "above",
    "lower": "below",
    "tie": "within noise of",
    "within_noise": "within noise of",
    "not_tested": "not clearly apart from",
}
"""Where the best attack stands to the best baseline attacker."""


def format_best(found: Strongest) -> str:
    """ "Attack AUC 0.84 [0.80, 0.88] by Katz, above the baseline, Degree product at 0.61, n = 40,
    repeats = 5"; the higher of the two comes first, as in a verdict."""
    best, baseline, compared = found.best, found.baseline, found.compared
    first, beside = best, "no baseline"
    if baseline is not None and baseline.attack is not None and compared is not None:
        place, value = PLACES[compared.outcome], baseline.told or format_number(baseline.value)
        beside = f"{place} the baseline, {baseline.attack.title} at {value}"
        if found.gap < 0:
            first, other = baseline, f"{found.attack.title} {format_strength(best)}"
            beside = f"a baseline attacker; {other} is {place} it"
    assert first.attack is not None
    return (
        f"{metric_title(first.metric)} {format_strength(first)} by {first.attack.title}, {beside}, "
        f"n = {first.n:,}, repeats = {first.seeds}"
    )


@find_once
def _list_attacks(results: pd.DataFrame) -> list[Attack]:
    return [attack for attack in results.attack.unique() if attack is not None]


def measure_best(
    results: pd.DataFrame, threat: Threat, release: str, attacks: Collection[Attack]
) -> Strongest | None:
    """The best of these attacks on a threat, by the metric with the clearest lead; None if none
    has a result."""
    own = [a for a in _list_attacks(results) if a.threat == threat]
    if not any(attack in attacks for attack in own):
        return None
    compared = {attack.id for attack in own if attack in attacks or attack.is_baseline}
    metrics = dict.fromkeys((*LOW_METRICS, main_metric(results, threat)))
    found = [find_strongest(results, threat, release, m, compared) for m in metrics if m]
    known = [one for one in found if one is not None and not one.is_by_baseline]
    return next((o for o in known if o.beats), known[-1]) if known else None


def measure_actor(data: ReportData, actor: Actor, releases: list[str]) -> list[Strongest]:
    """The best attack representing an actor, per threat and release; empty if nothing ran."""
    own = [
        attack
        for attack in list_tried(data.results)
        if attack.threat in actor.threats and attack.knowledge.kind in actor.knowledge
    ]
    found = (
        measure_best(data.results, threat, made.id, [attack.find_form(made) for attack in own])
        for made in map(data.view.get_release, releases)
        for threat in actor.threats
    )
    return [measured for measured in found if measured is not None]


@dataclass(frozen=True)
class Cost:
    """Cost of a successful attack: cpu_seconds and seconds (elapsed), means over repeats;
    records of auxiliary data beside the release, None if unknown."""

    measured: Strongest
    cpu_seconds: float | None
    seconds: float | None
    device: str
    technology: str
    lines: int | None
    knowledge: str

    def describe(self) -> dict[str, Any]:
        """As JSON for dpia.json."""
        own = {name: value for name, value in vars(self).items() if name != "measured"}
        return {**describe_best(self.measured), **own}


def list_costs(data: ReportData, releases: list[str]) -> list[Cost]:
    """One row per release and attack that clearly beat the baseline attackers. Work shared
    between attacks is counted with the first."""
    return [
        cost
        for release in releases
        for cost in data.remember(("costs", release), partial(_list_release_costs, data, release))
    ]


def _list_release_costs(data: ReportData, release: str) -> list[Cost]:
    cells, graph, costs = data.view.cells, data.graph, []
    for attack in list_tried(data.results):
        assert attack.threat is not None
        assert attack.method is not None
        measured = measure_best(data.results, attack.threat, release, [attack])
        if measured is None or not measured.beats:
            continue
        ran = cells[
            (cells.kind == "attack") & (cells.release == release) & (cells.method == attack.id)
        ]
        ran = ran[ran.state == State.DONE]
        lines, knowledge = count_knowledge(data, attack, release, graph)
        costs.append(
            Cost(
                measured,
                round(float(ran.cpu_seconds.mean()), 3) if ran.cpu_seconds.any() else None,
                None if ran.empty else round(float(ran.seconds.mean()), 3),
                ", ".join(sorted(set(ran.device) - {""})),
                attack.method.info.group,
                lines,
                knowledge,
            )
        )
    return costs


def count_knowledge(
    data: ReportData, attack: Attack, release: str, graph: Graph
) -> tuple[int | None, str]:
    """Number of auxiliary records that an attacker holds, and their kind."""
    threats, knowledge = data.view.spec.threats, attack.knowledge
    more = describe_knowledge(knowledge)
    more = f" ({more})" if more else ""
    match attack.threat:
        case "identity":
            choice = threats.identity
            if attack.method is not None and attack.method.info.group == NEEDS_SECOND_GRAPH:
                return graph.num_nodes, f"a line about each node{more}"
            if choice is None or choice.auxiliary_graph is not None:
                return None, f"a second graph that the analyst gave{more}"
            drawn_from = data.view.load_release(ORIGINAL, 0).num_edges
            links = round(drawn_from * (choice.overlap + choice.noise))
            found = links + choice.seeds_known
            return found, f"links of a second graph, and nodes found already{more}"
        case "attribute":
            if isinstance(knowledge, Shadow):
                return None, "another labelled graph"
            column = attack.target or threats.private or ""
            labelled = int(graph.column(column).known.sum())
            share = knowledge.share if isinstance(knowledge, Auxiliary) else threats.known
            known = round(share * labelled)
            if threats.known_people is not None and not isinstance(knowledge, Auxiliary):
                known = len(threats.known_people)
            if isinstance(knowledge, Joint) and knowledge.how == "known":
                known += labelled * (len(threats.columns) - 1)
            return known, f"private values{more}"
        case _:
            if isinstance(knowledge, Composition):
                number = len(knowledge.defenses) or knowledge.releases or 1
                links = data.view.load_release(release, 0).num_edges
                return (number - 1) * links, f"links of further releases{more}"
            return 0, f"names two nodes{more}"


def list_subjects(data: ReportData) -> list[str]:
    """The original and the release under decision; without one, the first three releases."""
    rest = data.ids[1:4] if data.subject is None else [data.subject.release]
    return list(dict.fromkeys([ORIGINAL, *rest]))
