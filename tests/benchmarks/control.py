"""Control people: what being in a release adds to an attacker's figures, on three graphs.

    python -m tests.benchmarks.control [--graphs nba,cora,lastfm_asia] [--repeats 5] [--share 0.2]

A share of the nodes is left out of each release; the table is that of the Attack page: one attack
a threat, the strongest on the original, its figure on the others and on control people, and the
difference, each with its 95 % interval. 10 % of the links are withheld, 10 % of the private values
are known. Measures of the releases themselves are left out.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from core.audit.asked.method_choice import MethodChoice
from core.audit.asked.spec import AuditSpec
from core.data.catalogue import load_dataset
from core.findings.control import tabulate_control
from tests.benchmarks.finite import print_finite
from tests.inline import run_inline

PRIVATE = {"nba": "country", "cora": "label", "lastfm_asia": "label"}
LEARNED = {"nba": "gps_sampling", "cora": "ppgsl", "lastfm_asia": "ppgsl"}
ATTACKS = (
    "adamic_adar",
    "feature_cosine",
    "mechanism_posterior",
    "label_propagation",
    "feature_regression",
    "neighbourhood_classifier",
)
LEFT_OUT = {"lastfm_asia": ("feature_cosine", "feature_regression", "neighbourhood_classifier")}
"""LastFM Asia has no features here, and the classifier takes five minutes a cell."""
COLUMNS = ["Threat", "Release", "Attack", "Released", "Control nodes", "Being in it adds", "n"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--graphs", default=",".join(PRIVATE))
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--share", type=float, default=0.2)
    options = parser.parse_args()
    for name in options.graphs.split(","):
        started = time.process_time()
        graph = load_dataset(name).graph
        attacks = [key for key in ATTACKS if key not in LEFT_OUT.get(name, ())]
        defenses = ("edge_rand:epsilon=6", LEARNED[name], "dgg:epsilon=6,data_free=true")
        fields = {
            "graph_hash": graph.content_hash,
            "private": PRIVATE[name],
            "known": 0.1,
            "hide_links": 0.1,
            "released_links": True,
            "control": options.share,
            "num_repeats": options.repeats,
            "measures": [],
            "attacks": [{"key": key} for key in attacks],
            "defenses": [MethodChoice.parse(text, "defense") for text in defenses],
        }
        with tempfile.TemporaryDirectory() as home:
            view = run_inline(AuditSpec.check_spec(fields), graph, Path(home))
        table = tabulate_control(view.results, view.control)[COLUMNS]
        print(f"\n**{name}**, {time.process_time() - started:.0f} CPU s\n")
        print("| " + " | ".join(COLUMNS) + " |\n" + "|---" * len(COLUMNS) + "|")
        for row in table.itertuples(index=False):
            print("| " + " | ".join(map(str, row)) + " |", flush=True)
        for row in view.cells[view.cells.state != "done"].itertuples():
            print(f"not done: {row.method} on {row.release}: {row.reason}")


if __name__ == "__main__":
    print_finite(main)
