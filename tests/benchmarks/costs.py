"""Processor seconds of every method on graphs of several sizes, and the costs fitted to them.

    python -m tests.benchmarks.costs record ROWS.csv [--only karate,cora] [--budget 1200]
    python -m tests.benchmarks.costs fit ROWS.csv
    python -m tests.benchmarks.costs profile ROWS.csv --only nba

`record` runs audits in a home of their own and writes one row a cell, in processor seconds, which
other work on the machine changes little; after the budget no further audit starts. `fit` writes
`core/audit/store/costs.csv` and prints how far off each method's predictions are, each graph
predicted from the others. `profile` says what each part of a repeat of the standard audit of the
original takes, private column and withheld links.
"""

from __future__ import annotations

import argparse
import csv
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import lsq_linear

from core.audit.asked.method_choice import MethodChoice
from core.audit.asked.parts import PARTS
from core.audit.asked.presets import PRESETS, Asked
from core.audit.asked.spec import AuditSpec
from core.audit.computing.prepared import PreparedAudit
from core.audit.service import AuditService
from core.audit.store.costs import TABLE, UNITS, Shape, time_probe
from core.audit.store.estimate import make_task, shares_result
from core.audit.store.states import State
from core.data.catalogue import load_dataset
from core.data.synthetic import generate_social
from core.graph import Graph
from core.methods import ATTACK_KINDS
from core.registry import list_methods
from tests.benchmarks.finite import print_finite

Method = tuple[str, str]
Point = tuple[str, Shape, float]
SHARING = ("attack", "best_single"), ("attack", "ensemble")
"""Two attacks with most of their work in common, which whoever is first does."""

FLOOR = 0.002
"""Seconds below which cells do not differ."""

USUAL, RIDGE = (0.4, 0.4, 0.1), 2.0
"""Exponents of nodes, links and values of most methods, and what they weigh beside the points."""

SLOW = ("transport_matcher", "supervised_matcher", "faq_matcher")
SLOW_DEFENSES = ("netfense", "gps_sampling", "nettack")
LEFT_OUT = ("command", "external", "value_join", "without_columns")
"""They run a program of the user's own, judge a given release, need values of links, and take no
time of their own."""

BASELINES = ("class_prior", "degree_product")
FINDING = ("ppgsl:target=0.6", "ppne:target=0.6")
COLUMNS = ("graph", "nodes", "links", "values", "kind", "name", "cpu_s")

AUDITS: tuple[dict[str, Any], ...] = (
    {"graph": "karate", "attacks": "all", "repeats": 2, "named": ["pseudonyms", "without_columns"],
     "more": {"measures": list(PARTS)}},
    {"graph": "social-200", "named": FINDING},
    {"graph": "social-200", "attacks": "all", "repeats": 2},
    {"graph": "social-200", "defenses": "all"},
    {"graph": "cora", "attacks": "all", "without": SLOW},
    {"graph": "nba", "attacks": "all", "without": SLOW},
    {"graph": "karate", "defenses": "all"},
    {"graph": "social-1000", "attacks": "all", "without": SLOW[:1]},
    {"graph": "cora", "defenses": "all", "without": SLOW_DEFENSES},
    {"graph": "nba", "defenses": "all", "without": SLOW_DEFENSES},
    {"graph": "social-200", "attacks": "all", "without": SLOW, "named": ["edge_rand:epsilon=3"],
     "more": {"adaptive": True, "released_links": True}},
)  # fmt: skip
"""In the order of what they tell, for a budget that ends earlier."""


def load_graph(name: str) -> Graph:
    """A graph of the catalogue, or a generated one: "social-200"."""
    kind, _, people = name.partition("-")
    return generate_social(int(people)) if people else load_dataset(kind).graph


def make_spec(audit: dict[str, Any], graph: Graph) -> AuditSpec:
    """One repeat of what the entry of `AUDITS` says, with a private column and withheld links."""
    wanted = {"all": ("instant", "seconds", "minutes"), "standard": ("instant", "seconds")}
    costs, without = wanted.get(audit.get("attacks", ""), ()), audit.get("without", ())
    attacks = [
        method.info.key
        for kind in ATTACK_KINDS
        for method in list_methods(kind)
        if method.info.cost in costs and method.info.key not in without
    ]
    defenses = list(audit.get("named", ()))
    if audit.get("defenses") == "all":
        keys = [method.info.key for method in list_methods("defense")]
        defenses = [key for key in keys if key not in (*LEFT_OUT, *without)]
    private = next(iter(graph.attributes))
    return AuditSpec.check_spec(
        {
            "graph_name": audit["graph"],
            "graph_hash": graph.content_hash,
            "private": private,
            "utility": next((name for name in graph.attributes if name != private), None),
            "hide_links": 0.1,
            "identity": {} if attacks else None,
            "num_repeats": audit.get("repeats", 1),
            "attacks": [MethodChoice(key=key) for key in attacks or BASELINES],
            "defenses": [MethodChoice.parse(text, "defense") for text in defenses],
            **audit.get("more", {}),
        }
    )


def record(service: AuditService, audit: dict[str, Any]) -> list[tuple[Any, ...]]:
    """One row a finished cell."""
    graph = load_graph(audit["graph"])
    service.save_graph(graph)
    spec = make_spec(audit, graph)
    audit_id = service.start_audit(spec)
    while not service.wait(audit_id, 5):
        pass
    shown = PreparedAudit.load(spec, service.load_graph).graph
    shape = Shape.of(shown)
    columns = ("kind", "release", "method", "state", "seconds", "cpu_seconds", "reason")
    rows = []
    for cell in service._store.list_cells(audit_id, *columns):
        if cell.state != State.DONE:
            print(audit["graph"], cell.release, cell.method, cell.state, cell.reason[:90])
        elif not shares_result(cell.release, cell.method):
            task = make_task(cell.kind, cell.method, shape, cell.release)
            seconds = min(cell.cpu_seconds, cell.seconds) or 0.001
            rows.append((audit["graph"], *map(round, task.shape), cell.kind, task.name, seconds))
    return rows


def read_rows(path: Path) -> dict[Method, list[Point]]:
    """Of each method the mean seconds on each shape, with the name of the graph."""
    found: dict[Method, dict[tuple[str, Shape], list[float]]] = {}
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            shape = Shape(*(int(row[name]) for name in ("nodes", "links", "values")))
            method = found.setdefault((row["kind"], row["name"]), {})
            method.setdefault((row["graph"], shape), []).append(float(row["cpu_s"]))
    for (graph, shape), first in found.get(SHARING[0], {}).items():
        first += found[SHARING[1]][graph, shape]
        found[SHARING[1]][graph, shape] = first
    return {
        method: [(graph, shape, float(np.mean(all_))) for (graph, shape), all_ in points.items()]
        for method, points in sorted(found.items())
    }


def describe(shape: Shape) -> np.ndarray:
    """(4,) what the logarithm of the seconds is linear in."""
    return np.array([1.0, *np.log1p(np.divide(shape, UNITS))])


def fit(points: list[Point]) -> np.ndarray:
    """(4,) logarithm of the seconds of the smallest graphs, and exponents, none negative, which
    few points leave near the usual ones."""
    matrix = np.array([describe(shape) for _, shape, _ in points])
    seconds = np.log([max(each, FLOOR) for _, _, each in points])
    ridge = np.diag([0.0, RIDGE, RIDGE, RIDGE])
    return lsq_linear(
        np.vstack([matrix, ridge]),
        np.append(seconds, ridge @ [0.0, *USUAL]),
        bounds=([-np.inf, 0, 0, 0], np.inf),
    ).x


def predict(coefficients: np.ndarray, shape: Shape) -> float:
    return max(float(np.exp(coefficients @ describe(shape))), FLOOR)


def fit_all(rows: dict[Method, list[Point]]) -> dict[Method, np.ndarray]:
    """Coefficients of each method; with knowledge, which was met on few graphs, those of the
    method itself in proportion."""
    own = {method: fit(points) for method, points in rows.items()}
    for (kind, name), points in rows.items():
        base = own.get((kind, name.partition("@")[0]))
        if base is not None and "@" in name:
            gaps = [np.log(max(s, FLOOR) / predict(base, shape)) for _, shape, s in points]
            own[kind, name] = base + np.array([np.mean(gaps), 0.0, 0.0, 0.0])
    return own


def leave_out(rows: dict[Method, list[Point]]) -> list[tuple[str, float, float]]:
    """(graph, true, predicted) seconds of all cells of a graph, by fits without it."""
    found = []
    for graph in dict.fromkeys(each for points in rows.values() for each, _, _ in points):
        others = {m: kept for m, p in rows.items() if (kept := [x for x in p if x[0] != graph])}
        costs = fit_all(others)
        pairs = [
            (seconds, predict(costs[method], shape))
            for method, points in rows.items()
            for each, shape, seconds in points
            if each == graph and method in costs
        ]
        found.append((graph, *map(float, np.sum(pairs, axis=0))))
    return found


def print_profile(rows: dict[Method, list[Point]], graph: str) -> None:
    """A row a part, the longest first, then the sum of each kind of work."""
    preset = next(each for each in PRESETS if each.key == "standard")
    kinds = {c.key: c.kind.replace("_", " ") for c in preset.list_attacks(Asked(True, True))}
    kinds |= {name: "measure" for name, part in PARTS.items() if part.is_usual}
    found = [
        (points[0][2], name, kinds[name])
        for (_, name), all_ in rows.items()
        if name in kinds and (points := [each for each in all_ if each[0] == graph])
    ]
    total = sum(seconds for seconds, *_ in found)
    print("| part | kind | CPU s | share |\n|---|---|---|---|")
    for seconds, name, kind in sorted(found, reverse=True):
        print(f"| {name} | {kind} | {seconds:.2f} | {seconds / total:.0%} |")
    for kind in dict.fromkeys(kinds.values()):
        part = sum(seconds for seconds, _, other in found if other == kind)
        print(f"| all | {kind} | {part:.1f} | {part / total:.0%} |")


def write_table(costs: dict[Method, np.ndarray], path: Path) -> None:
    """The table that estimates read."""
    probe = ", ".join(f"{seconds:.4f}" for seconds in time_probe())
    lines = [
        "# Seconds of a cell on the smallest graphs; exponents of nodes, links, values of columns.",
        f"# python -m tests.benchmarks.costs fit, {datetime.now(UTC):%Y-%m-%d}",
        f"probe = [{probe}]",
    ]
    kinds = dict.fromkeys(kind for kind, _ in costs)
    for kind in kinds:
        lines += ["", f"[cost.{kind}]"]
        for (other, name), found in costs.items():
            if other == kind:
                cells = [f"{np.exp(found[0]):.3g}", *(f"{max(c, 0.0):.2f}" for c in found[1:])]
                lines.append(f'"{name}" = [{", ".join(cells)}]')
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("do", choices=("record", "fit", "profile"))
    parser.add_argument("rows", type=Path)
    parser.add_argument("--only", help="graphs, by commas")
    parser.add_argument("--budget", type=float, default=1200.0, help="CPU seconds of all cells")
    options = parser.parse_args()
    if options.do == "profile":
        print_profile(read_rows(options.rows), options.only or "nba")
        return
    if options.do == "fit":
        rows = read_rows(options.rows)
        write_table(fit_all(rows), TABLE)
        for graph, true, predicted in leave_out(rows):
            print(f"{graph}: {true:.1f} CPU s, predicted {predicted:.1f}")
        return
    spent = 0.0
    with tempfile.TemporaryDirectory() as home, open(options.rows, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        service = AuditService(home)
        try:
            for audit in AUDITS:
                if options.only and audit["graph"] not in options.only.split(","):
                    continue
                if spent > options.budget:
                    print("left out:", audit)
                    continue
                began = time.monotonic()
                rows = record(service, audit)
                writer.writerows(rows)
                file.flush()
                took = sum(row[-1] for row in rows)
                spent += took
                wall = time.monotonic() - began
                print(f"{audit}: {len(rows)} cells, {took:.1f} CPU s, {wall:.1f} s", flush=True)
        finally:
            service.close()


if __name__ == "__main__":
    print_finite(main)
