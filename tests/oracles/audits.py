"""Finished audits by hand: which attack reached what on which release."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from core.audit.asked.attack import attach_referents, parse_attack
from core.audit.asked.method_choice import MethodChoice
from core.audit.asked.release_info import parse_release
from core.audit.asked.spec import AuditSpec
from core.audit.computing.link_sample import LinkSample
from core.audit.results.node_risks import NodeRisks
from core.audit.results.view import (
    CELL_COLUMNS,
    PROFILE_COLUMNS,
    RESULT_COLUMNS,
    AuditSummary,
    AuditView,
    ReleaseSummary,
)
from core.audit.store.states import State
from core.registry import list_methods
from core.release import EMPIRICAL, ORIGINAL, Guarantee
from tests.oracles.graphs import two_communities
from tests.oracles.node_risks import build_risks

Scores = Mapping[tuple[str, str, str], float]
"""(release, attack or "release", metric) → value."""


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
        lambda: NodeRisks.build((), {}, ()) if nodes is None else build_risks(nodes),
        lambda: pd.DataFrame(columns=list(PROFILE_COLUMNS)),
        dict,
        lambda: graph,
        lambda _release, _repeat: graph,
        lambda _release: LinkSample.draw(graph, graph),
    )
