"""Every method of the lists keeps the contract that the audit relies on."""

from __future__ import annotations

import inspect
import json
from pathlib import Path

import numpy as np
import pytest

from core.attacks.attribute.attri_infer import AttriInfer
from core.context import Context
from core.defenses import imputation, release_selection
from core.errors import RunCancelled, UnsupportedError
from core.registry import list_methods, make_method, parse_method
from core.release import Release
from core.results import AnonymitySets
from core.seeding import Seed
from tests.oracles.graphs import GRAPHS, make_threats, two_communities
from tests.oracles.progress import RecordingProgress

METHODS = list_methods()
QUICK = json.loads(Path(__file__).with_name("quick.json").read_text())
"""Settings that make a method fast enough here, by key (few epochs, small models)."""

LOOSE = {"solitude": 5.0, "node_private": 10.0}
"""By how much a release may have more links than foretold where noise drowns a small graph."""


@pytest.fixture(autouse=True)
def _impute_quickly(monkeypatch):
    """What defenses learn of values that they may not use, and the attackers by whom they choose,
    take most of their time here."""
    monkeypatch.setattr(imputation, "LEARNED", {"trees": 2, "rounds": 1, "folds": 2, "width": 4})
    monkeypatch.setattr(imputation, "LEARNED_FOLDS", 2)
    judges = {"attri_infer": AttriInfer.model_validate({})}
    monkeypatch.setattr(release_selection, "_make_verifiers", lambda: judges)


def quick(method):
    return method.model_validate(QUICK.get(method.info.key, {}))


def run(method, graph, threats, context):
    """One run of any method, as comparable arrays; None where it declines."""
    if method.kind == "defense":
        if method.supports(graph, threats):
            return None
        release = method.publish(graph, threats, context)
        assert release.graph.num_nodes == graph.num_nodes
        assert release.defense == method.info.key
        assert json.loads(json.dumps(release.config)) == method.config
        weights = release.graph.weights
        return [release.graph.edges, np.zeros(0) if weights is None else weights]
    release = Release(graph)
    if method.kind == "link_attack":
        if method.supports(release, threats.link):
            return None
        scores = method.score(release, threats.link, context).scores
        assert scores.shape == (len(threats.link.pairs),)
        return [scores]
    if method.kind == "identity_attack":
        if method.supports(release, threats.identity):
            return None
        found = method.find(release, threats.identity, context)
        if isinstance(found, AnonymitySets):
            assert found.sizes.shape == (graph.num_nodes,)
            return [found.sizes, found.contains]
        assert found.candidates.shape[0] == threats.identity.known.num_nodes
        assert found.candidates.max() < graph.num_nodes
        return [found.candidates, found.confidence]
    if method.supports(release, threats.attribute):
        return None
    probabilities = method.infer(release, threats.attribute, context).probabilities
    assert probabilities.shape == (graph.num_nodes, threats.attribute.num_classes)
    return [probabilities]


@pytest.mark.parametrize("name", sorted(GRAPHS))
@pytest.mark.parametrize("method", METHODS, ids=lambda m: f"{m.kind}-{m.info.key}")
def test_shape_determinism_and_inputs_left_unchanged(method, name):
    graph = GRAPHS[name]()
    threats = make_threats(graph)
    visible = threats.visible
    before = visible.content_hash
    try:
        first = run(quick(method), visible, threats, Context(Seed(1)))
    except UnsupportedError:
        return
    if first is None:
        return
    second = run(quick(method), make_threats(GRAPHS[name]()).visible, threats, Context(Seed(1)))
    for left, right in zip(first, second, strict=True):
        np.testing.assert_array_equal(left, right)
    visible.__dict__.pop("content_hash", None)
    assert visible.content_hash == before


@pytest.mark.parametrize("method", METHODS, ids=lambda m: f"{m.kind}-{m.info.key}")
def test_config_round_trips_and_text_parses(method):
    config = quick(method).config
    copy = make_method(method.info.key, json.loads(json.dumps(config)), method.kind)
    assert copy.config == config
    assert parse_method(method.info.key, method.kind).info is method.info
    assert method.info.key.islower()
    assert method.info.source
    assert method.info.summary.endswith(".")
    for name, field in method.model_fields.items():
        assert field.description, f"{method.info.key}.{name} needs a help text"


@pytest.mark.parametrize(
    "method",
    [m for m in METHODS if m.info.cost != "instant"],
    ids=lambda m: f"{m.kind}-{m.info.key}",
)
def test_a_method_that_takes_time_reports_progress_and_obeys_cancel(method):
    graph = GRAPHS["two_communities"]()
    threats = make_threats(graph)
    progress = RecordingProgress()
    if run(quick(method), threats.visible, threats, Context(Seed(1), progress=progress)) is None:
        return
    assert progress.updates
    cancelled = RecordingProgress(is_cancelled=lambda: True)
    with pytest.raises(RunCancelled):
        run(quick(method), threats.visible, threats, Context(Seed(1), progress=cancelled))


def test_one_file_a_method_named_by_its_key():
    for method in list_methods():
        assert Path(inspect.getfile(method)).stem == method.info.key


def _list_settings():
    """Each defense, at three budgets where it has one."""
    for method in METHODS:
        if method.kind == "defense":
            budgets = (1.0, 3.0, 6.0) if "epsilon" in method.model_fields else (None,)
            for epsilon in budgets:
                yield pytest.param(method, epsilon, id=f"{method.info.key}-{epsilon}")


@pytest.mark.parametrize(("method", "epsilon"), list(_list_settings()))
def test_a_defense_foretells_how_many_links_its_release_has(method, epsilon):
    """Estimates and the guide go by it: EdgeRand's release may be thirty times its graph."""
    threats = make_threats(two_communities(120))
    visible = threats.visible
    settings = {} if epsilon is None else {"epsilon": epsilon}
    defense = method.model_validate(QUICK.get(method.info.key, {}) | settings)
    found = defense.publish(visible, threats, Context(Seed(0))).graph.num_edges
    expected = defense.expect_links(visible.num_nodes, visible.num_edges)
    assert found <= LOOSE.get(defense.info.key, 2.2) * expected
    if expected != visible.num_edges:
        assert found == pytest.approx(expected, rel=0.05)
