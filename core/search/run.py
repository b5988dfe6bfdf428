"""Runs a search as ordinary audits, or reads one from those that it has run.

Each trial is an audit with a mark in its provenance. A search is resumed by taking the same steps
again: trials that were audited are read, not computed.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from core.audit.asked.answers import choose_seeds
from core.audit.asked.method_choice import MethodChoice
from core.audit.asked.spec import SET_BY_SEARCH, AuditSpec
from core.audit.results.view import AuditProgress, AuditSummary, AuditView
from core.audit.store.states import State as AuditState
from core.errors import AuditError, InputError
from core.findings.kept import USEFUL
from core.findings.policy import Policy, check_policy
from core.graph import Graph
from core.search.attackers import list_costly, list_quick, list_required
from core.search.ladders import build_ladders
from core.search.measured import Measured, measure_releases
from core.search.strategy import Found, Search, Trial
from core.seeding import Seed
from core.words import count_noun

ERROR = 0.05
"""Probability of a wrong "publish" over all confirmations on a graph."""

MAX_REPEATS = 30
"""Splits of a confirmation at most; it ends before where every limit is decided."""


class Audits(Protocol):
    """Verbs of the audit service that a search needs, with permissions or without."""

    def load_graph(self, graph_hash: str) -> Graph:
        """A stored graph."""

    def start_audit(self, spec: AuditSpec, name: str, marks: dict[str, Any]) -> str:
        """Start an audit with `marks` in its provenance; returns its id."""

    def resume_audit(self, audit_id: str) -> None:
        """Compute what is missing."""

    def list_audits(self) -> list[AuditSummary]:
        """The history, newest first."""

    def wait(self, audit_id: str, timeout: float | None = None) -> bool:
        """Wait for an audit of this process; False if it still runs after `timeout` s."""

    def get_progress(self, audit_id: str) -> AuditProgress:
        """How far an audit is."""

    def get_view(self, audit_id: str) -> AuditView:
        """Results of an audit."""

    def cancel_audit(self, audit_id: str) -> None:
        """Cancel an audit."""

    def find_last_confirmation(self, graph_hash: str) -> int:
        """Number of the last confirmation on a graph's data, by whomever; 0 without one."""


@dataclass(frozen=True)
class SearchRequest:
    """What is searched.

    spec    secrets, knowledge, disclosure and policy; if it names defenses, no others are tried;
            its attacks and repeats are not used
    useful  measure of `USEFUL` → share of the original's that must stay
    """

    spec: AuditSpec
    useful: dict[str, float]

    @staticmethod
    def check(spec: AuditSpec, useful: dict[str, float], graph: Graph) -> SearchRequest:
        """The request; raises InputError.

        Without `useful`, for what the graph's recipients use it for. People are looked for as well,
        since no release is cleared whose links and columns no such attack read.
        """
        if spec.policy is None:
            raise InputError("search", "needs a policy", remedy="choose the recipient")
        if spec.external_release is not None:
            raise InputError("search", "needs a graph of one's own, not a release made elsewhere")
        default = "column" if spec.disclosure.utility else "links"
        useful = useful or {default: 0.0}
        for name, share in useful.items():
            if name not in USEFUL:
                raise InputError("useful", "must be one of " + ", ".join(USEFUL), name)
            if not 0 <= share <= 1:
                raise InputError(f"useful {name}", "must be a share between 0 and 1", share)
        if "column" in useful and spec.disclosure.utility is None:
            raise InputError("useful column", "needs a utility column", remedy="name --utility")
        if "link_prediction" in useful and not spec.test_links and spec.held_back_links is None:
            raise InputError("useful link_prediction", "needs links held back", spec.test_links)
        if spec.threats.identity is None and graph.num_edges:
            spec = spec.update(identity={"seeds_known": choose_seeds(graph)})
        declared = AuditSpec.model_fields
        unset = {n: declared[n].get_default(call_default_factory=True) for n in SET_BY_SEARCH}
        return SearchRequest(spec.update(attacks=(), num_repeats=1, **unset), useful)

    @property
    def id(self) -> str:
        """The same for the same request, so that a search is found again; answers on the purpose,
        which change no result, apart."""
        told = SearchRequest(self.spec.model_copy(update={"purpose": {}}), self.useful).describe()
        return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:10]

    @property
    def policy(self) -> Policy:
        """Limits that the release must meet."""
        return check_policy(self.spec.policy)

    def describe(self) -> dict[str, Any]:
        """As JSON, for `parse`."""
        return {"spec": self.spec.model_dump(mode="json"), "useful": self.useful}

    @staticmethod
    def parse(fields: dict[str, Any]) -> SearchRequest:
        """The request of `describe`."""
        return SearchRequest(AuditSpec.check_fields(fields["spec"]), fields["useful"])

    def make_spec(
        self, trial: Trial, confirmation: int, costly: Sequence[MethodChoice] = ()
    ) -> AuditSpec:
        """The audit of a trial.

        Screening and race each keep one split over their trials, so that releases are compared on
        the same secrets; every confirmation draws its own.

        confirmation  number of the trial among the confirmations on the graph, from 1, if it is one
        costly        attackers that a trial without the costliest leaves out
        """
        policy, is_cheap = self.policy, trial.stage == "screening"
        attacks = list_quick(self.spec) if is_cheap else list_required(self.spec, policy)
        name = trial.stage if trial.stage != "confirmation" else confirmation
        seed = Seed(self.spec.root_seed).child("search", trial.stage, name).to_int() % 2**31
        is_adaptive = self.spec.knowledge.adaptive or policy.attackers.adaptive
        is_model = {"column", "link_prediction"} & set(self.useful)
        fields: dict[str, Any] = {
            "attacks": [each for each in attacks if trial.has_costly or each not in costly],
            "defenses": trial.choices,
            "num_repeats": 1 if is_cheap else policy.repeats,
            "adaptive": not is_cheap and is_adaptive,
            "measures": ("structure", "utility") if is_model else ("structure",),
            "root_seed": seed,
        }
        if trial.stage == "race":
            fields["original_repeats"] = 0  # screening showed what it tells
        if trial.stage == "confirmation":
            fields |= {
                "num_repeats": max(MAX_REPEATS, policy.repeats),
                "original_repeats": policy.repeats,
                "stop_early": True,
                "confirmation_error": share_error(confirmation),
                "must_keep": self.useful,
            }
        return AuditSpec.check_spec(self.spec.update(**fields).model_dump())


def share_error(number: int) -> float:
    """Error of the `number`-th confirmation on a graph, from 1; of all of them together `ERROR`.

    Not of a search: one that goes on with more time may confirm others than before.
    """
    return ERROR / (number * (number + 1))


@dataclass
class SearchProgress:
    """A search as far as it was audited.

    number   of the search among those on its graph, from 1
    current  audit of the trial that has not ended, or None
    audits   those of its trials, in order
    confirmations  numbers of its confirmations among those on the graph, from 1
    """

    request: SearchRequest
    search: Search
    number: int
    audits: list[str] = field(default_factory=list)
    confirmations: list[int] = field(default_factory=list)
    current: str | None = None
    cpu_seconds: float = 0.0
    stopped: str = ""

    @property
    def is_over(self) -> bool:
        """Whether nothing is left to try."""
        return self.search.is_over

    @property
    def doing(self) -> str:
        """ "Screening, 3 trials done"."""
        tried = count_noun(len(self.search.trials), "trial")
        return f"{self.search.stage.capitalize()}, {tried} done"


def run_search(
    service: Audits,
    request: SearchRequest,
    within: float | None = None,
    watch: Callable[[SearchProgress], bool] | None = None,
) -> SearchProgress:
    """Audit trial after trial until the search is over; finished trials are read.

    within  seconds after which it stops; finished parts are kept
    watch   called about once a second; the search stops where it is false
    """
    started = time.monotonic()

    def is_late() -> bool:
        return within is not None and time.monotonic() - started > within

    def finish(
        progress: SearchProgress, spec: AuditSpec, mark: dict[str, Any], audit_id: str | None
    ) -> str | None:
        if is_late():
            progress.stopped = LATE
            return None
        if audit_id is None:
            audit_id = service.start_audit(spec, _title_trial(spec, mark), {"search": mark})
        else:
            service.resume_audit(audit_id)
        progress.current = audit_id
        while not _wait_for(service, audit_id):
            is_stopped = watch is not None and not watch(progress)
            if is_stopped or is_late():
                service.cancel_audit(audit_id)
                progress.stopped = "it was stopped" if is_stopped else LATE
                return None
        state = service.get_progress(audit_id)
        if state.state is not AuditState.DONE:
            raise AuditError(f"audit {state.state}: {state.note}")
        return audit_id

    return _walk(service, request, finish, _take_longest([within, *_list_times(service, request)]))


LATE = "the time was over"
PUBLISHED = "what passed may not leave beside releases of the graph that are out"

POLL_S = 1.0
"""Seconds between looks at a trial."""


def _wait_for(service: Audits, audit_id: str) -> bool:
    """Whether an audit has ended within `POLL_S`; the store, which is costly to ask, says so only
    where another process computes it."""
    until = time.monotonic() + POLL_S
    if not service.wait(audit_id, POLL_S):
        return False
    has_ended = not service.get_progress(audit_id).is_active
    if not has_ended:
        time.sleep(max(until - time.monotonic(), 0.0))
    return has_ended


def stop_search(service: Audits, request: SearchRequest) -> None:
    """Cancel what runs of a search; it can be taken up again."""
    for audit in service.list_audits():
        if audit.search is not None and audit.search["id"] == request.id and audit.state.is_active:
            service.cancel_audit(audit.id)


def read_search(service: Audits, request: SearchRequest) -> SearchProgress:
    """The search as far as its trials have been audited; computes nothing."""

    def find(
        progress: SearchProgress, _spec: AuditSpec, _mark: dict[str, Any], audit_id: str | None
    ) -> str | None:
        if audit_id is None:
            progress.stopped = _explain_new_step(service, progress)
            return None
        progress.current = audit_id
        is_done = service.get_progress(audit_id).state is AuditState.DONE
        return audit_id if is_done else None

    return _walk(service, request, find, _take_longest(_list_times(service, request)))


def list_requests(service: Audits, graph_hash: str) -> list[SearchRequest]:
    """Searches on a graph, newest first."""
    found: dict[str, dict[str, Any]] = {}
    for mark in _list_marks(service, graph_hash):
        found.setdefault(mark["id"], mark["request"])
    return [SearchRequest.parse(request) for request in found.values()]


def _explain_new_step(service: Audits, progress: SearchProgress) -> str:
    """Why a search that was over confirms once more: releases of the graph are out, without which
    what it confirmed might leave; "" of any other search."""
    if len(progress.confirmations) < 2:
        return ""
    view = service.get_view(progress.audits[-1])
    alone = _measure(replace(view, ledger=()), progress.request).values()
    passes = any(m.made.is_defended and m.decision == "publish" for m in alone)
    return PUBLISHED if view.ledger and passes else ""


def _walk(
    service: Audits,
    request: SearchRequest,
    find: Callable[[SearchProgress, AuditSpec, dict[str, Any], str | None], str | None],
    within: float | None,
) -> SearchProgress:
    """Take the steps of a search as long as `find` gives the audit of the next trial; it is told
    the one that there is."""
    graph, policy = service.load_graph(request.spec.graph_hash), request.policy
    ladders = build_ladders(request.spec, graph, policy)
    costly = list_costly(request.spec, policy, graph)
    search = Search(ladders, request.useful, within, has_costly=bool(costly))
    progress = SearchProgress(request, search, _count_searches(service, request))
    steps, seen = search.run(), set[tuple[Any, ...]]()
    found: Found | None = None
    while True:
        try:
            trial = next(steps) if found is None else steps.send(found)
        except StopIteration:
            progress.current = None
            return progress
        known, confirmation = _find_trial(service, request.id, trial), 0
        if trial.stage == "confirmation":
            confirmation = _number_confirmation(service, request, known)
            progress.confirmations.append(confirmation)
        spec = request.make_spec(trial, confirmation, costly)
        mark = {
            "id": request.id,
            "number": progress.number,
            "confirmation": confirmation,
            "stage": trial.stage,
            "trial": trial.number,
            "graph_hash": request.spec.graph_hash,
            "identity": graph.identity_hash,
            "request": request.describe(),
            "within": within,
        }
        search.stage = trial.stage
        audit_id = find(progress, spec, mark, None if known is None else known.id)
        if audit_id is None:
            return progress
        view = service.get_view(audit_id)
        progress.audits.append(audit_id)
        progress.cpu_seconds += _sum_new(view, trial.stage, seen)
        found = _measure(view, request)


def _measure(view: AuditView, request: SearchRequest) -> dict[str, Measured]:
    return measure_releases(view, request.policy, list(request.useful))


def _sum_new(view: AuditView, stage: str, seen: set[tuple[Any, ...]]) -> float:
    """CPU seconds of the cells of a trial that no earlier trial of the stage had."""
    names = ["release", "method", "seed", "kind"]
    total = 0.0
    for row in view.cells[[*names, "cpu_seconds"]].itertuples(index=False):
        key = (view.spec.root_seed, *row[:4])
        if key not in seen:
            seen.add(key)
            total += 0.0 if row[4] is None or row[4] != row[4] else float(row[4])
    return total


def _list_marks(service: Audits, graph_hash: str) -> list[dict[str, Any]]:
    marks = [audit.search for audit in service.list_audits()]
    return [mark for mark in marks if mark is not None and mark["graph_hash"] == graph_hash]


def _count_searches(service: Audits, request: SearchRequest) -> int:
    """Number of the search on its graph: its own if it began before, else the next."""
    marks = _list_marks(service, request.spec.graph_hash)
    own = [mark["number"] for mark in marks if mark["id"] == request.id]
    return int(own[0]) if own else 1 + max((mark["number"] for mark in marks), default=0)


def _find_trial(service: Audits, search_id: str, trial: Trial) -> AuditSummary | None:
    """Audit of this trial of the search, of the same releases, if there is one."""
    wanted = search_id, trial.stage, trial.number
    for audit in service.list_audits():
        mark = audit.search
        if mark is None or (mark["id"], mark["stage"], mark["trial"]) != wanted:
            continue
        if [made.id for made in audit.defenses] == [choice.id for choice in trial.choices]:
            return audit
    return None


def _number_confirmation(
    service: Audits, request: SearchRequest, known: AuditSummary | None
) -> int:
    """Number of a confirmation among those on its graph's data: its own if it began before, else
    the next."""
    if known is not None and known.search is not None:
        return int(known.search["confirmation"])
    return 1 + service.find_last_confirmation(request.spec.graph_hash)


def _list_times(service: Audits, request: SearchRequest) -> list[float | None]:
    """Seconds that the trials so far were given; None: as many as it takes."""
    marks = _list_marks(service, request.spec.graph_hash)
    return [mark.get("within") for mark in marks if mark["id"] == request.id]


def _take_longest(times: list[float | None]) -> float | None:
    limited = [seconds for seconds in times if seconds is not None]
    return max(limited) if limited and len(limited) == len(times) else None


def _title_trial(spec: AuditSpec, mark: dict[str, Any]) -> str:
    """ "Search 1f, screening 2: karate"."""
    return f"Search {mark['id'][:4]}, {mark['stage']} {mark['trial'] + 1}: {spec.graph_name}"
