"""The audit service with permissions: every verb is checked, and changes are recorded on the
trail.

Each verb of the service, its jobs and the team stands here beside its rule. A verb without one is
an error of types, and does not exist at run time.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache, wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from core.audit.access import rules
from core.audit.access.permissions import Permissions
from core.audit.access.rules import Rule, cancel_job, change_audit, read_job
from core.audit.jobs.advice import AdviceJobs
from core.audit.jobs.claims import ClaimJobs
from core.audit.jobs.layout import LayoutJobs
from core.audit.jobs.publish import PublishJobs
from core.audit.service import AuditService
from core.audit.store.accounts import Person
from core.audit.store.team import Team
from core.errors import AuditError

P = ParamSpec("P")
R = TypeVar("R")


def enter(service: AuditService, person: Person) -> AuthorisedService:
    """The service restricted to what this person may use.

    Its verbs raise InputError for objects the person may not know of and AccessError for actions
    that are not permitted.
    """
    return AuthorisedService(service, Permissions(service._store, person))


class _Part:
    """A part of the service as one person may use it."""

    def __init__(self, part: Any, permissions: Permissions, team: Team) -> None:
        self._part, self._permissions, self._team = part, permissions, team


def _read_signature(bound: Callable[..., Any]) -> inspect.Signature:
    """`inspect.signature`, which takes as long as a query, once for each verb."""
    verb = getattr(bound, "__func__", None)
    return inspect.signature(bound) if verb is None else _read_method(verb)


@cache
def _read_method(verb: Callable[..., Any]) -> inspect.Signature:
    whole = inspect.signature(verb)
    return whole.replace(parameters=list(whole.parameters.values())[1:])


def _permit(
    verb: Callable[Concatenate[Any, P], R], rule: Rule
) -> Callable[Concatenate[_Part, P], R]:
    """The verb of the same name, which checks its rule before it runs."""

    @wraps(verb)
    def call(part: _Part, /, *args: P.args, **kwargs: P.kwargs) -> R:
        bound: Callable[P, R] = getattr(part._part, verb.__name__)
        given = _read_signature(bound).bind(*args, **kwargs)
        given.apply_defaults()
        arguments, permissions = given.arguments, part._permissions
        for name in rule.fills:
            arguments[name] = permissions.person.subject
        target = str(arguments[rule.target]) if rule.target else ""
        detail = rule.detail(arguments) if rule.detail else ""
        try:
            rule.check(permissions, arguments)
        except AuditError as error:
            event = rule.event or verb.__name__.replace("_", " ")
            text = f"{detail}; {error}" if detail else str(error)
            part._team.record(permissions.person, f"refused: {event}", target, text)
            raise
        result = bound(*given.args, **given.kwargs)
        if rule.event:
            made = result if isinstance(result, str) and not rule.target else target
            part._team.record(permissions.person, rule.event, made, detail)
        if rule.narrow is not None:
            result = rule.narrow(permissions, result)
        return result

    return call


class AuthorisedClaims(_Part):
    """Checks of guarantees."""

    start = _permit(ClaimJobs.start, change_audit("check claim"))
    get = _permit(ClaimJobs.get, read_job("claim"))
    list = _permit(ClaimJobs.list, rules.READ_AUDIT)
    wait = _permit(ClaimJobs.wait, read_job("claim"))
    cancel = _permit(ClaimJobs.cancel, cancel_job("claim"))
    cancel_all = _permit(ClaimJobs.cancel_all, change_audit("cancel all claim checks"))


class AuthorisedAdvice(_Part):
    """Advice on nodes."""

    start = _permit(AdviceJobs.start, change_audit("ask for advice"))
    find = _permit(AdviceJobs.find, rules.READ_AUDIT)
    list_done = _permit(AdviceJobs.list_done, rules.READ_AUDIT)
    cancel_node = _permit(AdviceJobs.cancel_node, change_audit("cancel advice"))
    get = _permit(AdviceJobs.get, read_job("advice"))
    list = _permit(AdviceJobs.list, rules.READ_AUDIT)
    wait = _permit(AdviceJobs.wait, read_job("advice"))
    cancel = _permit(AdviceJobs.cancel, cancel_job("advice"))
    cancel_all = _permit(AdviceJobs.cancel_all, change_audit("cancel all advice"))


class AuthorisedPublishing(_Part):
    """Publishing runs, which the service's own verbs prepare, sign and hand out."""

    get = _permit(PublishJobs.get, read_job("publishing"))
    list = _permit(PublishJobs.list, rules.READ_AUDIT)
    wait = _permit(PublishJobs.wait, read_job("publishing"))
    cancel = _permit(PublishJobs.cancel, cancel_job("publishing"))
    cancel_all = _permit(PublishJobs.cancel_all, change_audit("cancel all publishing runs"))


class AuthorisedLayouts(_Part):
    """Layouts of graphs."""

    start = _permit(LayoutJobs.start, rules.READ_GRAPH)
    find = _permit(LayoutJobs.find, rules.READ_GRAPH)
    load = _permit(LayoutJobs.load, rules.READ_GRAPH)
    stop = _permit(LayoutJobs.stop, rules.READ_GRAPH)
    get = _permit(LayoutJobs.get, read_job("layout"))
    list = _permit(LayoutJobs.list, rules.READ_AUDIT)
    wait = _permit(LayoutJobs.wait, read_job("layout"))
    cancel = _permit(LayoutJobs.cancel, cancel_job("layout"))
    cancel_all = _permit(LayoutJobs.cancel_all, change_audit("cancel all layouts"))


class AuthorisedTeam(_Part):
    """People, grants, tokens and the trail."""

    list_people = _permit(Team.list_people, rules.ANYONE)
    find_person = _permit(Team.find_person, rules.ANYONE)
    find_names = _permit(Team.find_names, rules.ANYONE)
    share_audit = _permit(Team.share_audit, rules.SHARE_AUDIT)
    unshare_audit = _permit(Team.unshare_audit, change_audit("unshare audit", "subject"))
    list_grants = _permit(Team.list_grants, rules.READ_AUDIT)
    move_audit = _permit(Team.move_audit, rules.MOVE_AUDIT)
    make_token = _permit(Team.make_token, rules.MAKE_TOKEN)
    list_tokens = _permit(Team.list_tokens, rules.LIST_TOKENS)
    revoke_token = _permit(Team.revoke_token, rules.REVOKE_TOKEN)
    list_trail = _permit(Team.list_trail, rules.READ_TRAIL)


class AuthorisedService(_Part):
    """What a person may do with the service, by the names that the service gives it."""

    def __init__(self, service: AuditService, permissions: Permissions) -> None:
        team = service.team
        super().__init__(service, permissions, team)
        self.claims = AuthorisedClaims(service.claims, permissions, team)
        self.advice = AuthorisedAdvice(service.advice, permissions, team)
        self.publishing = AuthorisedPublishing(service.publishing, permissions, team)
        self.layouts = AuthorisedLayouts(service.layouts, permissions, team)
        self.team = AuthorisedTeam(team, permissions, team)

    @property
    def person(self) -> Person:
        """The person the service is restricted to."""
        return self._permissions.person

    def may_change(self, audit_id: str) -> bool:
        """Whether the person may resume, cancel, delete, share and publish this audit."""
        return self._permissions.may(lambda: self._permissions.change_audit(audit_id, ""))

    rest = _permit(AuditService.rest, rules.ANYONE)
    find_device_title = _permit(AuditService.find_device_title, rules.ANYONE)
    load_time_model = _permit(AuditService.load_time_model, rules.ANYONE)
    save_graph = _permit(AuditService.save_graph, rules.SAVE_GRAPH)
    load_graph = _permit(AuditService.load_graph, rules.READ_GRAPH)
    save_choice = _permit(AuditService.save_choice, rules.OWN_CHOICE)
    find_choice = _permit(AuditService.find_choice, rules.OWN_CHOICE)
    estimate_time = _permit(AuditService.estimate_time, rules.READ_SPEC)
    start_audit = _permit(AuditService.start_audit, rules.START_AUDIT)
    open_example = _permit(AuditService.open_example, rules.OPEN_EXAMPLE)
    resume_audit = _permit(AuditService.resume_audit, change_audit("resume audit"))
    cancel_audit = _permit(AuditService.cancel_audit, change_audit("cancel audit"))
    delete_audit = _permit(AuditService.delete_audit, change_audit("delete audit"))
    find_same_audit = _permit(AuditService.find_same_audit, rules.FIND_OWN)
    list_audits = _permit(AuditService.list_audits, rules.LIST_AUDITS)
    find_last_confirmation = _permit(AuditService.find_last_confirmation, rules.READ_GRAPH)
    wait = _permit(AuditService.wait, rules.READ_AUDIT)
    get_progress = _permit(AuditService.get_progress, rules.READ_AUDIT)
    get_view = _permit(AuditService.get_view, rules.READ_AUDIT)
    find_relative = _permit(AuditService.find_relative, rules.READ_GRAPH)
    assign_lineage = _permit(AuditService.assign_lineage, rules.ASSIGN_LINEAGE)
    record_decision = _permit(AuditService.record_decision, rules.RECORD_DECISION)
    start_publish = _permit(AuditService.start_publish, rules.PREPARE_RELEASE)
    get_publish = _permit(AuditService.get_publish, rules.READ_RELEASE)
    sign_publish = _permit(AuditService.sign_publish, rules.SIGN_RELEASE)
    hand_out = _permit(AuditService.hand_out, rules.HAND_OUT)
