"""What the verbs of the service, its jobs and the team require of the person who calls them."""

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


SUBJECT = ("person",)

ANYONE = Rule(lambda permissions, _: permissions.need("analyst"))
READ_AUDIT = Rule(lambda permissions, arguments: permissions.read_audit(arguments["audit_id"]))
READ_GRAPH = Rule(lambda permissions, arguments: permissions.read_graph(arguments["graph_hash"]))


def change_audit(event: str, *detail: str) -> Rule:
    """For the owner of the audit; the trail has the arguments that `detail` names."""
    return Rule(
        lambda permissions, arguments: permissions.change_audit(arguments["audit_id"], event),
        event,
        target="audit_id",
        detail=format_arguments(*detail) if detail else None,
    )


def format_arguments(*names: str) -> Callable[[Arguments], str]:
    """The named arguments as text, such as "subject: i ada"."""
    return lambda arguments: ", ".join(f"{name}: {arguments[name]}" for name in names)


def read_job(kind: str, name: str = "key") -> Rule:
    """For whoever may read the audit of the job, or asked for it."""
    return Rule(lambda permissions, arguments: permissions.read_job(kind, arguments[name]))


def cancel_job(kind: str) -> Rule:
    """For the owner of the job's audit, or who asked for it."""
    event = f"cancel {kind}"

    def check(permissions: Permissions, arguments: Arguments) -> None:
        permissions.change_job(kind, arguments["key"], event)

    return Rule(check, event, target="key")


# -- graphs and audits ----------------------------------------------------------------------


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


SAVE_GRAPH = Rule(_save, "save graph", fills=SUBJECT)
START_AUDIT = Rule(
    _start, "start audit", detail=lambda given: given["spec"].graph_hash, fills=SUBJECT
)
OPEN_EXAMPLE = Rule(ANYONE.check, "open example", fills=SUBJECT)
OWN_CHOICE = replace(READ_GRAPH, fills=SUBJECT)
READ_SPEC = Rule(_read_graphs)
FIND_OWN = Rule(ANYONE.check, fills=SUBJECT)
LIST_AUDITS = replace(ANYONE, narrow=lambda permissions, found: permissions.keep_audits(found))


# -- publishing and decisions ---------------------------------------------------------------


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


def _hide_release(permissions: Permissions, run: Any) -> Any:
    """A publishing run without its release, for people with read access only."""
    if permissions.may(lambda: permissions.hand_out(run.id, "")):
        return run
    return replace(run, release=None)


PREPARE_RELEASE = Rule(
    _prepare,
    "prepare release",
    detail=lambda given: f"{given['spec'].defense.id}, audit: {given['audit_id']}",
    fills=SUBJECT,
)
READ_RELEASE = replace(read_job("publishing", "publish_id"), narrow=_hide_release)
SIGN_RELEASE = Rule(
    lambda permissions, arguments: permissions.sign_run(arguments["publish_id"]),
    "sign release",
    target="publish_id",
    fills=SUBJECT,
)
HAND_OUT = Rule(
    lambda permissions, arguments: permissions.hand_out(
        arguments["publish_id"], "hand out release"
    ),
    "hand out release",
    target="publish_id",
)
ASSIGN_LINEAGE = Rule(
    _assign,
    "assign lineage",
    target="graph_hash",
    detail=format_arguments("lineage", "reason"),
    fills=SUBJECT,
)
RECORD_DECISION = Rule(
    _decide,
    "record decision",
    detail=lambda given: "{0.kind}: {0.release}, audit: {0.audit_id}".format(given["decision"]),
    fills=SUBJECT,
)


# -- people ---------------------------------------------------------------------------------


def _own_subject(permissions: Permissions, arguments: Arguments) -> None:
    """Own records; those of others, or all, for administrators."""
    permissions.need("analyst")
    if arguments["subject"] != permissions.person.subject:
        permissions.need("administrator", "manage tokens")


SHARE_AUDIT = replace(change_audit("share audit", "subject"), fills=("given_by",))
MOVE_AUDIT = Rule(
    lambda permissions, _: permissions.need("administrator", "move audit"),
    "move audit",
    target="audit_id",
    detail=format_arguments("subject"),
)
MAKE_TOKEN = Rule(
    _own_subject, "make token", target="subject", detail=format_arguments("label", "days")
)
LIST_TOKENS = Rule(_own_subject)
REVOKE_TOKEN = Rule(
    lambda permissions, arguments: permissions.change_token(arguments["token_id"]),
    "revoke token",
    target="token_id",
)
READ_TRAIL = Rule(lambda permissions, _: permissions.need("administrator", "read the trail"))
