"""Audits that stop early: rarely at a wrong decision, and only where nothing could change it."""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from core.audit.asked import confidence
from core.audit.asked.confidence import compute_level
from core.audit.asked.spec import AuditSpec
from core.audit.results.view import CELL_COLUMNS
from core.audit.service import AuditService
from core.audit.store.states import State
from core.errors import InputError
from core.findings import stopping
from core.findings.policy import Limit, Policy
from core.findings.stopping import describe_repeats, explain_repeats, is_decided
from core.findings.verdict import judge
from core.measures.intervals import LEVEL, combine_measurements
from core.release import ORIGINAL
from core.report.appendix import build_limits
from core.report.data import ReportData
from core.report.options import ReportOptions
from core.results import Measurement
from tests.oracles.audits import list_attack_keys, make_audit
from tests.oracles.graphs import two_communities
from tests.oracles.node_risks import build_risks

ATTACKS = ("common_neighbors", "katz", "label_propagation")
RELEASE = "random_deletion"
AUC_LIMIT = 0.7
MAX_REPEATS = 10
WITHIN = 0.01
"""Standard deviation of a repeat's sampling error."""


def make_policy(**limits: float) -> Policy:
    """A policy of AUC limits by threat, which asks for instant attacks on three repeats."""
    return Policy(
        key="house",
        version=1,
        title="House",
        effort="instant",
        limits=tuple(
            Limit(name=t, threat=t, metric="auc", limit=x, title=t, source="test")  # type: ignore[arg-type]
            for t, x in limits.items()
        ),
    )


POLICY = make_policy(link=AUC_LIMIT, attribute=AUC_LIMIT)


class SimulatedAudit:
    """AUCs of repeats drawn around true values; overlap 1, as if all repeats shared the sample."""

    def __init__(self, truth, rng, between=0.02):
        releases, attacks = (list(dict.fromkeys(names)) for names in zip(*truth, strict=True))
        shared = {key: rng.normal(0, WITHIN) for key in truth}
        self.values = {
            key: value + shared[key] + rng.normal(0, between, MAX_REPEATS)
            for key, value in truth.items()
        }
        view = make_audit({(*key, "auc"): 0.5 for key in truth}, attacks, releases[1:])
        self.spec = view.spec.update(
            num_repeats=MAX_REPEATS, stop_early=True, policy=POLICY.model_dump(mode="json")
        )
        self.view = replace(view, spec=self.spec)

    def assemble(self, repeats, level=LEVEL):
        rows = self.view.results.copy()
        for index, row in rows.iterrows():
            drawn = self.values[row.release, row.method][:repeats]
            items = [Measurement("auc", float(v), WITHIN**2, 400) for v in drawn]
            found = combine_measurements(items, 1.0, level)
            columns = ["value", "low", "high", "seeds"]
            rows.loc[index, columns] = [found.value, found.low, found.high, repeats]
        return replace(self.view, results=rows)

    def find_stop(self):
        """The number of repeats after which the audit ends."""
        for repeats in range(1, MAX_REPEATS):
            if is_decided(self.spec, repeats, lambda level, n=repeats: self.run(n, level)):
                return repeats
        return MAX_REPEATS

    def run(self, repeats, level):
        """The audit after so many repeats, while it runs."""
        summary = replace(self.view.summary, state=State.RUNNING)
        return replace(self.assemble(repeats, level), summary=summary)


def decide(view, policy=POLICY):
    return {release.release: release.decision for release in judge(view, policy).releases}


def draw_truth(rng, spread=0.08):
    keys = [(release, attack) for release in (ORIGINAL, RELEASE) for attack in ATTACKS]
    return {key: AUC_LIMIT + rng.normal(-0.05, spread) for key in keys}


def count_wrong(count):
    rng = np.random.default_rng(5)
    stopped = wrong = spent = 0
    for _ in range(count):
        truth = draw_truth(rng)
        audit = SimulatedAudit(truth, rng)
        repeats = audit.find_stop()
        spent += repeats
        if repeats == MAX_REPEATS:
            continue
        stopped += 1
        exact = audit.assemble(repeats).results.copy()
        for index, row in exact.iterrows():
            exact.loc[index, ["value", "low", "high"]] = truth[row.release, row.method]
        found = decide(audit.assemble(repeats))
        wrong += found != decide(replace(audit.view, results=exact))
    return stopped, wrong, 1 - spent / (count * MAX_REPEATS)


@pytest.mark.nightly
def test_few_of_two_hundred_simulated_audits_stop_at_a_wrong_decision():
    if os.environ.get("AUDIT_NIGHTLY") != "1":
        pytest.skip("AUDIT_NIGHTLY=1 simulates 200 audits")
    stopped, wrong, saved = count_wrong(200)
    assert saved > 0.1
    assert stopped >= 50
    assert wrong <= confidence.ERROR * 200


def test_a_clear_audit_stops_at_the_policys_number_of_repeats(monkeypatch):
    rng = np.random.default_rng(0)
    keys = [(release, attack) for release in (ORIGINAL, RELEASE) for attack in ATTACKS]
    clear = SimulatedAudit(dict.fromkeys(keys, 0.4), rng, between=1e-4)
    assert clear.find_stop() == POLICY.repeats == 3
    exceeded = SimulatedAudit(
        {
            **dict.fromkeys(keys, 0.68),
            **dict.fromkeys([(ORIGINAL, "katz"), (RELEASE, "katz")], 0.95),
        },
        rng,
    )
    assert exceeded.find_stop() < MAX_REPEATS
    near = SimulatedAudit({**dict.fromkeys(keys, 0.4), (RELEASE, "katz"): AUC_LIMIT}, rng)
    assert near.find_stop() == MAX_REPEATS


def test_one_open_release_keeps_the_audit_running():
    """The original is far above the limit; the release beside it is within noise of it."""
    rng = np.random.default_rng(1)
    truth = {(ORIGINAL, a): 0.95 for a in ATTACKS} | {(RELEASE, a): 0.699 for a in ATTACKS}
    assert SimulatedAudit(truth, rng).find_stop() == MAX_REPEATS


def test_the_error_is_shared_by_looks_limits_attacks_and_releases():
    audit = SimulatedAudit(draw_truth(np.random.default_rng(2)), np.random.default_rng(3))
    # 10 - 3 looks; two link attacks against one limit, one attribute attack against the other
    assert compute_level(audit.spec) == pytest.approx(1 - 0.05 / (7 * 3 * 2))
    wide = audit.assemble(4, compute_level(audit.spec)).results
    usual = audit.assemble(4).results
    assert (wide.high.to_numpy(float) - usual.high.to_numpy(float) >= 0).all()
    assert (wide.high - usual.high).max() > 0.01


def test_a_figure_without_repeats_never_ends_an_audit():
    """Exposure counted over people has no interval over repeats."""
    limit = Limit(
        name="people", threat="attribute", metric="advantage_share", limit=0.5,
        title="people", source="test",
    )  # fmt: skip
    policy = replace_limits(POLICY, limit)
    rng = np.random.default_rng(0)
    keys = [(release, attack) for release in (ORIGINAL, RELEASE) for attack in ATTACKS]
    audit = SimulatedAudit(dict.fromkeys(keys, 0.4), rng, between=1e-4)
    nodes = pd.DataFrame(
        {
            "node": np.tile(np.arange(60), 2),
            "release": [ORIGINAL] * 60 + [RELEASE] * 60,
            "attack": "label_propagation",
            "risk": 0.5,
            "advantage": 0.0,
            "low": 0.5,
            "high": 0.5,
            "seeds": 3,
        }
    )
    audit.view = replace(audit.view, load_nodes=lambda: build_risks(nodes))
    spec = audit.spec.update(policy=policy.model_dump(mode="json"))
    assert judge(audit.assemble(5), policy).find(RELEASE).checks[-1].state == "met"
    assert not is_decided(spec, 5, lambda level: audit.assemble(5, level))


def replace_limits(policy, *limits):
    return policy.model_copy(update={"limits": (*policy.limits, *limits)})


def test_stopping_needs_a_policy():
    view = make_audit({(ORIGINAL, "katz", "auc"): 0.5}, ("katz",))
    with pytest.raises(InputError, match="stop_early needs a policy"):
        AuditSpec.check_spec(view.spec.update(stop_early=True).model_dump())


@pytest.mark.xdist_group("audit cluster")
class TestService:
    @pytest.fixture
    def service(self, tmp_path_factory):
        service = AuditService(tmp_path_factory.mktemp("home"), is_decided)
        service.save_graph(two_communities())
        yield service
        service.close()

    @pytest.fixture
    def spec(self):
        policy = make_policy(link=0.0).model_copy(update={"repeats": 2})
        return AuditSpec.check_spec(
            {
                "graph_hash": two_communities().content_hash,
                "hide_links": 0.2,
                "test_links": 0.0,
                "num_repeats": 6,
                "stop_early": True,
                "policy": policy.model_dump(mode="json"),
                "attacks": [{"key": "common_neighbors"}, {"key": "degree_product"}],
                "measures": [],
            }
        )

    def test_an_audit_ends_before_its_last_repeat(self, service, spec):
        audit_id = service.start_audit(spec)
        assert service.wait(audit_id, 300)
        view, progress = service.get_view(audit_id), service.get_progress(audit_id)
        assert 2 <= view.num_repeats < 6
        assert view.stopped_early
        assert progress.note == f"ended after {view.num_repeats} of at most 6 repeats"
        assert progress.cells_done == progress.cells_total == 2 * view.num_repeats
        assert set(view.results[view.results.metric == "auc"].seeds) == {view.num_repeats}
        repeats = f"{view.num_repeats} repeats of at most 6"
        assert describe_repeats(view) == repeats
        printed = str(build_limits(ReportData(view, ReportOptions())))
        assert (
            f"The audit ended after {repeats}: more repeats would not change the decision."
            in printed
        )
        service.resume_audit(audit_id)
        assert service.wait(audit_id, 300)
        assert service.get_view(audit_id).num_repeats == view.num_repeats

    def test_a_decision_sees_no_later_repeats(self, spec, tmp_path_factory):
        """Parts of the original are computed first, of all repeats, and a resume finds them all."""
        seen = []

        def record(spec, repeats, assemble):
            seen.append((repeats, assemble(0.95).num_repeats))
            return False

        service = AuditService(tmp_path_factory.mktemp("home"), record)
        try:
            service.save_graph(two_communities())
            audit_id = service.start_audit(spec.update(num_repeats=3))
            assert service.wait(audit_id, 300)
            service._make_stopping_rule(audit_id, spec.update(num_repeats=3))(1)
        finally:
            service.close()
        assert seen == [(1, 1), (2, 2), (1, 1)]

    def test_without_the_option_all_repeats_run(self, service, spec):
        audit_id = service.start_audit(spec.update(stop_early=False))
        assert service.wait(audit_id, 300)
        view = service.get_view(audit_id)
        assert view.num_repeats == 6
        assert not view.stopped_early


class Confirmation(SimulatedAudit):
    """The confirmation of what a search chose."""

    def __init__(self, truth, rng, between=0.02):
        super().__init__(truth, rng, between)
        self.spec = self.spec.update(confirmation_error=0.01)
        self.view = replace(self.view, spec=self.spec)


def test_a_confirmation_ends_where_its_last_repeat_would_not_prove_a_limit():
    rng = np.random.default_rng(2)
    keys = [(release, attack) for release in (ORIGINAL, RELEASE) for attack in ATTACKS]
    near = dict.fromkeys(keys, AUC_LIMIT - 0.001)
    assert Confirmation(near, rng).find_stop() == stopping.FEWEST_HOPELESS
    assert SimulatedAudit(near, rng).find_stop() == MAX_REPEATS, "an audit has all of its repeats"
    one = near | {(RELEASE, attack): AUC_LIMIT - 0.04 for attack in ATTACKS}
    assert Confirmation(one, rng, 0.01).find_stop() > stopping.FEWEST_HOPELESS, "one may be proven"
    safe = dict.fromkeys(keys, AUC_LIMIT - 0.2)
    assert Confirmation(safe, rng, 0.01).find_stop() < MAX_REPEATS


class TestOneReleaseMayLeave:
    """The other release would be proven by the last of thirty repeats, not soon."""

    OTHER = "random_rewiring"
    TRUTH = {ORIGINAL: 0.69, RELEASE: 0.52, OTHER: 0.65}
    REQUIRED = list_attack_keys("instant")

    @pytest.fixture(autouse=True)
    def _draw_thirty_repeats(self, monkeypatch):
        monkeypatch.setitem(globals(), "MAX_REPEATS", 30)

    def find_stop(self, audit=Confirmation, attacks=REQUIRED):
        truth = {(name, a): auc for name, auc in self.TRUTH.items() for a in attacks}
        simulated = audit(truth, np.random.default_rng(2), 0.02)
        return simulated, simulated.find_stop()

    def test_others_have_few_more_repeats(self, monkeypatch):
        simulated, stop = self.find_stop()
        level = compute_level(simulated.spec)
        verdict = judge(simulated.assemble(stop, level), POLICY)
        assert verdict.find(RELEASE).decision == "publish"
        other = verdict.find(self.OTHER)
        assert other.decision == "review"
        assert not stopping.is_hopeless(other, stop, MAX_REPEATS, level)
        assert stopping.is_hopeless(other, stop, stop + stopping.FEW_MORE, level)
        monkeypatch.setattr(stopping, "FEW_MORE", MAX_REPEATS)
        assert self.find_stop()[1] > 2 * stop

    def test_one_that_lacks_an_attack_may_not_leave(self):
        _, stop = self.find_stop()
        assert self.find_stop(attacks=self.REQUIRED[:-1])[1] > stop

    @pytest.mark.parametrize(("share", "ends"), [(0.3, True), (0.31, False)])
    def test_one_that_keeps_less_than_was_asked_ends_nothing(self, monkeypatch, share, ends):
        kept = {RELEASE: 0.3, self.OTHER: 0.9}
        monkeypatch.setattr(stopping, "compute_kept", lambda view, release, name: kept[release])

        class Asked(Confirmation):
            def __init__(self, *args):
                super().__init__(*args)
                self.spec = self.spec.update(must_keep={"links": share})
                self.view = replace(self.view, spec=self.spec)

        assert (self.find_stop(Asked)[1] == self.find_stop()[1]) == ends

    def test_an_audit_waits_for_all_of_its_releases(self):
        assert self.find_stop(SimulatedAudit)[1] == MAX_REPEATS


def test_a_confirmation_has_an_error_of_its_own():
    rng = np.random.default_rng(2)
    truth = draw_truth(rng)
    usual, own = SimulatedAudit(truth, rng).spec, Confirmation(truth, rng).spec
    looks = MAX_REPEATS - POLICY.repeats  # and the last repeat, which decides a confirmation
    assert (1 - compute_level(own)) * (looks + 1) == pytest.approx(
        (1 - compute_level(usual)) * looks / 5
    )


@pytest.mark.parametrize(("audit", "decides_last"), [(SimulatedAudit, 0), (Confirmation, 1)])
@pytest.mark.parametrize("repeats", [3, 4, MAX_REPEATS])
def test_every_look_at_these_intervals_has_its_share(monkeypatch, audit, decides_last, repeats):
    """Looks are counted where they are taken. After the last repeat only a confirmation is judged
    by these intervals: of 30 repeats it had 28 looks, and shares for 27."""
    monkeypatch.setattr(stopping, "FEWEST_HOPELESS", MAX_REPEATS)
    near = {(name, a): AUC_LIMIT - 1e-3 for name in (ORIGINAL, RELEASE) for a in ATTACKS}
    one, levels = audit(near, np.random.default_rng(0)), []
    spec = one.spec.update(num_repeats=repeats)

    def assemble(level):
        levels.append(level)
        return one.assemble(k, level)

    for k in range(1, repeats):
        assert not is_decided(spec, k, assemble)
    levels += [compute_level(spec)] * max(decides_last, not levels)
    error = spec.confirmation_error or confidence.ERROR
    intervals = 2 * len(ATTACKS)  # each attack against its threat's limit, on both releases
    assert sum(1 - level for level in levels) * intervals == pytest.approx(error)


@pytest.mark.usefixtures("no_pictures")
def test_what_repeats_tell_is_said_of_the_policy_that_is_shown():
    """ "More repeats would not change the decision" was said of whichever policy was picked."""
    keys = [(name, a) for name in (ORIGINAL, RELEASE) for a in ATTACKS]
    own, other = make_policy(link=0.6, attribute=0.6), make_policy(link=0.8, attribute=0.8)
    view = make_audit({(*key, "auc"): 0.78 for key in keys}, ATTACKS, (RELEASE,), 0.06, 3)
    spec = view.spec.update(
        stop_early=True, num_repeats=30, policy=own.model_dump(mode="json"), confirmation_error=0.01
    )
    cells = pd.DataFrame({"seed": [0, 1, 2]}).reindex(columns=list(CELL_COLUMNS))
    view = replace(view, spec=spec, cells=cells)
    confirming = replace(view, summary=replace(view.summary, search={"stage": "confirmation"}))
    for policy, is_own in ((own, True), (other, False)):
        stands = is_decided(spec, 3, lambda _level: view) if is_own else False
        told = explain_repeats(view, policy)
        assert "ended after 3 repeats of at most 30" in told
        assert ("would not change the decision" in told) is is_own is stands
        assert ("as the policy “House” was decided. Under another policy" in told) is not is_own
        confirms = explain_repeats(confirming, policy)
        assert confirms.startswith("Confirms what a search chose")
        assert ("Under another policy it confirms nothing" in confirms) is not is_own
        for of, text in ((view, told), (confirming, confirms)):
            printed = str(build_limits(ReportData(of, ReportOptions(policy=policy))))
            assert text in printed, "page and report say the same"
    whole = replace(view, spec=spec.update(num_repeats=3))
    assert explain_repeats(whole, own) == ""
    outdated = spec.model_copy(update={"policy": {"key": "house", "title": "House"}})
    assert "Under another policy" in explain_repeats(replace(view, spec=outdated), own)
