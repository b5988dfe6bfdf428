"""Every private defense spends what it promises: all of its budget, and no more than that."""

from __future__ import annotations

import inspect
import math
import re
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest

from core.audit.asked.method_choice import MethodChoice
from core.audit.asked.publish_spec import PublishSpec
from core.audit.jobs.publish import publish_release
from core.context import Context
from core.defenses import DEFENSES
from core.graph import Graph
from core.privacy import budget
from core.privacy.mechanisms import Bits
from core.seeding import Seed
from core.threats import Threats
from tests.oracles.graphs import two_communities
from tests.oracles.transcripts import make_shadow_release

PRIVATE = [method for method in DEFENSES if method.info.group.endswith("DP")]
SETTINGS = {
    "privdpr": {"epochs": 1, "dimensions": 8, "hidden": 4, "walk_length": 4, "degree_cap": 3},
    "dpggan": {"dimensions": 16, "steps": 3, "rate": 1.0, "negatives": 10},
    "dpgvae": {"dimensions": 16, "steps": 3, "rate": 1.0, "negatives": 10},
    "gap": {"dimensions": 16, "hops": 3},
    "lap_graph": {"count_share": 0.3},
    "tmf": {"count_share": 0.3},
    "solitude": {"rounds": 1},
    "dp_2k": {"degree_cap": 6},
    "priv_hrg": {"steps": 5},
}
MORE = {
    "blink": [{"variant": "hybrid", "delta": 0.4}, {"variant": "soft", "epsilon": 2.0}],
    "dprr": [{"delta": 0.6}],
    "gap": [{"num_links": 50, "hops": 1}],
    "privdpr": [{"num_links": 50}],
    "node_private": [{"epsilon": 90.0}, {"mechanism": "tmf"}],
}
CASES = [
    pytest.param(method, {**SETTINGS.get(method.info.key, {}), **more}, id=f"{method.info.key}{i}")
    for method in PRIVATE
    for i, more in enumerate([{}, *MORE.get(method.info.key, [])])
]
UNATTAINED = {"dp_2k", "priv_hrg"}
"""Whose sensitivity no link of this graph attains."""

ROOT = Path(__file__).parents[2]


def list_neighbors(graph: Graph, unit: str) -> list[Graph]:
    """The graph less one link, or with none of one node's links, or with all of them."""
    if unit != "node":
        return [graph.without_edges(graph.edges[k : k + 1]) for k in range(0, graph.num_edges, 9)]
    others = []
    for node in (0, 21):
        rest = graph.edges[(graph.edges != node).all(axis=1)]
        ends = np.delete(np.arange(graph.num_nodes), node)
        full = np.stack([np.full(len(ends), node), ends], axis=1)
        others += [graph.with_edges(rest), graph.with_edges(np.concatenate([rest, full]))]
    return others


def measure(method, config):
    """The guarantee, and the worst δ of any neighbour at the ε that recipients are promised."""
    graph, defense = two_communities(), method.model_validate(config)

    def run(data: Graph):
        return defense.publish(data, Threats(data), Context(Seed(2)))

    guarantee = run(graph).guarantee
    promised = guarantee.epsilon_transcript or guarantee.epsilon
    transcripts = make_shadow_release(run, graph, list_neighbors(graph, guarantee.unit))
    assert transcripts[0].draws
    return guarantee, promised, max(t.compute_delta(promised) for t in transcripts), transcripts


@pytest.mark.parametrize(("method", "config"), CASES)
def test_what_is_promised_is_what_the_noise_costs(method, config):
    guarantee, promised, delta, transcripts = measure(method, config)
    assert guarantee.epsilon == method.model_validate(config).epsilon
    assert method.is_reported_twice == (guarantee.epsilon_transcript is not None)
    assert guarantee.delta == getattr(method.model_validate(config), "delta", 0.0) or not any(
        t.squares for t in transcripts
    )
    assert delta <= guarantee.delta * (1 + 1e-6)
    is_attained = method.info.key not in UNATTAINED
    if guarantee.unit != "node" and not guarantee.delta and is_attained:
        # All of it: the dearest link costs the whole budget.
        assert max(t.epsilon for t in transcripts) == pytest.approx(promised)


@pytest.mark.parametrize(("method", "config"), CASES)
def test_half_the_noise_is_noticed(method, config):
    """The same claim, with noise for twice the budget behind the account's back."""
    take, sums = budget.Account._take, budget.Account.spend_rest_on_sums

    def take_twice(account, share, what):
        return 2 * take(account, share, what)

    def take_sums(account, steps, rate=None):
        noise = sums(account, steps, rate)
        noise.multiplier /= 2
        return noise

    with (
        patch.object(budget.Account, "_take", take_twice),
        patch.object(budget.Account, "spend_rest_on_sums", take_sums),
    ):
        guarantee, _, delta, _ = measure(method, config)
    assert delta > guarantee.delta * (1 + 1e-6)


@pytest.mark.parametrize("method", PRIVATE, ids=lambda m: m.info.key)
def test_the_guarantee_is_the_sum_of_what_the_account_recorded(method):
    opened = []
    start = budget.Account.__init__

    def watch(account, *args, **settings):
        start(account, *args, **settings)
        opened.append(account)

    graph, config = two_communities(), SETTINGS.get(method.info.key, {})
    with patch.object(budget.Account, "__init__", watch):
        release = method.model_validate(config).publish(graph, Threats(graph), Context(Seed(0)))
    # A wrapper's mechanism has an account of its own, of another unit.
    (account,) = [a for a in opened if a.kind.unit == release.guarantee.unit]
    spent = math.fsum(spending.epsilon for spending in account.spendings)
    assert release.guarantee.epsilon == pytest.approx(spent)
    assert release.guarantee.delta == math.fsum(s.delta for s in account.spendings)
    assert account.share_left == pytest.approx(0, abs=1e-9)


def test_no_private_defense_draws_noise_or_computes_a_scale_of_its_own():
    drawn = re.compile(
        r"\.(laplace|geometric|binomial|gumbel|normal|exponential)\(|compute_flip_probability"
        r"|calibrate_|Bits\.of|1(\.0)? / self\.epsilon|Guarantee\("
    )
    files = {Path(inspect.getfile(method)) for method in PRIVATE}
    files |= {ROOT / "core" / "defenses" / "edge_synthesis.py"}
    files |= set((ROOT / "core" / "models" / "synthesis").glob("*.py"))
    for path in sorted(files):
        assert not drawn.search(path.read_text(encoding="utf-8")), path.name


def test_a_published_private_release_leaves_without_facts_curves_and_scores():
    for method in PRIVATE:
        choice = MethodChoice.of(method.model_validate(SETTINGS.get(method.info.key, {})))
        graph = two_communities()
        spec = PublishSpec(graph_hash=graph.content_hash, defense=choice)
        release = publish_release(graph, spec)
        assert not release.facts
        assert not release.curves
        assert release.link_scores is None


def test_bits_hold_a_flip_probability_and_its_budget():
    bits = Bits.of(1.5)
    assert math.log((1 - bits.flip) / bits.flip) == pytest.approx(bits.epsilon) == 1.5
