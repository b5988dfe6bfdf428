"""Benchmarks: the same attacks and defenses on several graphs, one ordinary audit per graph.

A benchmark is a list of audits and the table of their results; its audits are planned, computed,
stored and resumed like any other.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pydantic import BaseModel, ConfigDict, Field

from core.audit.asked.attack import parse_attack
from core.audit.asked.method_choice import MethodChoice
from core.audit.asked.presets import add_data_independent
from core.audit.asked.release_info import parse_release
from core.audit.asked.spec import AuditSpec
from core.audit.results.view import RESULT_COLUMNS, AuditView
from core.errors import InputError, validate
from core.graph import Graph
from core.methods import ATTACK_KINDS, Kind, Method
from core.registry import list_methods, make_method, parse_method
from core.release import ORIGINAL
from core.seeding import Seed

EVERY = "all"
"""Selects all methods of a kind."""

TABLE_COLUMNS = ("graph", "num_nodes", "num_edges", "guarantee", "epsilon", *RESULT_COLUMNS)
"""Columns of `gather_results`: one row per graph, release, method and metric.

guarantee, epsilon  guarantee of the release as text, and the budget of its unit; "none" and missing
for the original
config              settings of the defense as JSON text
The others are those of `AuditView.results`.
"""


class BenchmarkSpec(BaseModel):
    """Graphs × defenses × budgets × attacks × repeats, with the options of `audit`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    graphs: tuple[str, ...] = Field(
        (), description="Names of the catalogue or files; none: all of the catalogue at hand."
    )
    attacks: tuple[str, ...] = Field((), description="KEY[:name=value,…], or 'all'.")
    defenses: tuple[str, ...] = Field((), description="KEY[:name=value,…], or 'all'.")
    epsilon: tuple[float, ...] = Field(
        (), description="Budgets that each defense with a setting epsilon is run with."
    )
    num_repeats: int = Field(5, ge=1, le=100, description="Repeats of each audit.")
    data_independent: bool = Field(
        True, description="Run the data-independent baselines of syntheses too."
    )
    at_most: dict[str, float] = Field(
        default_factory=dict,
        description="Numeric settings by name, lowered to this in every method that has them and "
        "is given without settings.",
    )
    max_nodes: int | None = Field(
        None, ge=10, description="Of larger graphs a random walk samples so many nodes."
    )
    audit: dict[str, Any] = Field(
        default_factory=dict, description="Further fields of each audit's spec."
    )

    @staticmethod
    def check(fields: Mapping[str, Any]) -> BenchmarkSpec:
        """Validated spec of a JSON object; raises InputError."""
        spec = validate(BenchmarkSpec, fields, "benchmark field '{}'".format)
        if not spec.defenses:
            raise InputError("benchmark", "must name a defense", remedy='give "defenses": ["all"]')
        spec.list_attacks()
        spec.list_defenses()
        return spec

    def list_attacks(self) -> list[MethodChoice]:
        """Configured attacks of every kind of threat."""
        return self._choose(self.attacks, *ATTACK_KINDS)

    def list_defenses(self) -> list[MethodChoice]:
        """Defenses with every budget, and the baselines of syntheses."""
        choices = [
            budgeted
            for choice in self._choose(self.defenses, "defense")
            for budgeted in _vary_budget(choice, self.epsilon)
        ]
        return add_data_independent(choices) if self.data_independent else choices

    def _choose(self, texts: Sequence[str], *kinds: Kind) -> list[MethodChoice]:
        """Methods named beside 'all' keep their settings."""
        named = {text.partition(":")[0] for text in texts}
        methods: list[Method] = []
        for text in texts:
            if text == EVERY:
                every = (method for kind in kinds for method in list_methods(kind))
                methods += [self._lower(m) for m in every if m.info.key not in named]
            else:
                method = parse_method(text, *kinds)
                methods.append(self._lower(type(method)) if text == method.info.key else method)
        return [MethodChoice.of(method) for method in methods]

    def _lower(self, method: type[Method]) -> Method:
        """The method with default settings limited by `at_most`."""
        usual = method().config
        lower = {
            name: type(usual[name])(limit)
            for name, limit in self.at_most.items()
            if isinstance(usual.get(name), int | float) and usual[name] > limit
        }
        return make_method(method.info.key, lower, method.kind)


BUILT_IN = {
    "audit": BenchmarkSpec.model_validate(
        {
            "attacks": [EVERY],
            "defenses": [EVERY],
            "audit": {"hide_links": 0.1, "released_links": True, "identity": {}},
        }
    ),
    "pgb": BenchmarkSpec.model_validate(
        {
            "defenses": ["tmf", "dp_1k", "dp_2k", "dgg", "priv_graph", "priv_skg", "priv_hrg"],
            "epsilon": [0.1, 0.5, 1, 2, 5, 10],
            "num_repeats": 10,
            "data_independent": False,
            "audit": {"released_links": True, "measures": ["structure", "queries"]},
        }
    ),
}
"""Named benchmarks. pgb: the methods of PGB (Liu et al., 2024) available here, with its budgets,
repeats and queries; no links are withheld and no attacks run."""

QUICK_GRAPHS = ("karate", "social")
"""Built-in graphs."""

QUICK_SETTINGS: dict[str, float] = {
    "attacker_steps": 1,
    "budget": 2,
    "dimensions": 32,
    "embedding": 0,
    "epochs": 10,
    "folds": 3,
    "further": 0,
    "max_links": 500,
    "max_pairs": 500,
    "members": 1,
    "num_candidates": 5,
    "restarts": 1,
    "rounds": 6,
    "steps": 50,
    "surrogate_epochs": 20,
    "trees": 20,
    "walk_length": 10,
    "walks_per_node": 2,
}
"""Settings that make every method cheap; 0 turns a switch off. Learned attacks are weaker then."""

QUICK_ATTACKS = tuple(
    f"{key}:members=label_propagation+attri_infer,folds=3" for key in ("best_single", "ensemble")
)
"""The same for attacks that combine other attacks."""

QUICK_NODES = 200


MAX_STEPS = 1_000
"""Steps of the sampling walk per node."""

JUMP = 0.15
"""Jump probability of the sampling walk."""


def shrink(benchmark: BenchmarkSpec, graph: Graph) -> Graph:
    """The graph or, if it is larger, the subgraph on `benchmark.max_nodes` nodes visited by a
    random walk with jumps (Leskovec and Faloutsos, KDD 2006, RJ), renamed accordingly."""
    most, n = benchmark.max_nodes, graph.num_nodes
    if most is None or n <= most:
        return graph
    rng = Seed(benchmark.audit.get("root_seed", 0)).rng("benchmark", "sample")
    indptr, indices = graph.adjacency.indptr, graph.adjacency.indices
    visited = np.zeros(n, bool)
    node = rng.integers(n)
    for _ in range(MAX_STEPS * most):
        visited[node] = True
        if visited.sum() == most:
            break
        first, end = indptr[node], indptr[node + 1]
        stays = end > first and rng.random() >= JUMP
        node = indices[rng.integers(first, end)] if stays else rng.integers(n)
    part = graph.subgraph(visited)
    return replace(part, name=f"{graph.name}, {part.num_nodes:,} nodes")


def make_quick(benchmark: BenchmarkSpec) -> BenchmarkSpec:
    """The same benchmark with one repeat and the cheapest settings, on two small graphs by
    default."""
    return benchmark.model_copy(
        update={
            "graphs": benchmark.graphs or QUICK_GRAPHS,
            "attacks": benchmark.attacks + QUICK_ATTACKS * (EVERY in benchmark.attacks),
            "num_repeats": 1,
            "max_nodes": QUICK_NODES,
            "at_most": {**benchmark.at_most, **QUICK_SETTINGS},
            "data_independent": False,
        }
    )


def _vary_budget(choice: MethodChoice, budgets: Iterable[float]) -> Iterable[MethodChoice]:
    if "epsilon" not in choice.config or not tuple(budgets):
        return [choice]
    return [
        MethodChoice(key=choice.key, config={**choice.config, "epsilon": value})
        for value in budgets
    ]


def make_audit(benchmark: BenchmarkSpec, graph: Graph) -> AuditSpec:
    """The audit of one graph, without threats and attacks that need a missing column.

    By default the first column is private and the last one is the recipient's target;
    `benchmark.audit` overrides this.
    """
    columns = list(graph.attributes)
    fields: dict[str, Any] = {"num_repeats": benchmark.num_repeats, **benchmark.audit}
    attacks = benchmark.list_attacks()
    if attacks and columns:
        fields = {"private": columns[0], **fields}
        fields = {"utility": columns[-1] if len(columns) > 1 else None, **fields}
    if fields.get("private") is None:
        attacks = [choice for choice in attacks if choice.kind != "attribute_attack"]
    return AuditSpec.check_spec(
        {
            **fields,
            "graph_hash": graph.content_hash,
            "graph_name": graph.name,
            "attacks": [choice.model_dump() for choice in attacks],
            "defenses": [choice.model_dump() for choice in benchmark.list_defenses()],
        }
    )


def gather_results(views: Iterable[AuditView]) -> pd.DataFrame:
    """Results of the audits as one table: `TABLE_COLUMNS`, and attack and made as in
    `AuditView.results`."""
    tables = [_describe_view(view) for view in views]
    return pd.concat(tables, ignore_index=True)[[*TABLE_COLUMNS, "attack", "made"]]


SUMMARY_REFERENTS = ("made", "by", "baseline_by")
"""Columns of a summary with what its columns release, attack and baseline refer to; missing
without a baseline."""


def read_summary(path: Path) -> pd.DataFrame:
    """A benchmark's summary.csv, with `SUMMARY_REFERENTS`."""
    table = pd.read_csv(path)
    known = {text: parse_attack(text) for text in {*table.attack, *table.baseline.dropna()}}
    return table.assign(
        made=table.release.map(parse_release),
        by=table.attack.map(known),
        baseline_by=table.baseline.map(known),
    )


def _describe_view(view: AuditView) -> pd.DataFrame:
    guarantees = {summary.id: summary.guarantee for summary in view.releases}
    labels = {name: guarantee.label for name, guarantee in guarantees.items()} | {ORIGINAL: "none"}
    budgets = {name: guarantee.epsilon_received for name, guarantee in guarantees.items()}
    table = view.results[[*RESULT_COLUMNS, "attack", "made"]]
    return table.assign(
        graph=view.spec.graph_name,
        num_nodes=view.summary.num_nodes,
        num_edges=view.summary.num_edges,
        guarantee=table.release.map(labels),
        epsilon=table.release.map(budgets).astype("float64"),
        config=table.config.map(lambda config: json.dumps(config, sort_keys=True)),
        **{c: pd.to_numeric(table[c]) for c in ("value", "low", "high")},
    )
