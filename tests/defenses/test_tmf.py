"""TmF: its threshold against the paper's closed forms, its law against noise on all pairs."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from core.context import Context
from core.defenses.tmf import Tmf
from core.graph import Graph
from core.privacy.claim_check import check_claim
from core.privacy.mechanisms import compute_laplace_tail
from core.privacy.top_pairs import find_threshold
from core.seeding import Seed
from core.threats import Threats


def compute_paper_threshold(wanted, num_pairs, epsilon):
    """Nguyen et al., Eq. 2 and 3."""
    ratio = num_pairs / wanted
    if epsilon < math.log(ratio - 1):
        return math.log(ratio / 2 + (math.exp(epsilon) - 1) / 2) / epsilon
    return math.log(ratio - 1) / (2 * epsilon) + 0.5


@given(st.integers(1, 400), st.integers(900, 10**9), st.floats(0.05, 12.0))
def test_the_threshold_is_the_papers(wanted, num_pairs, epsilon):
    found = find_threshold(wanted, num_pairs, 1 / epsilon)
    assert found == pytest.approx(compute_paper_threshold(wanted, num_pairs, epsilon), rel=1e-6)


@pytest.mark.parametrize(("wanted", "num_pairs"), [(1, 3), (600, 1000), (999, 1000)])
def test_as_many_pairs_as_wanted_are_expected_to_pass(wanted, num_pairs):
    threshold = find_threshold(wanted, num_pairs, 0.7)
    others = (num_pairs - wanted) * compute_laplace_tail(threshold, 0.7)
    assert others + wanted * compute_laplace_tail(threshold - 1, 0.7) == pytest.approx(wanted)
    assert find_threshold(0, 10, 0.7) == math.inf
    assert find_threshold(10, 10, 0.7) == -math.inf


def make_graph(n=40, links=80, seed=0):
    return Graph.from_pairs(np.random.default_rng(seed).integers(0, n, (links, 2)), n)


def publish(graph, seed=0, **settings):
    return Tmf(**settings).publish(graph, Threats(graph), Context(Seed(seed)))


def test_the_law_is_that_of_noise_on_every_pair():
    graph, epsilon, share = make_graph(), 2.0, 0.5
    n, m, pairs = graph.num_nodes, graph.num_edges, graph.num_pairs
    rng, runs = np.random.default_rng(1), 600
    found, expected = np.zeros((runs, 2)), np.zeros((runs, 2))
    for run in range(runs):
        release = publish(graph, run, epsilon=epsilon, count_share=share).graph
        inside = graph.contains_pairs(release.edges).sum()
        found[run] = inside, release.num_edges - inside
        decay = math.exp(-epsilon * share)
        wanted = int(np.clip(m + rng.geometric(1 - decay) - rng.geometric(1 - decay), 0, pairs))
        scale = 1 / (epsilon * (1 - share))
        threshold = find_threshold(wanted, n * (n - 1) // 2, scale)
        passing = np.repeat([1.0, 0.0], [m, pairs - m]) + rng.laplace(0, scale, pairs) > threshold
        expected[run] = passing[:m].sum(), passing[m:].sum()
    for column in range(2):
        assert stats.ks_2samp(found[:, column], expected[:, column]).pvalue > 1e-3
    assert found.sum(axis=1).mean() == pytest.approx(m, rel=0.05)


def test_large_budgets_publish_the_graph_and_the_account_is_spent():
    graph = make_graph()
    release = publish(graph, epsilon=100.0)
    np.testing.assert_array_equal(release.graph.edges, graph.edges)
    assert (release.guarantee.unit, release.guarantee.epsilon) == ("edge", 100.0)
    assert release.guarantee.accountant == "sequential composition"


def test_the_claim_is_not_refuted_and_half_the_noise_is(monkeypatch):
    context = Context(Seed(3))
    held = check_claim(Tmf(epsilon=1.0), context, trials=400)
    assert not held.is_refuted

    def halve(self, share=1, sensitivity=1.0, label="noise"):
        return sensitivity / self._take(share, label) / 4

    monkeypatch.setattr("core.privacy.budget.Account.spend", halve)
    assert check_claim(Tmf(epsilon=1.0), context, trials=3000).is_refuted


LARGE = """
import re, sys, time
import numpy as np
from core.context import Context
from core.defenses.tmf import Tmf
from core.graph import Graph
from core.seeding import Seed
from core.threats import Threats
n, m = (int(part) for part in sys.argv[1:])
graph = Graph.from_pairs(np.random.default_rng(0).integers(0, n, (m, 2)), n)
context = Context(Seed(0), memory_budget=3 << 30)
small = Graph.from_pairs(np.random.default_rng(0).integers(0, 50, (90, 2)), 50)
Tmf(epsilon=1.0).publish(small, Threats(small), context)  # kernels are compiled
start = time.process_time()
release = Tmf(epsilon=1.0).publish(graph, Threats(graph), context)
spent = time.process_time() - start
status = open("/proc/self/status").read()  # getrusage counts what the parent held at the fork
print(spent, int(re.search(r"VmHWM:\\s+(\\d+)", status)[1]) / 2**20)
assert abs(release.graph.num_edges / graph.num_edges - 1) < 0.02
"""


def test_time_and_memory_are_linear_in_the_links():
    """A tenth of the size that must take two minutes and 4 GB: 100,000 nodes, a million links."""
    command = [sys.executable, "-c", LARGE, "100000", "1000000"]
    spent, gigabytes = map(float, subprocess.check_output(command, text=True).split())
    assert spent < 12
    assert gigabytes < 0.9
