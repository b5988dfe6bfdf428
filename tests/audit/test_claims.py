"""Checks of claims as jobs: the game's outcome is stored, sound and broken mechanisms differ."""

from __future__ import annotations

import time

import pytest

from core.audit.asked.method_choice import MethodChoice
from core.audit.assemble import assemble_view
from core.audit.jobs.claims import ClaimJobs, ClaimRequest, run_claim_check
from core.audit.jobs.job import JobProgress, list_runs, run_job
from core.audit.results.export import describe_audit
from core.audit.store import files
from core.audit.store.database import Store
from core.audit.store.liveness import describe_owner
from core.errors import InputError, RunCancelled, UnsupportedError
from tests.inline import run_inline
from tests.oracles.broken import make_half_noise
from tests.oracles.progress import RecordingProgress

EDGE_RAND = {"key": "edge_rand", "config": {"epsilon": 1.0}}
RELEASE = "edge_rand:epsilon=1.0"
SOLITUDE = {"key": "solitude", "config": {"epsilon": 1.0}}
RETRY_S = 300.0


def wait_for(condition, seconds=RETRY_S):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path)
    yield store
    store.close()


@pytest.fixture
def audit_id(store, graph, make_spec):
    spec = make_spec(defenses=[EDGE_RAND], attacks=[{"key": "common_neighbors"}])
    return run_inline(spec, graph, store.home, store=store).summary.id


def play(store, audit_id, trials):
    """What the service does, without a cluster."""
    put(store, audit_id, "c1", RELEASE, trials)
    state = run_job(ClaimJobs, str(store.home), store.url, "c1")
    (run,) = list_claims(store, audit_id)
    assert run.state == state
    return run


def put(store, audit_id, key, release, trials):
    choice = MethodChoice.parse(release, "defense")
    request = ClaimRequest(release=release, choice=choice, trials=trials)
    store.add_job(
        key, "claim", audit_id=audit_id, release=release, request=request.model_dump(mode="json")
    )


def list_claims(store, audit_id):
    return list_runs(store, ClaimJobs, audit_id)


def test_a_sound_mechanism_passes_and_its_check_is_stored_and_exported(store, audit_id):
    run = play(store, audit_id, 400)
    assert run.state == "done"
    assert not run.check.is_refuted
    assert 0.2 < run.check.lower_bound <= run.check.claimed == 1.0
    again = run_claim_check(MethodChoice.model_validate(EDGE_RAND), 400)
    assert again.describe() == run.check.describe()
    view = assemble_view(store, store.find_audit(audit_id))
    assert [claim.id for claim in view.claims] == [run.id]
    described = describe_audit(view)
    assert described["claim_checks"][0]["release"] == RELEASE
    assert described["claim_checks"][0]["lower_bound"] == run.check.lower_bound
    assert described["guarantees"][RELEASE]["epsilon"] == 1.0
    store.delete_audit(audit_id)
    assert list_claims(store, audit_id) == ()


def test_a_broken_mechanism_is_flagged_on_the_same_path(store, audit_id, monkeypatch):
    sound = MethodChoice.make

    def make(choice, *kinds):
        return make_half_noise(sound(choice, *kinds))

    monkeypatch.setattr(MethodChoice, "make", make)
    run = play(store, audit_id, 1000)
    assert run.check.is_refuted
    assert run.check.trials <= 1000
    assert "does not hold" in run.check.verdict


def test_a_flag_cancels_and_what_went_wrong_is_told(store, audit_id):
    put(store, audit_id, "c1", RELEASE, 400)
    path = files.flag_path(store.home, "c1")
    path.parent.mkdir(exist_ok=True)
    path.touch()
    assert run_job(ClaimJobs, str(store.home), store.url, "c1") == "cancelled"
    assert [run.state for run in list_claims(store, audit_id)] == ["cancelled"]
    put(store, audit_id, "c2", "random_deletion", 400)
    assert run_job(ClaimJobs, str(store.home), store.url, "c2") == "skipped"
    assert "differential privacy" in list_claims(store, audit_id)[-1].reason


@pytest.mark.parametrize("ending", ["cancelled", "deleted"])
@pytest.mark.parametrize("when", ["starts", "runs"])
def test_a_check_that_ended_without_a_flag_stops_too(store, audit_id, monkeypatch, ending, when):
    """Cancelled while it starts it is withdrawn as waiting, and its flag is cleared."""
    put(store, audit_id, "c1", RELEASE, 400)
    was_asked = []

    def end():
        if ending == "deleted":
            store.delete_jobs(["c1"])
        else:
            store.update_open_job("c1", state="cancelled")

    def compute(_request, job):
        was_asked.append(when)
        end()
        wait_for(lambda: job.progress.update(1, 2), 10)

    monkeypatch.setattr(ClaimJobs, "compute", compute)
    if when == "starts":
        beginning = JobProgress.begin
        monkeypatch.setattr(JobProgress, "begin", lambda self: (end(), beginning(self)))
    assert run_job(ClaimJobs, str(store.home), store.url, "c1") == "cancelled"
    assert was_asked == [when] * (when == "runs")
    left = [run.state for run in list_claims(store, audit_id)]
    assert left == ["cancelled"] * (ending == "cancelled")


def test_a_check_whose_process_is_gone_counts_as_interrupted(store, audit_id):
    put(store, audit_id, "c1", RELEASE, 400)
    assert list_claims(store, audit_id)[0].state == "queued"
    host, pid, started = describe_owner()[1:-1].split(", ")
    store.update_job("c1", owner=f"[{host}, {pid}, 1.0]", state="running")
    assert started != "1.0"
    assert list_claims(store, audit_id)[0].state == "interrupted"


def test_what_promises_nothing_has_no_claim_and_progress_cancels():
    with pytest.raises(UnsupportedError, match="differential privacy"):
        run_claim_check(MethodChoice(key="random_deletion"), 400)
    progress = RecordingProgress(is_cancelled=lambda: len(progress.updates) > 3)
    with pytest.raises(RunCancelled):
        run_claim_check(MethodChoice.model_validate(EDGE_RAND), 400, progress=progress)


@pytest.mark.xdist_group("audit cluster")
def test_the_service_plays_reuses_and_cancels_checks(service, make_spec):
    audit_id = service.start_audit(make_spec(defenses=[EDGE_RAND, SOLITUDE]))
    assert service.wait(audit_id, RETRY_S)
    before = service.get_view(audit_id)
    with pytest.raises(InputError, match="defended"):
        service.claims.start(audit_id, "original", 100)
    with pytest.raises(InputError, match="trials"):
        service.claims.start(audit_id, RELEASE, 10)
    claim_id = service.claims.start(audit_id, RELEASE, 100)
    assert service.claims.wait(claim_id, RETRY_S)
    assert service.claims.start(audit_id, RELEASE, 100) == claim_id
    view = service.get_view(audit_id)
    assert before.claims == ()
    assert [(run.state, run.release) for run in view.claims] == [("done", RELEASE)]

    slow = service.claims.start(audit_id, view.releases[2].id, 100_000)
    wait_for(lambda: service.claims.list(audit_id)[1].fraction > 0)
    assert service.claims.list(audit_id)[1].is_active
    service.claims.cancel(slow)
    wait_for(lambda: not service.claims.list(audit_id)[1].is_active)
    assert service.claims.list(audit_id)[1].state == "cancelled"
    assert service.claims.list(audit_id)[1].fraction < 1
    assert service.claims.start(audit_id, view.releases[2].id, 100_000) == slow  # once more
    service.delete_audit(audit_id)
