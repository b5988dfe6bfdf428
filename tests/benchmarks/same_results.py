"""Whether two audits found the same: compares the `results` of two audit.json, row by row.

    python tests/benchmarks/same_results.py OLD/audit.json NEW/audit.json [--rtol 1e-9]

A row is named by release, method, threat, target, knowledge and metric; its value, interval, n,
number of repeats, status and reason must be equal. Rows of an audit.json from before threats had
names belong to the plain case. `RENAMES` lists the rows that were renamed since, with the reason.
Prints what differs; the exit code is 1 if a row changed or is missing, or a new one came.
`--since-fc75cde` sets rows apart that changed on purpose since that commit (`MENDED`, each with its
reason) or are new: what is left must be nothing.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

Row = Mapping[str, Any]
Name = tuple[str, ...]

RENAMES: dict[tuple[str, str], tuple[str, str]] = {}
"""Old (method, metric) → new (method, metric)."""

MENDED: tuple[tuple[str, str, str, str], ...] = (
    ("*", "*", "tpr_at_fpr_0.001", "20,000 non-links where there are so many"),
    ("*", "*", "tpr_at_fpr_0.01", "one class against the rest where there are more than two"),
    ("*", "feature_regression", "*", "constant columns are left out"),
    ("*", "label_propagation", "*", "version 2: class masses are normalised"),
    ("l_dpgcn", "*", "*", "version 2: the total it keeps was not epsilon-DP"),
)
"""(release, method, metric, why it changed since fc75cde); a star stands for any."""

_FACTS = ("n", "seeds", "status", "reason")
_NUMBERS = ("value", "low", "high")


def name_row(row: Row) -> Name:
    """(release, method, metric, …), then what is not plain of threat, target and knowledge."""
    method, metric = RENAMES.get((row["method"], row["metric"]), (row["method"], row["metric"]))
    scenario = (
        row.get("threat", "") not in ("", "link", "attribute") and row["threat"],
        row.get("target", ""),
        row.get("knowledge", "") not in ("", "standard", "unaware", "assumed") and row["knowledge"],
    )
    return (row["release"], method, metric, *(part for part in scenario if part))


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
    before = {name_row(row): row for row in old}
    after = {name_row(row): row for row in new}
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


def sort_out(lines: Sequence[str]) -> tuple[list[str], Counter[str]]:
    """What is left of the differences, and how many each reason of `MENDED` explains."""
    left, explained = [], Counter[str]()
    for line in lines:
        kind, _, rest = line.partition(": ")
        parts = rest.partition(": ")[0].split()
        reasons = (
            why
            for *pattern, why in MENDED
            if kind == "changed"
            and all(p in ("*", part) for p, part in zip(pattern, parts, strict=False))
        )
        reason = "new rows" if kind == "new" else next(reasons, None)
        if reason is None:
            left.append(line)
        else:
            explained[reason] += 1
    return left, explained


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--rtol", type=float, default=0.0)
    parser.add_argument("--since-fc75cde", action="store_true")
    options = parser.parse_args()
    old, new = (json.loads(path.read_text())["results"] for path in (options.old, options.new))
    lines = compare_results(old, new, options.rtol)
    if options.since_fc75cde:
        lines, explained = sort_out(lines)
        for reason, count in explained.items():
            print(f"{count:5d} {reason}")
    print("\n".join(lines[:50]))
    print(f"{len(old)} rows before, {len(new)} after, {len(lines)} differences")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
