"""Whole audits before and after: seconds, CPU seconds, peak of memory, and the estimate's error.

    python -m tests.benchmarks.audit_speed [--audits cora-quick,nba-quick,…] [--before COMMIT]
        [--tree FOLDER] [--only before|after] [--limit SECONDS] [--cut SECONDS] [--repeats N]
        [--warm] [--stop] [--cells]

Both run the same attacks, those of a preset that both commits have, each in a home of its own, one
after the other: quick and standard ones on the original graph, adaptive ones (standard's attacks)
and thorough ones by adaptive attackers too, on the original and two releases. `--tree` names a
checkout of the older commit; without it one is made by `git worktree` in a temporary folder.
`--cut` ends "before" and `--limit` either of them after so many seconds: then the row says how many
parts were done, and the ratio is a lower bound. The first page is there when every instant attack
has met the original once. `--stop` lets "after" end once the policy's decision is clear, as a
thorough audit does in the app. The estimate is that of the total at the first tenth of the parts,
over the true total. `--warm` starts the workers of "after" beforehand, as pages do while questions
are answered; their start is then in no column. `--cells` prints how the workers' seconds of "after"
divide between methods, longest first. Memory is what all processes hold, pages that several share
counted once.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
BEFORE = "01dc619e"

COSTS = {
    "quick": ["instant"],
    "standard": ["instant", "seconds"],
    "adaptive": ["instant", "seconds"],
    "thorough": ["instant", "seconds", "minutes"],
}
REPEATS = {"quick": 3, "standard": 5, "adaptive": 5, "thorough": 10}
DEFENSES = [{"key": "edge_rand", "config": {"epsilon": 6.0}}, {"key": "ppgsl"}]
AUDITS: dict[str, dict[str, Any]] = {
    f"{graph}-{preset}": {
        "dataset": graph,
        "private": private,
        "costs": COSTS[preset],
        "repeats": REPEATS[preset],
        "defenses": DEFENSES if preset in ("adaptive", "thorough") else [],
    }
    for graph, private in (("cora", "label"), ("nba", "country"), ("lastfm_asia", "label"))
    for preset in COSTS
}


def list_attacks(costs: list[str]) -> list[str]:
    """Keys of a tree's attacks on both threats that a preset takes."""
    from core.registry import list_methods

    kinds = ("link_attack", "attribute_attack")
    infos = [method.info for kind in kinds for method in list_methods(kind)]  # type: ignore[arg-type]
    return [
        info.key
        for info in infos  # a baseline was called null before
        if getattr(info, "is_baseline", getattr(info, "is_null", False)) or info.cost in costs
    ]


def run_audit(task: dict[str, Any], home: str) -> None:
    """In a tree of its own: one audit; prints a JSON object."""
    import psutil

    try:
        from core.audit.asked.spec import AuditSpec
    except ImportError:  # in older trees
        from core.audit.spec import AuditSpec
    from core.audit.service import AuditService
    from core.data.catalogue import load_dataset

    graph = load_dataset(task["dataset"]).graph
    fields = {
        "graph_name": task["dataset"],
        "graph_hash": graph.content_hash,
        "private": task["private"],
        "hide_links": 0.1,
        "attacks": [{"key": key} for key in task["attacks"]],
        "num_repeats": task["repeats"],
        "defenses": task["defenses"],
        **({"adaptive": True} if task["defenses"] else {}),
    }
    me, spent, peak = psutil.Process(), {}, 0
    own = sum(me.cpu_times()[:2])
    rule: dict[str, Any] = {}
    if task.get("stop"):
        from core.findings.policy import find_policy
        from core.findings.stopping import is_decided

        rule = {"stopping_rule": is_decided}
        fields |= {"stop_early": True, "policy": find_policy("partner").model_dump(mode="json")}
    service = AuditService(home, **rule)
    service.save_graph(graph)
    if task.get("warm"):
        service._engine.connect()
        service._engine.submit(int, key="warm").result()
        own = sum(sum(p.cpu_times()[:2]) for p in [me, *me.children(recursive=True)])
    began = time.monotonic()
    audit = service.start_audit(AuditSpec.check_spec(fields))
    first = estimate = asked_at = None
    while True:
        for process in [me, *me.children(recursive=True)]:
            try:
                spent[process.pid] = sum(process.cpu_times()[:2])
            except psutil.Error:
                continue
        peak = max(peak, count_memory([me, *me.children(recursive=True)]))
        seconds = time.monotonic() - began
        progress = service.get_progress(audit)
        if first is None:
            rows = service._store.list_cells(audit, "kind", "release", "method", "repeat", "state")
            instant = [
                row.state in ("done", "skipped", "failed")
                for row in rows
                if (row.kind, row.release, row.repeat) == ("attack", "original", 0)
                and row.method in task["instant"]
            ]
            first = seconds if all(instant) else None
        left = getattr(progress, "seconds_left", None)  # a number in older trees
        if getattr(progress, "time_left", None) is not None:
            left = progress.time_left.high
        is_tenth = progress.cells_done * 10 >= progress.cells_total
        if left is not None and estimate is None and is_tenth:
            estimate, asked_at = seconds + left, seconds
        if not progress.is_active or seconds > task["limit"]:
            break
        time.sleep(1.0)  # of thousands of cells each look takes a twentieth of a second
    found = {
        "seconds": seconds,
        "first": first,
        "cpu": sum(spent.values()) - own,
        "peak_mb": peak / 2**20,
        "done": progress.cells_done,
        "total": progress.cells_total,
        "ended": not progress.is_active,
        "estimate": estimate,
        "asked_at": asked_at,
    }
    if task.get("cells"):
        divided: Counter[str] = Counter()
        for row in service._store.list_cells(audit, "kind", "method", "seconds"):
            divided[f"{row.kind} {row.method}"] += row.seconds or 0.0
        found["divided"] = dict(divided.most_common())
    if progress.is_active:
        service.cancel_audit(audit)
        service.wait(audit, 30)
    service.close()
    print("FOUND " + json.dumps(found), flush=True)


def count_memory(processes: list[Any]) -> int:
    """Bytes that processes hold: a page that k of them share counts a k-th in each."""
    total = 0
    for process in processes:
        try:
            text = Path(f"/proc/{process.pid}/smaps_rollup").read_text(encoding="utf-8")
        except OSError:  # ended meanwhile
            continue
        total += sum(int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:"))
    return total * 1024


def call(tree: Path, code: str) -> str:
    """What a Python that imports a tree's core and this file prints."""
    path = f"{tree}{os.pathsep}{Path(__file__).parent}"
    done = subprocess.run(
        [sys.executable, "-c", f"import audit_speed as speed; {code}"],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout


def measure(tree: Path, task: dict[str, Any]) -> dict[str, Any]:
    """One audit with a tree's code in an empty home."""
    with tempfile.TemporaryDirectory() as home:
        printed = call(tree, f"speed.run_audit({task!r}, {home!r})")
    line = next(line for line in printed.splitlines() if line.startswith("FOUND "))
    found: dict[str, Any] = json.loads(line.removeprefix("FOUND "))
    return found


def describe(name: str, side: str, found: dict[str, Any]) -> str:
    """A row of the table."""
    first = "–" if found["first"] is None else f"{found['first']:.0f}"
    parts = f"{found['done']}/{found['total']}"
    if found["estimate"] is None or not found["ended"]:
        guess = "–"
    else:
        guess = f"{found['estimate'] / found['seconds']:.2f}"
    return (
        f"| {name} | {side} | {first} | {found['seconds']:.0f} | {found['cpu']:.0f} | "
        f"{found['peak_mb']:,.0f} | {parts} | {guess} |"
    )


def compare(name: str, found: dict[str, dict[str, Any]]) -> str:
    """How many times sooner and cheaper; at least so, where "before" was cut."""
    before, after = found["before"], found["after"]
    if not after["ended"]:
        return f"{name}: after was cut"
    scale = before["total"] / max(before["done"], 1)
    words = [] if before["ended"] else [f"before was cut at {before['done']} of {before['total']}"]
    words.append(f"CPU seconds {before['cpu'] / after['cpu']:.1f} times less")
    words.append(f"seconds {before['seconds'] / after['seconds']:.1f} times less")
    if not before["ended"]:
        words.append(f"in proportion to its parts {scale * before['cpu'] / after['cpu']:.1f} (CPU)")
    if before["first"] and after["first"]:
        words.append(f"first page {before['first'] / after['first']:.1f} times sooner")
    return f"{name}: " + ", ".join(words)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--audits", default=",".join(a for a in AUDITS if a != "lastfm_asia-quick"))
    parser.add_argument("--before", default=BEFORE, metavar="COMMIT")
    parser.add_argument("--tree", type=Path)
    parser.add_argument("--only", choices=("before", "after"))
    parser.add_argument("--cut", type=float, default=3600.0, metavar="SECONDS")
    parser.add_argument("--limit", type=float, default=3600.0, metavar="SECONDS")
    parser.add_argument("--repeats", type=int)
    parser.add_argument("--warm", action="store_true")
    parser.add_argument("--stop", action="store_true")
    parser.add_argument("--cells", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tree, git = options.tree, ["git", "-C", str(ROOT), "worktree"]
        if tree is None:
            tree = Path(folder) / "before"
            subprocess.run([*git, "add", "--detach", str(tree), options.before], check=True)
        try:
            run_all(options, tree.resolve())
        finally:
            if options.tree is None:
                subprocess.run([*git, "remove", "--force", str(tree)], check=False)


def run_all(options: argparse.Namespace, tree: Path) -> None:
    """Print the rows as they come."""
    print("| audit | | first page s | seconds | CPU s | peak MB | parts | estimate / true |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    lines = []
    for name in options.audits.split(","):
        task = dict(AUDITS[name])
        costs = task.pop("costs")
        for field, kinds in (("attacks", costs), ("instant", ["instant"])):
            code = f"import json; print(json.dumps(speed.list_attacks({kinds!r})))"
            before, after = (json.loads(call(side, code)) for side in (tree, ROOT))
            task[field] = [key for key in before if key in after]
        task["repeats"] = options.repeats or task["repeats"]
        found = {}
        for side, checkout in (("before", tree), ("after", ROOT)):
            if options.only in (None, side):
                task["warm"] = options.warm and side == "after"
                task["cells"] = options.cells and side == "after"
                task["stop"] = options.stop and side == "after" and bool(task["defenses"])
                task["limit"] = min(options.limit, options.cut if side == "before" else 1e9)
                found[side] = measure(checkout, task)
                print(describe(name, side, found[side]), flush=True)
                for what, seconds in found[side].get("divided", {}).items():
                    print(f"{seconds:8.1f} s  {what}", flush=True)
        if len(found) == 2:
            lines.append(compare(name, found))
            print(f"<!-- {lines[-1]} -->", flush=True)
    print("\n".join(lines))


if __name__ == "__main__":
    from tests.benchmarks.finite import print_finite  # an older tree, where it is not, imports this

    print_finite(main)
