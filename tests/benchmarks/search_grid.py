"""Search against the whole grid of defenses and strengths: what it finds, and its CPU seconds.

    python -m tests.benchmarks.search_grid karate [--policies internal partner public] [--steps 8]

The grid audits every strength of every ladder with screening's attackers, and those within the
limits with the attackers and repeats that the policy requires; its best is the most useful release
still within. The search is stopped before it confirms, which a grid does not. Both audit the same
cells, so that seconds are those of the same computations.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from typing import Any
from unittest.mock import patch

from core.audit.asked.spec import AuditSpec
from core.audit.service import AuditService
from core.data.catalogue import load_dataset
from core.data.readers import load_graph
from core.findings.policy import find_policy
from core.findings.stopping import is_decided
from core.search import ladders
from core.search.measured import Measured, measure_releases
from core.search.run import SearchRequest, run_search
from core.search.strategy import Stage, Trial
from core.words import format_percent
from tests.benchmarks.finite import print_finite
from tests.conftest import find_data_root

NBA = {"id_column": "user_id", "private": "country", "unknown": ("-1",)}


def load(name: str) -> Any:
    """A graph of the catalogue, or NBA."""
    if name != "nba":
        return load_dataset(name).graph
    root = find_data_root()
    assert root is not None, "set AUDIT_DATA"
    folder = root / "nba"
    return load_graph(folder / "nba_relationship.txt", nodes_path=folder / "nba.csv", **NBA).graph


def audit_grid(
    service: AuditService, request: SearchRequest, stage: Stage, choices: list[Any]
) -> tuple[dict[str, Measured], float]:
    """Figures of every choice at a stage, and CPU seconds."""
    spec = request.make_spec(Trial(stage, 0, tuple(choices)), 1)
    audit_id = service.start_audit(spec, f"grid, {stage}")
    service.wait(audit_id)
    view = service.get_view(audit_id)
    seconds = float(view.cells.cpu_seconds.fillna(0).sum())
    return measure_releases(view, request.policy, list(request.useful)), seconds


def find_best(found: dict[str, Measured], request: SearchRequest) -> Measured | None:
    """The most useful release within the limits."""
    within = [
        m for m in found.values() if m.made.is_defended and m.is_within and m.keeps(request.useful)
    ]
    return max(within, key=lambda m: m.score, default=None)


def compare(service: AuditService, request: SearchRequest) -> dict[str, str]:
    """A row of the table."""
    graph = service.load_graph(request.spec.graph_hash)
    listed = ladders.build_ladders(request.spec, graph, request.policy)
    choices = [choice for ladder in listed for choice in ladder.rungs]
    screened, first = audit_grid(service, request, "screening", choices)
    left = [c for c in choices if screened[c.id].is_within and screened[c.id].keeps(request.useful)]
    raced, second = audit_grid(service, request, "race", left) if left else ({}, 0.0)
    best = find_best(raced, request)
    progress = run_search(
        service, request, watch=lambda progress: progress.search.stage != "confirmation"
    )
    races = {r: m for (stage, r), m in progress.search.measured.items() if stage == "race"}
    found = find_best(races, request)
    nearest = min(
        (m for m in screened.values() if m.made.is_defended and m.binding),
        key=lambda m: m.binding.severity if m.binding else 0.0,
    )
    share = "–"
    if best is not None:
        share = "missed" if found is None else f"{found.score / best.score:.3f}"
    return {
        "policy": request.policy.key,
        "releases": str(len(choices)),
        "grid": "none" if best is None else f"{best.made.title}, {format_percent(best.score)}",
        "search": "none" if found is None else f"{found.made.title}, {format_percent(found.score)}",
        "share of usefulness": share,
        "CPU s, grid": f"{first + second:.0f}",
        "CPU s, search": f"{progress.cpu_seconds:.0f}",
        "ratio": f"{progress.cpu_seconds / (first + second):.2f}",
        "binds": nearest.binding.limit.title if nearest.binding else "",
    }


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("graph")
    parser.add_argument("--private")
    parser.add_argument("--policies", nargs="+", default=["internal", "partner", "public"])
    parser.add_argument("--defenses", nargs="*", default=[])
    parser.add_argument("--useful", type=float, default=0.0)
    parser.add_argument("--steps", type=int, default=ladders.STEPS)
    options = parser.parse_args()
    os.environ.setdefault("AUDIT_DEVICE", "cpu")
    rows = []
    with tempfile.TemporaryDirectory() as home, patch.object(ladders, "STEPS", options.steps):
        service = AuditService(home, stopping_rule=is_decided)
        graph = load(options.graph)
        fields = {
            "graph_hash": service.save_graph(graph),
            "graph_name": options.graph,
            "hide_links": 0.1,
            "private": options.private,
            "defenses": [{"key": key} for key in options.defenses],
        }
        for key in options.policies:
            policy = find_policy(key).model_dump(mode="json")
            spec = AuditSpec.check_spec({**fields, "policy": policy})
            rows.append(
                compare(service, SearchRequest.check(spec, {"links": options.useful}, graph))
            )
            print(rows[-1], flush=True)
        service.close()
    names = list(rows[0])
    print(f"| {' | '.join(names)} |\n|{'---|' * len(names)}")
    for row in rows:
        print(f"| {' | '.join(row.values())} |")


if __name__ == "__main__":
    print_finite(main)
