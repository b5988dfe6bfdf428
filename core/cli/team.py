"""`trail`, `token`, `people` and `share`: several people on one store; and the current person."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from core.cli.terminal import say
from core.errors import InputError

if TYPE_CHECKING:
    from core.audit.access.authorised import AuthorisedService
    from core.audit.jobs.cluster import EmbeddedCluster
    from core.audit.store.accounts import Person
    from core.audit.store.team import Team


def open_person(team: Team) -> Person:
    """The owner of AUDIT_TOKEN, else the local user.

    A private home belongs to whoever can open it. A shared database (AUDIT_DATABASE) that people
    have signed in to requires a token.
    """
    from core.audit.store.accounts import LOCAL

    text = os.environ.get("AUDIT_TOKEN")
    if text:
        return team.open_token(text)
    if os.environ.get("AUDIT_DATABASE") and team.is_shared():
        rule = "must be set, for several people share this database"
        raise InputError("AUDIT_TOKEN", rule, remedy="make a token on the Audits page")
    return LOCAL


def _find_decided(*arguments: Any) -> bool:
    """`is_decided`, imported on first use."""
    from core.findings.stopping import is_decided

    return is_decided(*arguments)


@contextmanager
def open_service(
    computes: bool = False, tell: Callable[[str], object] = say
) -> Iterator[AuthorisedService]:
    """The service with the permissions of the current person.

    computes  whether cells will probably be computed: the embedded cluster then starts while this
              process imports, loads and plans
    tell      what is told while it waits for the store
    """
    with ExitStack() as stack:
        cluster = _start_cluster() if computes else None
        if cluster is not None:
            stack.callback(cluster.close)
        from core.audit.access.authorised import enter
        from core.audit.service import AuditService

        service = AuditService(stopping_rule=_find_decided, cluster=cluster)
        stack.callback(service.close)
        service.set_notifier(tell)
        yield enter(service, open_person(service.team))


def _start_cluster() -> EmbeddedCluster | None:
    from core.audit.jobs.cluster import EmbeddedCluster
    from core.audit.jobs.engine import is_embedded
    from core.home import find_home

    return EmbeddedCluster(find_home()) if is_embedded() else None


def add_trail(trail: argparse.ArgumentParser) -> None:
    """Options of `trail`."""
    trail.add_argument("--json", action="store_true", help="as JSON")
    trail.add_argument("--limit", type=int, metavar="N", help="the newest N only")
    trail.add_argument("--of", default="", metavar="ID", help="of one audit or publishing run")
    trail.set_defaults(run=run_trail)


def add_people(people: argparse.ArgumentParser) -> None:
    """`people` has no options."""
    people.set_defaults(run=run_people)


def add_token(token: argparse.ArgumentParser) -> None:
    """Actions of `token`."""
    actions = token.add_subparsers(required=True, metavar="ACTION")
    new = actions.add_parser("new", help="prints a new token, this once")
    new.add_argument("--for", dest="person", metavar="EMAIL", help="whose (one's own)")
    new.add_argument("--label", default="", help="what it is for")
    new.add_argument("--days", type=int, default=90, metavar="N", help="how long it lasts (90)")
    new.set_defaults(run=run_new_token)
    listed = actions.add_parser("list", help="tokens, without their secrets")
    listed.add_argument("--for", dest="person", metavar="EMAIL", help="whose (all, or one's own)")
    listed.set_defaults(run=run_list_tokens)
    revoke = actions.add_parser("revoke", help="end a token at once")
    revoke.add_argument("id", metavar="ID")
    revoke.set_defaults(run=run_revoke_token)


def add_share(share: argparse.ArgumentParser) -> None:
    """Options of `share`."""
    share.add_argument("audit", metavar="AUDIT", help="its id")
    share.add_argument("person", metavar="EMAIL", help="e-mail or subject of who signed in once")
    how = share.add_mutually_exclusive_group()
    how.add_argument("--take-back", action="store_true", help="no longer")
    how.add_argument("--owner", action="store_true", help="make it theirs (administrators)")
    share.set_defaults(run=run_share)


def run_trail(options: argparse.Namespace) -> int:
    """Print the trail; for administrators."""
    with open_service() as service:
        entries = service.team.list_trail(options.limit, options.of)
    if options.json:
        print(json.dumps([asdict(entry) for entry in entries], indent=1, ensure_ascii=False))
        return 0
    for entry in entries:
        print("  ".join((entry.made, entry.name, entry.event, entry.target, entry.detail)).rstrip())
    return 0


def run_people(options: argparse.Namespace) -> int:
    """Print one line per person."""
    with open_service() as service:
        for person in service.team.list_people():
            print("  ".join((person.role, person.name, person.email or "-", person.subject)))
    return 0


def run_new_token(options: argparse.Namespace) -> int:
    """Print a token, and nothing else, on stdout."""
    with open_service() as service:
        subject = _find_subject(service, options.person)
        print(service.team.make_token(options.label, options.days, subject))
    say(f"it is shown this once and lasts {options.days} days; set it as AUDIT_TOKEN")
    return 0


def run_list_tokens(options: argparse.Namespace) -> int:
    """Print one line per token."""
    with open_service() as service:
        is_all = options.person is None and service.person.has("administrator")
        subject = None if is_all else _find_subject(service, options.person)
        for token in service.team.list_tokens(subject):
            ended = "revoked" if token.is_revoked else "ended"
            state = "valid" if token.is_valid else ended
            used = token.used or "never used"
            print("  ".join((token.id, state, token.expires, used, token.person, token.label)))
    return 0


def run_revoke_token(options: argparse.Namespace) -> int:
    """Revoke a token."""
    with open_service() as service:
        service.team.revoke_token(options.id)
    return 0


def run_share(options: argparse.Namespace) -> int:
    """Grant, revoke or transfer access to an audit."""
    with open_service() as service:
        subject = service.team.find_person(options.person).subject
        if options.owner:
            service.team.move_audit(options.audit, subject)
        elif options.take_back:
            service.team.unshare_audit(options.audit, subject)
        else:
            service.team.share_audit(options.audit, subject)
    return 0


def _find_subject(service: AuthorisedService, text: str | None) -> str:
    if text is None:
        return service.person.subject
    return service.team.find_person(text).subject
