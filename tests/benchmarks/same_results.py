"""Whether two audits found the same: compares the `results` of two audit.json, row by row.

    python -m tests.benchmarks.same_results OLD/audit.json NEW/audit.json [--rtol 1e-9]

A row is named by release, method, threat, target, knowledge and metric; its value, interval, n,
number of repeats, status and reason must be equal. Prints what differs, by metric and line by
line; the exit code is 1 if a row changed or is missing, or a new one came.
"""

from __future__ import annotations

import argparse
import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.benchmarks.finite import print_finite

Row = Mapping[str, Any]
Name = tuple[str, ...]

_FACTS = ("n", "seeds", "status", "reason")
_NUMBERS = ("value", "low", "high")


def identify_row(row: Row) -> Name:
    """(release, method, metric, …), then what is not plain of threat, target and knowledge."""
    scenario = (
        row.get("threat", "") not in ("", "link", "attribute") and row["threat"],
        row.get("target", ""),
        row.get("knowledge", "") not in ("", "standard", "unaware", "assumed") and row["knowledge"],
    )
    return (row["release"], row["method"], row["metric"], *(part for part in scenario if part))


def _same_number(old: float | None, new: float | None, rtol: float) -> bool:
    if old is None or new is None:
        return old is new
    return old == new or math.isclose(old, new, rel_tol=rtol, abs_tol=rtol)


def compare_results(
    old: Sequence[Row],
    new: Sequence[Row],
    rtol: float = 0.0,
    trained: Mapping[str, float] | None = None,
) -> list[str]:
    """One line a difference; an empty list says that the results are the same.

    rtol     0: equal to the last bit; another processor may need 1e-9
    trained  metric → tolerance of what is computed from float32 weights after training
    """
    before = {identify_row(row): row for row in old}
    after = {identify_row(row): row for row in new}
    lines = [f"missing: {' '.join(name)}" for name in before if name not in after]
    lines += [f"new: {' '.join(name)}" for name in after if name not in before]
    for name in before.keys() & after.keys():
        a, b = before[name], after[name]
        close = (trained or {}).get(a["metric"], rtol)
        fields = [f for f in _NUMBERS if not _same_number(a[f], b[f], close)]
        fields += [f for f in _FACTS if a[f] != b[f]]
        if fields:
            what = ", ".join(f"{f} {a[f]!r} → {b[f]!r}" for f in fields)
            lines.append(f"changed: {' '.join(name)}: {what}")
    return sorted(lines)


def _sort(line: str) -> tuple[str, str]:
    """ "changed" and the metric, of a line of `compare_results`."""
    kind, _, rest = line.partition(": ")
    return kind, rest.partition(": ")[0].split()[2]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--rtol", type=float, default=0.0)
    options = parser.parse_args()
    old, new = (json.loads(path.read_text())["results"] for path in (options.old, options.new))
    lines = compare_results(old, new, options.rtol)
    for (kind, metric), count in sorted(Counter(map(_sort, lines)).items()):
        print(f"{count:5d} {kind} {metric}")
    print("\n".join(lines[:50]))
    print(f"{len(old)} rows before, {len(new)} after, {len(lines)} differences")
    return 1 if lines else 0


if __name__ == "__main__":
    print_finite(main)
