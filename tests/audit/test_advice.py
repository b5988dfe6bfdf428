"""Advice on one node: what it may know, what it repeats, how it runs and stops."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest

from core.attacks.attribute.label_propagation import LabelPropagation
from core.audit.asked.method_choice import MethodChoice
from core.audit.computing import advice as advice_module
from core.audit.computing.advice import Advice, AdviceRequest, compute_advice
from core.audit.computing.plan import plan_audit
from core.audit.computing.prepared import PreparedAudit
from core.audit.store.states import State
from core.context import Context
from core.errors import InputError, RunCancelled
from core.models.flips import link_effects
from core.seeding import Seed
from tests.inline import run_inline
from tests.oracles.progress import RecordingProgress

ATTACK = MethodChoice(key="label_propagation")
RETRY_S = 120


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    monkeypatch.setattr(link_effects, "EPOCHS", 30)


@pytest.fixture(scope="module")
def spec(make_spec):
    return make_spec(hide_links=None, attacks=[ATTACK.model_dump()], num_repeats=3, known=0.3)


def advise(spec, graph, node="3", progress=None, **fields):
    request = AdviceRequest(node=node, attack=ATTACK, **{"num_repeats": 3, **fields})
    context = Context(Seed(0), progress=progress or RecordingProgress())
    return compute_advice(spec, graph, request, context)


def test_unchanged_repeats_are_those_of_the_audit(spec, graph, tmp_path):
    """Without a link threat the risk before hiding is the one on the Risk page."""
    view = run_inline(spec, graph, tmp_path)
    table = view.nodes.to_frame()
    rows = table[(table.release == "original") & (table.seeds == 3)]
    row = rows.iloc[0]
    estimate = advise(spec, graph, row.node).estimate_risk(0)
    assert estimate.value == pytest.approx(row.risk, abs=1e-12)
    assert (estimate.low, estimate.high) == pytest.approx((row.low, row.high), abs=1e-12)
    assert estimate.seeds == 3


def test_steps_hide_the_links_one_after_the_other(spec, graph, monkeypatch):
    seen = []
    original = LabelPropagation.infer

    def watch(self, release, threat, context):
        seen.append(release.graph.num_edges)
        return original(self, release, threat, context)

    monkeypatch.setattr(LabelPropagation, "infer", watch)
    found = advise(spec, graph, max_links=2)
    assert len(found.links) == 2
    assert seen == [graph.num_edges - count for count in (0, 1, 2) for _ in range(3)]
    assert {len(values) for values in found.risks.values()} == {3}
    pairs = {frozenset((link.source, link.target)) for link in found.links}
    links = {frozenset((graph.node_ids[i], graph.node_ids[j])) for i, j in graph.edges}
    assert pairs <= links
    assert all(link.is_own == ("3" in (link.source, link.target)) for link in found.links)
    assert found.num_own == sum(link.is_own for link in found.links)


def test_change_is_of_the_pairs(spec, graph):
    found = advise(spec, graph)
    last = max(found.risks)
    before, after = np.array(found.risks[0]), np.array(found.risks[last])
    change = found.estimate_change(last)
    assert change.value == pytest.approx((after - before).mean())
    half = 4.302653 * (after - before).std(ddof=1) / np.sqrt(3)  # t, two degrees of freedom
    assert change.high - change.value == pytest.approx(half, rel=1e-5)


def test_nobody_is_trained_on_hidden_values(spec, graph, monkeypatch):
    """Values of the people whom no split names as known do not change what is chosen."""
    observed = []
    original = link_effects.LinkEffects.train

    def watch(self, codes, context):
        observed.append(codes)
        original(self, codes, context)

    monkeypatch.setattr(link_effects.LinkEffects, "train", watch)
    seen = []
    infer = LabelPropagation.infer

    def spy(self, release, threat, context):
        seen.append(threat.observed)
        return infer(self, release, threat, context)

    monkeypatch.setattr(LabelPropagation, "infer", spy)
    found = advise(spec, graph)
    assert len(observed) == advice_module.NUM_MODELS
    for codes in [*observed, *seen]:
        assert codes[3] == -1
        assert (codes >= 0).mean() == pytest.approx(0.3, abs=0.05)
    # The splits that choose the links are not those that judge them.
    judged = {codes.tobytes() for codes in seen}
    assert not judged & {codes.tobytes() for codes in observed}
    # Another truth among the hidden people leaves the GCNs as they are.
    attribute = graph.column("private")
    never = np.all([codes < 0 for codes in observed], axis=0) & (np.arange(40) != 3)
    assert never.any()
    codes = np.where(never, 1 - attribute.codes, attribute.codes)
    other = graph.with_attributes({"private": replace(attribute, codes=codes)})

    def same_splits(graph, column, known, seed):
        codes = observed[same_splits.calls]
        same_splits.calls += 1
        return advice_module.AttributeThreat(graph.column(column), codes >= 0, codes < 0)

    same_splits.calls = 0
    observed = observed.copy()
    monkeypatch.setattr(advice_module, "draw_attribute_threat", same_splits)
    again = advise(spec, other)
    assert [link.source + "-" + link.target for link in again.links] == [
        link.source + "-" + link.target for link in found.links
    ]


def test_utility_is_measured_where_there_is_a_useful_column(spec, graph, monkeypatch):
    from core.measures import utility

    monkeypatch.setattr(utility, "EPOCHS", 5)
    found = advise(spec.update(utility="label"), graph, max_links=1)
    assert found.utility_metric == "node_classification_auc"
    assert [len(values) for values in found.utility] == [3, 3]
    change = found.estimate_utility_change()
    assert change.value == pytest.approx(np.mean(found.utility[1]) - np.mean(found.utility[0]))
    assert advise(spec, graph).estimate_utility_change() is None


def test_it_is_the_same_again_and_survives_json(spec, graph):
    first = advise(spec, graph)
    assert advise(spec, graph) == first
    assert Advice.model_validate_json(first.model_dump_json()) == first


@pytest.mark.parametrize(
    ("fields", "text"),
    [({"node": "nobody"}, "nobody"), ({"node": "0", "known": 0.999}, "unknown to the attacker")],
)
def test_what_cannot_be_advised_is_said(spec, graph, monkeypatch, fields, text):
    monkeypatch.setattr(advice_module, "MAX_DRAWS", 3)
    known = fields.pop("known", 0.3)
    with pytest.raises(InputError, match=text):
        advise(spec.update(known=known), graph, num_repeats=4, **fields)


def test_a_value_that_is_missing_cannot_be_protected(spec, graph):
    attribute = graph.column("private")
    codes = np.where(np.arange(40) == 3, -1, attribute.codes)
    other = graph.update_columns(attributes={"private": replace(attribute, codes=codes)})
    with pytest.raises(InputError, match="private value"):
        advise(spec, other)


def test_without_a_private_column_there_is_no_advice(make_spec, graph):
    with pytest.raises(InputError, match="private column"):
        advise(make_spec(private=None), graph)


def test_cancelling_stops_at_the_next_report(spec, graph):
    calls: list[int] = []

    def is_cancelled():
        calls.append(1)
        return len(calls) > 10

    with pytest.raises(RunCancelled):
        advise(spec, graph, progress=RecordingProgress(is_cancelled))
    assert len(calls) == 11


@pytest.mark.xdist_group("audit cluster")
def test_a_job_on_the_cluster_is_cancelled_before_its_end_and_kept_when_done(service, spec, graph):
    audit_id = "advised"
    service._store.add_audit(
        audit_id, "advised", spec, plan_audit(PreparedAudit.build(spec, graph)), {}
    )
    service._store.update_audit(audit_id, state=State.DONE)
    assert service.advice.find(audit_id, "3") is None
    slow = MethodChoice(key="gcn", config={"epochs": 10_000})
    service.advice.start(audit_id, AdviceRequest(node="3", attack=slow, num_repeats=50))
    wait_for(lambda: service.advice.find(audit_id, "3").fraction > 0)
    service.advice.cancel_node(audit_id, "3")
    wait_for(lambda: not service.advice.find(audit_id, "3").is_active)
    assert service.advice.find(audit_id, "3").state == "cancelled"

    service.advice.start(audit_id, AdviceRequest(node="3", attack=ATTACK, num_repeats=3))
    wait_for(lambda: not service.advice.find(audit_id, "3").is_active)
    progress = service.advice.find(audit_id, "3")
    assert (progress.state, progress.reason) == ("done", "")
    assert [advice.request.node for advice in service.advice.list_done(audit_id)] == ["3"]
    service.advice._futures.clear()  # as after a restart of the server
    assert service.advice.find(audit_id, "3") == progress

    service.advice.start(audit_id, AdviceRequest(node="nobody", attack=ATTACK))
    wait_for(lambda: not service.advice.find(audit_id, "nobody").is_active)
    progress = service.advice.find(audit_id, "nobody")
    assert progress.state == "failed"
    assert "nobody" in progress.reason
    service.delete_audit(audit_id)
    assert service.advice.list_done(audit_id) == []


def wait_for(condition):
    end = time.monotonic() + RETRY_S
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)
