"""Permission required by each verb of the service, its jobs and the team.

A verb without a rule is not reachable; a test checks that every verb has one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from core.audit.access.permissions import Permissions
from core.errors import AccessError

Arguments = Mapping[str, Any]


@dataclass(frozen=True)
class Rule:
    """Check before a verb runs, and its record on the trail.

    check   raises InputError for objects the person may not know of, AccessError for forbidden
    actions
    event   name on the trail; "" for read access
    target  argument that names the object; "" if the return value does
    detail  further text for the trail
    fills   arguments that are set to the person, whatever the caller passes
    narrow  restricts the result to what the person may see
    """

    check: Callable[[Permissions, Arguments], object]
    event: str = ""
    target: str = ""
    detail: Callable[[Arguments], str] | None = None
    fills: tuple[str, ...] = ()
    narrow: Callable[[Permissions, Any], Any] | None = None


def _need_a_role(permissions: Permissions, _arguments: Arguments) -> None:
    permissions.need("analyst")


def _read(name: str) -> Callable[[Permissions, Arguments], object]:
    return lambda permissions, arguments: permissions.read_audit(arguments[name])


def _change(name: str, event: str, *detail: str) -> Rule:
    return Rule(
        lambda permissions, arguments: permissions.change_audit(arguments[name], event),
        event,
        target=name,
        detail=_format_arguments(*detail) if detail else None,
    )


def _format_arguments(*names: str) -> Callable[[Arguments], str]:
    """The named arguments as text, such as "subject: i ada"."""
    return lambda arguments: ", ".join(f"{name}: {arguments[name]}" for name in names)


def _list_graphs(spec: Any) -> list[str]:
    """Hashes of the graphs in a spec: its own, the attackers', and external releases."""
    identity, knowledge = spec.threats.identity, getattr(spec, "knowledge", None)
    held = [identity.auxiliary_graph if identity else None]
    held += [knowledge.shadow_graph if knowledge else None]
    held += getattr(spec, "external_releases", ())
    return [spec.graph_hash, *filter(None, held)]


def _read_graphs(permissions: Permissions, arguments: Arguments) -> None:
    for graph_hash in _list_graphs(arguments["spec"]):
        permissions.read_graph(graph_hash)


def _start(permissions: Permissions, arguments: Arguments) -> None:
    for graph_hash in _list_graphs(arguments["spec"]):
        permissions.hold_graph(graph_hash, "start audit")


def _save(permissions: Permissions, arguments: Arguments) -> None:
    permissions.need("analyst")
    if arguments["made_of"]:
        permissions.hold_graph(arguments["made_of"], "save graph")


def _prepare(permissions: Permissions, arguments: Arguments) -> None:
    """For the graph of one's own audit only."""
    spec, audit_id = arguments["spec"], arguments["audit_id"]
    permissions.hold_graph(spec.graph_hash, "prepare release")
    if audit_id is not None:
        permissions.change_audit(audit_id, "prepare release")
        permissions.match_graph(audit_id, spec.graph_hash)


def _assign(permissions: Permissions, arguments: Arguments) -> None:
    permissions.read_graph(arguments["graph_hash"])
    permissions.need("approver", "assign lineage")


def _decide(permissions: Permissions, arguments: Arguments) -> None:
    """For the audit's own graph, by the audit's owner and approvers."""
    decision = arguments["decision"]
    permissions.read_audit(decision.audit_id)
    if not permissions.person.has("approver"):
        permissions.change_audit(decision.audit_id, "record decision")
    permissions.match_graph(decision.audit_id, decision.graph_hash)
    if not permissions.person.is_local and decision.person != permissions.person.name:
        raise AccessError("record decision: only in your own name")


def _hand_out(permissions: Permissions, arguments: Arguments) -> None:
    permissions.hand_out(arguments["publish_id"], "hand out release")


def _hide_release(permissions: Permissions, run: Any) -> Any:
    """A publishing run without its release, for people with read access only."""
    if permissions.may(lambda: permissions.hand_out(run.id, "")):
        return run
    return replace(run, release=None)


def _own_token(permissions: Permissions, arguments: Arguments) -> None:
    permissions.change_token(arguments["token_id"])


def _own_subject(permissions: Permissions, arguments: Arguments) -> None:
    """Own records; those of others, or all, for administrators."""
    permissions.need("analyst")
    if arguments["subject"] != permissions.person.subject:
        permissions.need("administrator", "manage tokens")


def _read_job(kind: str, name: str = "key") -> Rule:
    return Rule(lambda permissions, arguments: permissions.read_job(kind, arguments[name]))


def _list_jobs(kind: str) -> dict[str, Rule]:
    """Rules shared by all kinds of jobs."""
    event = f"cancel {kind}"

    def check_cancel(permissions: Permissions, arguments: Arguments) -> None:
        permissions.change_job(kind, arguments["key"], event)

    return {
        "get": _read_job(kind),
        "list": Rule(_read("audit_id")),
        "cancel": Rule(check_cancel, event, target="key"),
        "cancel_all": _change("audit_id", f"cancel all {kind}"),
        "wait": _read_job(kind),
        **dict.fromkeys(("submit", "find_key", "close", "compute", "read"), MACHINE),
        **dict.fromkeys(("format_parts", "uses_gpu", "forget_graph"), MACHINE),
    }


SUBJECT = ("person",)
ANYONE = Rule(_need_a_role)
MACHINE = Rule(lambda permissions, _: permissions.need_machine())
"""For the program itself, not for people."""

READ_GRAPH = Rule(lambda permissions, arguments: permissions.read_graph(arguments["graph_hash"]))

RULES: dict[str, dict[str, Rule]] = {
    "": {
        "close": MACHINE,
        "set_notifier": MACHINE,
        "warm_up": MACHINE,
        "rest": ANYONE,
        "find_device_title": ANYONE,
        "save_graph": Rule(_save, "save graph", fills=SUBJECT),
        "load_graph": READ_GRAPH,
        "start_audit": Rule(
            _start, "start audit", detail=lambda given: given["spec"].graph_hash, fills=SUBJECT
        ),
        "resume_audit": _change("audit_id", "resume audit"),
        "cancel_audit": _change("audit_id", "cancel audit"),
        "delete_audit": _change("audit_id", "delete audit"),
        "wait": Rule(_read("audit_id")),
        "find_same_audit": Rule(_need_a_role, fills=SUBJECT),
        "list_audits": Rule(
            _need_a_role, narrow=lambda permissions, found: permissions.keep_audits(found)
        ),
        "get_progress": Rule(_read("audit_id")),
        "get_view": Rule(_read("audit_id")),
        "estimate_time": Rule(_read_graphs),
        "load_time_model": ANYONE,
        "start_publish": Rule(
            _prepare,
            "prepare release",
            detail=lambda given: f"{given['spec'].defense.id}, audit: {given['audit_id']}",
            fills=SUBJECT,
        ),
        "get_publish": replace(_read_job("publishing", "publish_id"), narrow=_hide_release),
        "sign_publish": Rule(
            lambda permissions, arguments: permissions.sign_run(arguments["publish_id"]),
            "sign release",
            target="publish_id",
            fills=SUBJECT,
        ),
        "find_relative": READ_GRAPH,
        "assign_lineage": Rule(
            _assign,
            "assign lineage",
            target="graph_hash",
            detail=_format_arguments("lineage", "reason"),
            fills=SUBJECT,
        ),
        "record_decision": Rule(
            _decide,
            "record decision",
            detail=lambda given: "{0.kind}: {0.release}, audit: {0.audit_id}".format(
                given["decision"]
            ),
            fills=SUBJECT,
        ),
        "hand_out": Rule(_hand_out, "hand out release", target="publish_id"),
    },
    "claims": {**_list_jobs("claim"), "start": _change("audit_id", "check claim")},
    "advice": {
        **_list_jobs("advice"),
        "start": _change("audit_id", "ask for advice"),
        "find": Rule(_read("audit_id")),
        "cancel_node": _change("audit_id", "cancel advice"),
        "list_done": Rule(_read("audit_id")),
    },
    "publishing": {
        **_list_jobs("publishing"),
        # A release is handed out by `hand_out`, prepared and signed by the service's verbs.
        **dict.fromkeys(("start", "sign", "load_release", "sweep"), MACHINE),
    },
    "layouts": {
        **_list_jobs("layout"),
        **dict.fromkeys(("start", "find", "load", "stop"), READ_GRAPH),
    },
    "team": {
        **dict.fromkeys(("welcome", "open_token", "record", "is_shared"), MACHINE),
        "list_people": ANYONE,
        "find_person": ANYONE,
        "find_names": ANYONE,
        "share_audit": replace(_change("audit_id", "share audit", "subject"), fills=("given_by",)),
        "unshare_audit": _change("audit_id", "unshare audit", "subject"),
        "list_grants": Rule(_read("audit_id")),
        "move_audit": Rule(
            lambda permissions, _: permissions.need("administrator", "move audit"),
            "move audit",
            target="audit_id",
            detail=_format_arguments("subject"),
        ),
        "make_token": Rule(
            _own_subject, "make token", target="subject", detail=_format_arguments("label", "days")
        ),
        "list_tokens": Rule(_own_subject),
        "revoke_token": Rule(_own_token, "revoke token", target="token_id"),
        "list_trail": Rule(
            lambda permissions, _: permissions.need("administrator", "read the trail")
        ),
    },
}
"""Part of the service ("" for itself) → verb → rule."""
