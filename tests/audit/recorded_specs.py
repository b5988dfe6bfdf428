"""Audits whose results are recorded, for any later version to compute again.

    python -m tests.audit.recorded_specs CHECKOUT

runs each by the command line of that checkout and writes recorded_NAME.json beside this file. The
files at hand are of the commit 01dc619e.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from core.data.synthetic import generate_social
from tests.benchmarks.same_results import identify_row
from tests.conftest import find_data_root

FOLDER = Path(__file__).parent
FACTS = ("value", "low", "high", "n", "seeds", "status", "reason")
DIGITS = 11
"""Significant digits of what is kept, two more than are compared."""


def _choose(keys: str) -> list[dict[str, Any]]:
    return [{"key": key} for key in keys.split()]


SPLITS = {"num_repeats": 1, "hide_links": 0.1}
SPECS: dict[str, tuple[str, dict[str, Any]]] = {
    "generated_attacks": (
        "links.csv",
        {
            "private": "affiliation",
            "identity": {},
            "released_links": True,
            "attacks": _choose(
                "common_neighbors adamic_adar resource_allocation jaccard preferential_attachment "
                "feature_neighbourhood mechanism_posterior degree_product feature_cosine "
                "label_propagation com_infer class_prior feature_regression degree "
                "degree_triangles neighbor_degrees random_match degree_match"
            ),
            "defenses": [{"key": "edge_rand", "config": {"epsilon": 6.0}}],
        },
    ),
    "generated_defenses": (
        "links.csv",
        {
            "private": "affiliation",
            "attacks": _choose("adamic_adar label_propagation"),
            "defenses": _choose(
                "pseudonyms random_deletion random_rewiring degree_deletion rabv dice rw_lp "
                "edge_rand lap_graph tmf randomized_response sym_rr l_dpgcn dprr"
            ),
        },
    ),
    "nba": (
        "nba",
        {
            "private": "country",
            "utility": "SALARY",
            "attacks": [
                {"key": "gps", "config": {"epochs": 20, "hidden": 16, "role_hidden": 8}},
                *_choose("class_prior adamic_adar"),
            ],
            "defenses": [
                {"key": "gps_sampling", "config": {"epochs": 8, "attacker_steps": 5, "restarts": 1}}
            ],
        },
    ),
    "cora": (
        "cora",
        {
            "attacks": [
                {"key": "gae_cosine", "config": {"epochs": 20}},
                *_choose("common_neighbors"),
            ],
            "defenses": [
                {"key": "ppgsl", "config": {"steps": 20, "mu": 5, "surrogate_epochs": 10}}
            ],
        },
    ),
}
"""Name → graph and fields of the spec: every method of 01dc619e that takes an instant, on a
generated network; GPS as attack and defense; PPGSL."""


def write_network(folder: Path) -> None:
    """links.csv and nodes.csv of a generated network of 200 people."""
    graph = generate_social(200)
    names = pd.Series(graph.node_ids)
    links = {"source": names[graph.edges[:, 0]].array, "target": names[graph.edges[:, 1]].array}
    pd.DataFrame(links).to_csv(folder / "links.csv", index=False)
    features = pd.DataFrame(graph.dense_features(), columns=list(graph.feature_names))
    columns = {
        name: pd.Series(column.classes)[column.codes].array
        for name, column in graph.attributes.items()
    }
    pd.DataFrame({"node": names, **columns}).join(features).to_csv(
        folder / "nodes.csv", index=False
    )


def list_options(graph: str, folder: Path) -> list[str]:
    """Options that name the graph."""
    if graph != "links.csv":
        return ["--graph", graph]
    return ["--graph", str(folder / graph), "--nodes", str(folder / "nodes.csv"), "--id", "node"]


def pack_rows(rows: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, list[Any]]]:
    """Release → rest of the row's name → its facts, without the status of what is done."""
    found: dict[str, dict[str, list[Any]]] = {}
    for row in rows:
        release, *rest = identify_row(row)
        facts = [_round(row[name]) for name in FACTS]
        found.setdefault(release, {})[" ".join(rest)] = facts[: 5 if row["status"] == "done" else 7]
    return found


def _round(value: Any) -> Any:
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


def main(checkout: Path) -> None:
    """Run every spec in a checkout and write what it found."""
    single = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    own = {"AUDIT_DEVICE": "cpu", "AUDIT_WORKERS": "1", "AUDIT_DATA": str(find_data_root())}
    for name, (graph, fields) in SPECS.items():
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            write_network(folder)
            (folder / "spec.json").write_text(json.dumps({**SPLITS, **fields}))
            subprocess.run(
                [
                    *(sys.executable, "-m", "core", "audit", *list_options(graph, folder)),
                    *("--spec", str(folder / "spec.json"), "--out", str(folder / "out")),
                ],
                cwd=checkout,
                env={**os.environ, **single, **own, "AUDIT_HOME": str(folder / "home")},
                check=True,
            )
            made = json.loads((folder / "out" / "audit.json").read_text())
        rows = pack_rows(made["results"])
        lines = ",\n".join(
            f'  "{release}": {{\n'
            + ",\n".join(f"   {json.dumps(key)}: {json.dumps(row)}" for key, row in own.items())
            + "\n  }"
            for release, own in rows.items()
        )
        head = json.dumps(made["spec"])
        text = f'{{\n "spec": {head},\n "rows": {{\n{lines}\n }}\n}}\n'
        (FOLDER / f"recorded_{name}.json").write_text(text)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
