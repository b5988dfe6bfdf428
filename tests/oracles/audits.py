"""Finished audits by hand: which attack reached what on which release."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd

from core.audit.asked.attack import attach_referents, parse_attack
from core.audit.asked.method_choice import MethodChoice
from core.audit.asked.release_info import parse_release
from core.audit.asked.spec import AuditSpec
from core.audit.computing.link_sample import LinkSample
from core.audit.jobs.layout import lay_out
from core.audit.results.node_risks import NODE_COLUMNS, NodeRisks
from core.audit.results.view import (
    CELL_COLUMNS,
    PROFILE_COLUMNS,
    REPEATS,
    RESULT_COLUMNS,
    AuditSummary,
    AuditView,
    ReleaseSummary,
)
from core.audit.store.states import State
from core.findings.policy import find_policy
from core.findings.required_knowledge import RequiredKnowledge
from core.measures.intervals import wilson_interval
from core.measures.node_risk import ADVANTAGE_LIMIT
from core.registry import list_methods
from core.release import EMPIRICAL, ORIGINAL, Guarantee
from tests.oracles.graphs import two_communities
from tests.oracles.node_risks import build_risks

Scores = Mapping[tuple[str, str, str], float]
"""(release, attack or "release", metric) → value."""

_PUBLIC = find_policy("public")
UNREHEARSED = _PUBLIC.model_copy(update={"attackers": RequiredKnowledge()})
"""The public's policy, of attackers who do not know the defense, as of these audits."""


def list_attack_keys(*costs: str) -> list[str]:
    """Attacks on withheld links and on a private column, of these costs where any are named."""
    kinds = ("link_attack", "attribute_attack")
    methods = [m for kind in kinds for m in list_methods(kind)]  # type: ignore[arg-type]
    methods = [m for m in methods if getattr(m, "threats", ("link",)) != ("included",)]
    return [m.info.key for m in methods if not costs or m.info.cost in costs]


def tabulate_results(
    rows: Iterable[Sequence[object]], columns: Sequence[str] = RESULT_COLUMNS
) -> pd.DataFrame:
    """A table of results by hand, with the attacks and releases that its ids name."""
    return attach_referents(pd.DataFrame(rows, columns=list(columns)))


def make_noise(
    releases: Sequence[str], attacks: Sequence[str]
) -> dict[tuple[str, str, str], float]:
    """What attackers who guess reach."""
    values: dict[tuple[str, str, str], float] = {}
    for release in releases:
        for attack in attacks:
            values[release, attack, "auc"] = 0.5
            values[release, attack, "tpr_at_fpr_0.01"] = 0.01
            if parse_attack(attack).threat == "attribute":
                values[release, attack, "class_advantage_share"] = 0.0
    return values


def make_audit(
    scores: Scores,
    attacks: Sequence[str],
    defenses: Sequence[str] = ("random_deletion",),
    half: float = 0.01,
    seeds: int = 5,
    nodes: pd.DataFrame | None = None,
    guarantees: Mapping[str, Guarantee] | None = None,
    state: State = State.DONE,
) -> AuditView:
    """An audit of both threats whose intervals are `half` wide either way."""
    graph = two_communities()
    spec = AuditSpec(
        graph_name="people",
        graph_hash=graph.content_hash,
        private="private",
        hide_links=0.1,
        num_repeats=seeds,
        attacks=tuple(MethodChoice(key=key) for key in attacks),
        defenses=tuple(MethodChoice.parse(text, "defense") for text in defenses),
    )
    rows = [
        (release, release, {}, method, metric, value, value - half, value + half, 400, seeds,
         "done", "")
        for (release, method, metric), value in scores.items()
    ]  # fmt: skip
    ids = [ORIGINAL, *defenses]
    summary = AuditSummary(
        "a1", "people", state, "2026-03-01T12:00:00+00:00", 1.0, "people", graph.content_hash,
        graph.num_nodes, graph.num_edges, 10, 10, 0, ("link", "attribute"),
        tuple(map(parse_attack, attacks)), tuple(map(parse_release, defenses)),
    )  # fmt: skip
    promised = guarantees or {}
    return AuditView(
        summary,
        spec,
        {"created": "2026-03-01T12:00:00+00:00", "version": "0.1.0"},
        tuple(ReleaseSummary(parse_release(r), promised.get(r, EMPIRICAL)) for r in ids),
        tabulate_results(rows),
        pd.DataFrame(columns=list(CELL_COLUMNS)),
        cache(lambda: NodeRisks.build((), {}, ()) if nodes is None else build_risks(nodes)),
        lambda: pd.DataFrame(columns=list(PROFILE_COLUMNS)),
        dict,
        lambda: graph,
        lambda: lay_out(graph),
        lambda _release, _repeat: graph,
        lambda _release: LinkSample.draw(graph, graph),
    )


LINKS = ("adamic_adar", "jaccard", "adamic_adar@adaptive", "degree_product")
VALUES = ("label_propagation", "com_infer", "label_propagation@adaptive", "class_prior")
PEOPLE = ("neighbor_degrees@identity", "degree@identity", "random_match@identity")
UTILITIES = ("node_classification_auc", "node_classification_f1", "link_prediction_auc", "link_f1")


def draw_audit(seed: int, num_nodes: int = 12) -> AuditView:
    """A finished audit of all threats with random values: standard and adaptive attacks, the latter
    on defended releases only; measures of usefulness of which some are missing."""
    rng = np.random.default_rng(seed)
    defenses = ("random_deletion", "edge_rand:epsilon=3.0")
    seeds, rows, nodes = int(rng.integers(1, 6)), [], []

    def add(release: str, method: str, metric: str, center: float) -> None:
        values = np.clip(center + rng.normal(0, 0.02, seeds), 0, 1)
        half = 1.0 / seeds**0.5 * 0.04 if seeds > 1 else float("nan")
        ends = (values.mean(), values.mean() - half, values.mean() + half)
        head = (release, release, {}, method, metric, *ends, 400, seeds, "done", "")
        rows.append((*head, dict(enumerate(values.tolist()))))

    metrics = {
        **dict.fromkeys(LINKS, ("tpr_at_fpr_0.01", "auc")),
        **dict.fromkeys(VALUES, ("tpr_at_fpr_0.01", "auc", "accuracy")),
        **dict.fromkeys(PEOPLE, ("expected_found", "hits_at_1")[: rng.integers(1, 3)]),
    }
    spread = rng.permutation(np.linspace(-0.2, 0.2, num_nodes))
    for release in (ORIGINAL, *defenses):
        for method, own in metrics.items():
            if "adaptive" in method and release == ORIGINAL:
                continue
            for metric in own:
                low = 0.5 if metric == "auc" else 0.05
                add(release, method, metric, rng.uniform(low, 0.95))
            least = 0.2 if "adaptive" in method else -0.2
            gain = rng.uniform(least, 0.4) + spread + rng.normal(0, 0.002, num_nodes)
            for number, one in enumerate(gain.tolist()):
                ends = (0.3 + one, 0.5 + one) if seeds > 1 else (np.nan, np.nan)
                nodes.append((f"n{number}", release, method, 0.4 + one, one, *ends, seeds))
            if method in VALUES:  # of one class
                share = float((gain > ADVANTAGE_LIMIT).mean())
                ends = (share, *wilson_interval(share * num_nodes, num_nodes))
                head = (release, release, {}, method, "class_advantage_share", *ends, num_nodes)
                rows.append((*head, seeds, "done", "", dict.fromkeys(range(seeds), share)))
        for metric in UTILITIES:
            if rng.random() < 0.8:
                add(release, "release", metric, rng.uniform(0.3, 0.95))
    keys = dict.fromkeys(method.partition("@")[0] for method in metrics)
    table = pd.DataFrame(nodes, columns=list(NODE_COLUMNS))
    view = make_audit({}, tuple(keys), defenses, seeds=seeds, nodes=table)
    policy = find_policy(("public", "partner", "internal")[seed % 3]).model_dump(mode="json")
    spec = view.spec.update(
        adaptive=True, identity={"overlap": 0.8, "seeds_known": 5}, policy=policy
    )
    return replace(view, spec=spec, results=tabulate_results(rows, [*RESULT_COLUMNS, REPEATS]))
