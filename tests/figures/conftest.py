"""A small audit by hand: two releases of one defense, one of another, four attacks."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest

from core.audit.asked.attack import parse_attack
from core.audit.asked.method_choice import MethodChoice
from core.audit.asked.release_info import parse_release
from core.audit.asked.spec import AuditSpec
from core.audit.computing.link_sample import LinkSample
from core.audit.jobs.layout import lay_out
from core.audit.results.node_risks import NODE_COLUMNS
from core.audit.results.view import (
    CELL_COLUMNS,
    PROFILE_COLUMNS,
    AuditSummary,
    AuditView,
    ReleaseSummary,
)
from core.audit.store.states import State
from core.graph import Graph
from core.release import Guarantee
from core.results import Estimate
from tests.oracles.audits import tabulate_results
from tests.oracles.graphs import two_communities
from tests.oracles.node_risks import build_risks

RELEASES = ("original", "random_deletion:strength=0.5", "random_deletion:strength=0.9")
LINK = {"common_neighbors": (0.84, 0.66, 0.52), "degree_product": (0.61, 0.58, 0.51)}
ATTRIBUTE = {"class_prior": (0.50, 0.50, 0.50)}


def result_row(release, method, metric, value, half=0.04, n=40, status="done", reason=""):
    defense, _, settings = release.partition(":")
    low, high = (None, None) if value is None or half is None else (value - half, value + half)
    return (release, defense, settings, method, metric, value, low, high, n, 5, status, reason)


def make_results() -> pd.DataFrame:
    rows = []
    for index, release in enumerate(RELEASES):
        for method, values in {**LINK, **ATTRIBUTE}.items():
            rows.append(result_row(release, method, "auc", values[index]))
            tpr = max(values[index] - 0.5, 0.01) / 4
            rows.append(result_row(release, method, "tpr_at_fpr_0.01", tpr, tpr / 2))
        rows.append(result_row(release, "common_neighbors", "precision_at_100", 0.2, 0.05))
        utility = (0.90, 0.82, 0.60)[index]
        rows.append(result_row(release, "release", "node_classification_f1", utility, 0.02))
        rows.append(result_row(release, "release", "links_kept", (1.0, 0.5, 0.1)[index], None))
    rows.append(
        result_row(
            "original",
            "common_neighbors",
            "tpr_at_fpr_0.001",
            None,
            n=40,
            status="skipped",
            reason="needs at least 1,000 non-links, has 40",
        )
    )
    rows.append(
        result_row(
            RELEASES[2],
            "release",
            "diameter",
            None,
            status="failed",
            reason="the release has no links",
        )
    )
    return tabulate_results(rows)


def make_nodes(graph: Graph, num_attacks: int = 3) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    attacks = [*LINK, *ATTRIBUTE][:num_attacks]
    parts = []
    for level, release in zip((0.85, 0.6, 0.5), RELEASES, strict=True):
        for attack in attacks:
            risk = np.clip(rng.normal(level, 0.12, graph.num_nodes), 0, 1)
            if attack == "common_neighbors":
                risk[:3] = np.nan
            parts.append(
                pd.DataFrame(
                    {
                        "node": graph.node_ids,
                        "release": release,
                        "attack": attack,
                        "risk": risk,
                        "advantage": risk - 0.5,
                        "low": np.clip(risk - 0.1, 0, 1),
                        "high": np.clip(risk + 0.1, 0, 1),
                        "seeds": 5,
                    }
                )
            )
    return pd.concat(parts, ignore_index=True)[list(NODE_COLUMNS)]


def make_profile(graph: Graph) -> pd.DataFrame:
    rng = np.random.default_rng(2)
    attribute = graph.column("private")
    parts = []
    for index, release in enumerate(RELEASES):
        proximity = np.clip(rng.normal(0.85 - 0.15 * index, 0.1, graph.num_nodes), 0, 1)
        role = np.clip(rng.normal(0.5, 0.1, graph.num_nodes), 0, 1)
        proximity[0] = np.nan
        parts.append(
            pd.DataFrame(
                {
                    "node": graph.node_ids,
                    "release": release,
                    "degree": graph.degrees,
                    "class": [attribute.classes[code] for code in attribute.codes],
                    "class_share": attribute.shares[attribute.codes],
                    "ghratio_proximity": proximity,
                    "ghratio_role": role,
                    "ghratio_combined": (proximity + role) / 2,
                }
            )
        )
    return pd.concat(parts, ignore_index=True)[list(PROFILE_COLUMNS)]


def make_rocs() -> dict[tuple[str, str], pd.DataFrame]:
    fpr = np.logspace(-3, 0, 40)
    return {
        (release, method): pd.DataFrame({"fpr": fpr, "tpr": fpr ** (2 * (1 - values[i]))})
        for i, release in enumerate(RELEASES)
        for method, values in {**LINK, **ATTRIBUTE}.items()
    }


def make_view(graph: Graph | None = None) -> AuditView:
    graph = graph or two_communities()
    attacks = (*LINK, *ATTRIBUTE)
    spec = AuditSpec(
        graph_name=graph.name,
        graph_hash=graph.content_hash,
        private="private",
        utility="label",
        known=0.2,
        hide_links=0.1,
        attacks=tuple(MethodChoice(key=key) for key in attacks),
        defenses=tuple(
            MethodChoice(key="random_deletion", config={"strength": s}) for s in (0.5, 0.9)
        ),
    )
    summary = AuditSummary(
        "a1",
        "test",
        State.DONE,
        "2026-03-01T12:00:00+00:00",
        4.2,
        graph.name,
        graph.content_hash,
        graph.num_nodes,
        graph.num_edges,
        20,
        22,
        1,
        ("link", "attribute"),
        tuple(map(parse_attack, attacks)),
        (parse_release("random_deletion"),),
    )
    releases = tuple(
        ReleaseSummary(
            parse_release(release),
            Guarantee(),
            {"links_kept": Estimate((1.0, 0.5, 0.1)[index], None, None, graph.num_edges, 5)},
            {} if index == 0 else {"loss": [(0, 1.0), (1, 0.6), (2, 0.5)]},
        )
        for index, release in enumerate(RELEASES)
    )

    def load_release(release: str, repeat: int) -> Graph:
        return graph.with_edges(graph.edges[:: 1 + RELEASES.index(release)])

    provenance = {
        "created": "2026-03-01T12:00:00+00:00",
        "version": "0.1.0",
        "graph_hash": graph.content_hash,
        "root_seed": 0,
        "device": "cpu",
        "packages": {"numpy": "2.4.6", "torch": "2.13.0"},
    }
    return AuditView(
        summary,
        spec,
        provenance,
        releases,
        make_results(),
        pd.DataFrame(columns=list(CELL_COLUMNS)),
        cache(lambda: build_risks(make_nodes(graph))),
        cache(lambda: make_profile(graph)),
        cache(make_rocs),
        lambda: graph,
        lambda: lay_out(graph),
        load_release,
        lambda release: LinkSample.draw(load_release(RELEASES[0], 0), load_release(release, 0)),
    )


@pytest.fixture(scope="session")
def view() -> AuditView:
    return make_view()
