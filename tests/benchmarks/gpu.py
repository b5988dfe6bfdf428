"""What a GPU saves: seconds, memory and results beside the CPU's.

    python -m tests.benchmarks.gpu methods [--nodes 100000,500000] [--steps 20]
        [--attacks gps,gae_cosine,seal] [--limit 220]
    python -m tests.benchmarks.gpu audit [--graph lastfm_asia] [--preset thorough] [--limit 220]

Each takes at most about four minutes. `methods`: PPGSL on random graphs of average degree 10 with
so many of its 500 steps, then GPS, GAE and SEAL on a generated network of a tenth of the first
size; on the CPU too, up to 100,000 nodes. `audit`: one repeat with two releases, on the GPU and,
in a home of its own, on the CPU, each ended after half of the limit; cells that both finished are
compared. After the limit nothing further starts. Fails where results differ by more than
`TOLERANCE`. Without a CUDA device only the CPU runs, and nothing is compared. Memory is torch's
peak on a GPU, else the peak of the process so far.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch

from core.audit.asked.presets import PRESETS, Asked, choose_attacks
from core.audit.asked.spec import AuditSpec
from core.audit.service import AuditService
from core.context import Context
from core.data.catalogue import load_dataset
from core.data.splits import draw_threats
from core.device import Device, cpu_device, find_device
from core.graph import Graph
from core.measures.ranking import compute_auc, measure_class_probabilities
from core.registry import make_method
from core.release import Release
from core.seeding import Seed
from tests.benchmarks.finite import print_finite
from tests.benchmarks.gps_scale import make_graph
from tests.benchmarks.ppgsl_scale import PAPER, make_random_graph

TOLERANCE = 0.02
"""Of an AUC, or of the share of links kept: sums are in another order on a GPU."""

MAX_ON_CPU = 100_000
DEFENSES = ({"key": "edge_rand", "config": {"epsilon": 6.0}}, {"key": "ppgsl"})


def measure(compute: Callable[[Context], float], device: Device) -> tuple[float, ...]:
    """Seconds, CPU seconds, peak of memory in GB, and the figure on which devices must agree."""
    if device.is_gpu:
        torch.zeros(8, device=device.torch_name).sum().item()  # starts the driver
        torch.cuda.reset_peak_memory_stats()
    began, cpu = time.monotonic(), time.process_time()
    figure = compute(Context(Seed(0), device=device))
    if device.is_gpu:
        torch.cuda.synchronize()
    seconds, cpu = time.monotonic() - began, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    if device.is_gpu:
        peak = torch.cuda.max_memory_allocated() / 2**30
    return seconds, cpu, peak, figure


def publish(graph: Graph, steps: int) -> Callable[[Context], float]:
    """PPGSL: the share of the links that it keeps."""
    threats = draw_threats(graph, Seed(0), hide_links=0.1)
    defense = make_method("ppgsl", {"steps": steps}, "defense")

    def compute(context: Context) -> float:
        release = defense.publish(threats.visible, threats, context).graph
        return float(release.contains_pairs(threats.visible.edges).mean())

    return compute


def attack(key: str, graph: Graph) -> Callable[[Context], float]:
    """An attack on the private column or on withheld links: its AUC."""
    threats = draw_threats(graph, Seed(0), private="region", hide_links=0.1)
    method, release = make_method(key), Release(threats.visible)

    def compute(context: Context) -> float:
        if method.kind == "link_attack":
            scores = method.score(release, threats.link, context).scores
            return compute_auc(scores, threats.link.truth)[0]
        found = method.infer(release, threats.attribute, context)
        rows = measure_class_probabilities(found, threats.attribute)
        return next(row.value for row in rows if row.metric == "auc")

    return compute


def list_methods(options: argparse.Namespace) -> Iterator[tuple[str, int, Callable[..., float]]]:
    """(title, nodes, what to compute), the smaller sizes first."""
    sizes, steps = sorted(map(int, options.nodes.split(","))), options.steps
    for size in sizes:
        yield f"PPGSL, {steps} steps", size, publish(make_random_graph(size), steps)
    size = max(sizes[0] // 10, 800)
    graph = make_graph(size, np.random.default_rng(0))
    for key in options.attacks.split(","):
        yield key, size, attack(key, graph)


def compare_methods(options: argparse.Namespace, devices: list[Device]) -> list[str]:
    """Print a row a method and device; returns what differs."""
    began, wrong = time.monotonic(), []
    print("| method | nodes | device | seconds | CPU s | peak GB | AUC or share kept |")
    print("|---|---|---|---|---|---|---|")
    for title, size, compute in list_methods(options):
        found = []
        for device in devices:
            is_long = not device.is_gpu and size > MAX_ON_CPU
            if is_long or time.monotonic() - began > options.limit:
                continue
            seconds, cpu, peak, figure = measure(compute, device)
            found.append(figure)
            cells = f"{title} | {size:,} | {device.title} | {seconds:.1f} | {cpu:.1f} | {peak:.2f}"
            print(f"| {cells} | {figure:.4f} |", flush=True)
        if np.ptp(found or [0.0]) > TOLERANCE:
            wrong.append(f"{title}: {found}")
    print(PAPER)
    return wrong


def run_audit(options: argparse.Namespace, device: Device) -> dict[tuple[Any, ...], Any]:
    """Finished cells of one repeat by (kind, release, method): seconds, CPU seconds, result."""
    os.environ["AUDIT_DEVICE"] = "" if device.is_gpu else "cpu"
    graph = load_dataset(options.graph).graph
    preset = next(each for each in PRESETS if each.key == options.preset)
    fields = {
        "graph_name": options.graph,
        "graph_hash": graph.content_hash,
        "private": next(iter(graph.attributes)),
        "hide_links": 0.1,
        "num_repeats": 1,
        "attacks": choose_attacks(Asked(True, True), [preset.key]),
        "defenses": DEFENSES if preset.adaptive else (),
        "adaptive": preset.adaptive,
    }
    with tempfile.TemporaryDirectory() as home:
        service = AuditService(home)
        try:
            service.save_graph(graph)
            audit_id = service.start_audit(AuditSpec.check_spec(fields))
            if not service.wait(audit_id, options.limit / 2):
                service.cancel_audit(audit_id)
                service.wait(audit_id, 30)
            names = ("kind", "release", "method", "state", "seconds", "cpu_seconds", "result")
            cells = service._store.list_cells(audit_id, *names)
        finally:
            service.close()
    return {(c.kind, c.release, c.method): c for c in cells if c.state == "done"}


def compare_audits(options: argparse.Namespace, devices: list[Device]) -> list[str]:
    """Print a row a device over the cells that all finished; returns what differs."""
    found = {device.title: run_audit(options, device) for device in devices}
    shared = set.intersection(*(set(cells) for cells in found.values()))
    print(
        "| device | cells done | of them by all | seconds of these | CPU s |\n|---|---|---|---|---|"
    )
    for title, cells in found.items():
        both = [cells[name] for name in shared]
        seconds, cpu = (sum(getattr(c, n) for c in both) for n in ("seconds", "cpu_seconds"))
        print(f"| {title} | {len(cells)} | {len(shared)} | {seconds:.1f} | {cpu:.1f} |")
    first, *others = found.values()
    return [
        f"{' '.join(name)}: AUC {a:.4f} and {b:.4f}"
        for name in sorted(shared)
        for cells in others
        for a, b in [(read_auc(first[name].result), read_auc(cells[name].result))]
        if abs(a - b) > TOLERANCE
    ]


def read_auc(result: dict[str, Any]) -> float:
    """The AUC among a cell's measurements, 0 where there is none."""
    found = [m["value"] for m in result.get("measurements", ()) if m["metric"] == "auc"]
    return float(found[0]) if found else 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=("methods", "audit"))
    parser.add_argument("--nodes", default="100000,500000")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--attacks", default="gps,gae_cosine,seal")
    parser.add_argument("--graph", default="lastfm_asia")
    parser.add_argument("--preset", default="thorough")
    parser.add_argument("--limit", type=float, default=220.0, help="seconds")
    options = parser.parse_args()
    devices = list(dict.fromkeys([find_device(), cpu_device()]))
    wrong = (compare_methods if options.part == "methods" else compare_audits)(options, devices)
    if len(devices) == 1:
        print("no CUDA device: nothing compared")
    if wrong:
        sys.exit("results differ:\n" + "\n".join(wrong))


if __name__ == "__main__":
    print_finite(main)
