"""How often an audit takes as long as was said: the range before it starts and at its tenth part.

    python -m tests.benchmarks.estimates [--graphs karate,social,…] [--limit 600] [--out rows.jsonl]
        [--one-home]

Ten audits of five graphs by default, each in an empty AUDIT_HOME; with `--one-home` in the same,
one after the other, so that later ones know what earlier ones took. A row says what was shown
(seconds, low and high), what it took, and whether the range held; the last lines count. "quiet" is
what it takes where nothing else runs: its seconds in proportion to the processor seconds of its
cells over their seconds.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

from core.audit.asked.presets import PRESETS, Asked, choose_attacks
from core.audit.asked.spec import AuditSpec
from core.audit.service import AuditService
from core.audit.store.estimate import TimeRange
from core.data.catalogue import load_dataset
from tests.benchmarks.finite import print_finite

AUDITS = (
    ("karate", "quick", ("random_deletion",), 3),
    ("karate", "standard", ("edge_rand:epsilon=3",), 2),
    ("social", "quick", ("random_deletion", "edge_rand:epsilon=3"), 3),
    ("social", "standard", (), 1),
    ("cora", "quick", ("random_deletion",), 3),
    ("cora", "standard", (), 1),
    ("nba", "quick", ("degree_deletion", "dice"), 5),
    ("nba", "standard", (), 1),
    ("social", "quick", ("ppgsl",), 2),
    ("lastfm_asia", "quick", ("random_deletion",), 2),
)
"""(graph, preset, defenses, repeats), in the order in which they run."""


def make_spec(
    service: AuditService, name: str, preset_key: str, defenses: tuple[str, ...], num_repeats: int
) -> Any:
    """The audit that a page would start."""
    from core.audit.asked.method_choice import MethodChoice

    graph = load_dataset(name).graph
    preset = next(preset for preset in PRESETS if preset.key == preset_key)
    private = next(iter(graph.attributes), None)
    asked = Asked(True, private is not None)
    keys = [choice.key for choice in choose_attacks(asked, [preset.key])]
    return AuditSpec.check_spec(
        {
            "graph_name": name,
            "graph_hash": service.save_graph(graph),
            "private": private,
            "hide_links": 0.1,
            "num_repeats": num_repeats,
            "attacks": [MethodChoice(key=key) for key in keys],
            "defenses": [MethodChoice.parse(text, "defense") for text in defenses],
        }
    )


def holds(shown: TimeRange | None, seconds: float) -> bool | None:
    """Whether what it took lies in the range; None where nothing was shown."""
    return None if shown is None else shown.low <= seconds <= shown.high


def measure(service: AuditService, spec: AuditSpec, limit: float) -> dict[str, Any]:
    """One row: the range before the start and at the tenth part, and what it took."""
    before = service.estimate_time(spec)
    began, tenth = time.monotonic(), None
    audit_id = service.start_audit(spec)
    while not service.wait(audit_id, 0.25):
        progress, passed = service.get_progress(audit_id), time.monotonic() - began
        if tenth is None and progress.cells_done * 10 >= progress.cells_total:
            left = progress.time_left
            tenth = None if left is None else TimeRange(passed + left.low, passed + left.high)
        if passed > limit:
            service.cancel_audit(audit_id)
    seconds = time.monotonic() - began
    is_cut = str(service.get_progress(audit_id).state) != "done"
    cells = service._store.list_cells(audit_id, "seconds", "cpu_seconds")
    share = sum(cell.cpu_seconds for cell in cells) / sum(cell.seconds for cell in cells)
    return {
        "graph": spec.graph_name,
        "cells": service.get_progress(audit_id).cells_total,
        "seconds": seconds,
        "quiet": seconds * min(share, 1.0),
        "before": [before.low, before.high],
        "tenth": None if tenth is None else [tenth.low, tenth.high],
        "before_holds": None if is_cut else holds(before, seconds),
        "quiet_holds": None if is_cut else holds(before, seconds * min(share, 1.0)),
        "tenth_holds": None if is_cut else holds(tenth, seconds),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--graphs", help="only the audits of these, by commas")
    parser.add_argument("--limit", type=float, default=600.0, help="seconds; longer ones are cut")
    parser.add_argument("--out", help="rows as JSON lines")
    parser.add_argument("--one-home", action="store_true")
    options = parser.parse_args()
    chosen = [a for a in AUDITS if not options.graphs or a[0] in options.graphs.split(",")]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for number, audit in enumerate(chosen):
            service = AuditService(Path(folder) / ("" if options.one_home else f"home-{number}"))
            try:
                rows.append(measure(service, make_spec(service, *audit), options.limit))
            finally:
                service.close()
            print(json.dumps(rows[-1]), flush=True)
            if options.out:
                with open(options.out, "a", encoding="utf-8") as file:
                    file.write(json.dumps(rows[-1]) + "\n")
    for when in ("before", "quiet", "tenth"):
        known = [row[f"{when}_holds"] for row in rows if row[f"{when}_holds"] is not None]
        print(f"{when}: the range held in {sum(known)} of {len(known)} audits")
    print(f"widest range before: × {max(row['before'][1] / row['before'][0] for row in rows):.2f}")


if __name__ == "__main__":
    print_finite(main)
