"""Time and memory of PPGSL on Erdős–Rényi graphs of average degree 10, beside the paper.

    python -m tests.benchmarks.ppgsl_scale [nodes …] [--k 1] [--steps 500] [--device cuda]

Defaults of the defense (k = 1, μ = 50, 500 steps, each surrogate until its loss settles), 10 %
of the links sensitive, no features. Each size runs in a process of its own; memory is its peak
resident set, on a GPU torch's peak. Wall seconds need an idle machine; CPU seconds do not.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time

import numpy as np

from core.context import Context
from core.data.splits import draw_threats
from core.defenses.ppgsl import Ppgsl
from core.device import cpu_device, find_device
from core.graph import Graph
from core.progress import Progress
from core.seeding import Seed
from tests.benchmarks.finite import print_finite

PAPER = "paper: 100,000 nodes, k=1, mu=50: 9.2 min and 6.2 GB on an RTX 4070 Ti SUPER (§V-B4)"


class Printing(Progress):
    def __init__(self) -> None:
        self._last = time.monotonic()

    def update(self, done: float, total: float, message: str = "") -> None:
        if time.monotonic() - self._last > 30:
            self._last = time.monotonic()
            print(f"  step {done:.0f} of {total:.0f}: {message}", file=sys.stderr, flush=True)


def make_random_graph(num_nodes: int, degree: int = 10) -> Graph:
    """G(n, m) with m = n · degree / 2 draws, repeated ones dropped (below one in 10,000)."""
    rng = np.random.default_rng(0)
    return Graph.from_pairs(rng.integers(0, num_nodes, (num_nodes * degree // 2, 2)), num_nodes)


def measure(num_nodes: int, settings: dict, on_gpu: bool) -> str:
    graph = make_random_graph(num_nodes)
    threats = draw_threats(graph, Seed(0), hide_links=0.1)
    device = find_device() if on_gpu else cpu_device()
    context = Context(Seed(0), device=device, progress=Printing())
    wall, cpu = time.monotonic(), time.process_time()
    release = Ppgsl(**settings).publish(threats.visible, threats, context)
    wall, cpu = time.monotonic() - wall, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    if device.is_gpu:
        import torch

        peak = torch.cuda.max_memory_allocated() / 2**30
    return (
        f"{num_nodes:9,}{graph.num_edges:11,}{wall:10.1f}{cpu:10.1f}{peak:9.2f}"
        f"{wall / graph.num_edges * 1e6:14.1f}  {release.graph!r} on {device.title}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("nodes", type=int, nargs="*", default=[1000, 10_000, 100_000])
    parser.add_argument("--k", type=float, default=1.0)
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    options = parser.parse_args()
    settings = {"k": options.k, "steps": options.steps}
    if len(options.nodes) == 1:
        print(measure(options.nodes[0], settings, options.device == "cuda"), flush=True)
        return
    print(f"{'nodes':>9}{'links':>11}{'wall s':>10}{'CPU s':>10}{'peak GB':>9}{'µs a link':>14}")
    for num_nodes in options.nodes:
        subprocess.run(
            [
                sys.executable,
                "-m",
                "tests.benchmarks.ppgsl_scale",
                str(num_nodes),
                "--k",
                str(options.k),
                "--steps",
                str(options.steps),
                "--device",
                options.device,
            ],
            check=True,
        )
    print(PAPER)


if __name__ == "__main__":
    print_finite(main)
