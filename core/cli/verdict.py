"""What `audit --policy` adds: the verdict in audit.json, said in a line, and its exit code."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from core.cli.terminal import say

if TYPE_CHECKING:
    from core.audit.view import AuditView

NOTHING_MAY_LEAVE = 3


def add_policy(parser: argparse.ArgumentParser) -> None:
    """The option."""
    parser.add_argument(
        "--policy",
        metavar="public|partner|internal|FILE",
        help="limits that a release must keep; exit code 3 where none may be published",
    )


def judge_audit(view: AuditView, tell: Callable[[str], object] = say) -> tuple[dict[str, Any], int]:
    """What audit.json says of the audit's policy, and the exit code; ({}, 0) without one."""
    from core.findings.labels import release_title
    from core.findings.policy import check_policy
    from core.findings.verdict import judge
    from core.findings.verdict_words import explain_release

    if view.spec.policy is None:
        return {}, 0
    verdict = judge(view, check_policy(view.spec.policy))
    for release in verdict.releases:
        decision = release.decision.replace("_", " ")
        reasons = [] if release.decision == "publish" else explain_release(release)
        more = f" and {len(reasons) - 1} more" if len(reasons) > 1 else ""
        why = f" ({reasons[0]}{more})" if reasons else ""
        tell(f"{decision}: {release_title(release.release)}{why}")
    return {"verdict": verdict.describe()}, 0 if verdict.may_leave else NOTHING_MAY_LEAVE
