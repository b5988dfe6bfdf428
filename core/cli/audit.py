"""`audit`: plan, run and export an audit, and judge it by a policy."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from core.cli.arguments import add_field, add_graph, split_values
from core.cli.audit_spec import add_spec, build_spec, read_fields
from core.cli.outputs import add_out, check_outputs, list_files, stage_outputs
from core.cli.team import open_service
from core.cli.terminal import make_folder, make_meter, say
from core.errors import InputError, RunCancelled

if TYPE_CHECKING:
    from core.audit.access.authorised import AuthorisedService
    from core.audit.asked.spec import AuditSpec
    from core.audit.results.view import AuditView


Show = Callable[[int, int, str], object]
"""Called with the finished parts, all parts, and what is being done."""

POLL_S = 1.0
"""Seconds between polls of an audit's progress, whose cost grows with the number of cells."""

CANCEL_WAIT_S = 60.0
"""Seconds a cancelled audit may take to record its state on a busy machine."""


def add_audit(audit: argparse.ArgumentParser) -> None:
    """Options of `audit`."""
    add_graph(audit)
    add_spec(audit)
    audit.add_argument(
        "--check-claims",
        type=int,
        nargs="?",
        const=0,
        metavar="N",
        help="try to refute the guarantees of private releases by N trials each; by default "
        "their number follows from ε",
    )
    add_results(audit)
    audit.set_defaults(run=run_audit)


def add_results(parser: argparse.ArgumentParser) -> None:
    """Add options on results and their destination."""
    parser.add_argument("--name", help="how the history calls the audit")
    add_field(parser, "policy", metavar="public|partner|internal|FILE")
    parser.add_argument(
        "--report",
        action="store_true",
        help="write report.pdf, report-external.pdf, summary.pdf, dpia.md and dpia.json",
    )
    parser.add_argument(
        "--risk-scale",
        choices=("advantage", "risk"),
        default="advantage",
        help="what the report shows of people: what the attacker adds to the base rate (the "
        "default), or the risk itself",
    )
    parser.add_argument(
        "--format",
        action="append",
        default=[],
        metavar="sarif|junit|json|markdown|html[,…]",
        help="write the policy's verdict for a pipeline: verdict.sarif, .xml, .json, .md or .html",
    )
    add_out(parser, "DIR", "where results go")


def start_results(options: argparse.Namespace, fields: Mapping[str, Any]) -> None:
    """Check `--format` and every file that will be written, then remove verdicts of an earlier run.

    fields  of the spec: its defenses, and which columns are published
    """
    from core.audit.asked.method_choice import MethodChoice
    from core.audit.results.export import NODES, RECORD, RELEASES, list_audit_releases

    options.format = list(dict.fromkeys(split_values(options.format)))
    out = options.out
    files = [out / NODES]
    if options.report:  # the report's package draws: a second of every start
        from core.report import FILES
        from core.report.dpia import FILES as DPIA_FILES

        files += [out / name for name in (*FILES.values(), *DPIA_FILES)]
    if options.format:
        from core.report.gate import check_formats, list_verdicts

        check_formats(options.format)
        files += list_verdicts(out)
    choices = [MethodChoice.model_validate(choice) for choice in fields["defenses"]]
    names_columns = fields.get("publish_columns") is not None or bool(fields.get("generalize"))
    releases = list_audit_releases(out / RELEASES, choices, names_columns)
    check_outputs(options, {out / RECORD: files, **releases})
    if options.format:
        from core.report.gate import remove_verdicts

        remove_verdicts(out)


def run_audit(options: argparse.Namespace) -> int:
    """Plan, run and export an audit."""
    if options.check_claims:
        from core.audit.jobs.claims import check_trials

        check_trials(options.check_claims)
    # Workers may run a command only if they start after it was named: the environment says so.
    has_command = any(text.partition(":")[0] == "command" for text in options.defense or ())
    with open_service(computes=not has_command) as service:
        fields = read_fields(options)
        start_results(options, fields)
        return complete_audit(service, build_spec(options, service, fields), options)


def complete_audit(service: AuthorisedService, spec: AuditSpec, options: argparse.Namespace) -> int:
    """Run or resume the audit of a spec and write the results; returns the exit code."""
    from core.audit.results.export import RECORD, write_audit
    from core.audit.store.states import State
    from core.findings.channels import describe_channels
    from core.findings.homophily import describe_homophily
    from core.findings.uses import describe_uses
    from core.records import hash_files, list_unchanged

    if options.format and spec.policy is None:
        remedy = "add --policy public, partner, internal or a file"
        raise InputError("--format", "needs a policy", ",".join(options.format), remedy)
    make_folder(options.out)
    audit_id = compute_audit(service, spec, options.name)
    if options.check_claims is None:
        service.rest()  # a large audit's tables take what its cells took
    view = service.get_view(audit_id)
    if view.summary.state is not State.DONE:
        return explain_stop(service, view)
    refuted = 0
    if options.check_claims is not None:
        refuted = _check_claims(service, view, options.check_claims)
        view = service.get_view(audit_id)
    verdict, code = judge_audit(view)
    failed = view.summary.cells_failed
    code = 1 if failed or refuted else code
    for text in describe_results(view):
        say(text)
    with stage_outputs(options.out) as folder:
        if options.report:
            from core.report import ReportOptions, write_editions

            write_editions(view, folder, ReportOptions(scale=options.risk_scale))
        if options.format:
            from core.report.gate import write_gate

            write_gate(view, folder, options.format, code)
        others = list_unchanged(options.out / RECORD) | hash_files(folder, list_files(folder))
        found = {
            "channels": describe_channels(view),
            "columns": describe_uses(view),
            "homophily": describe_homophily(view),
        }
        write_audit(view, folder, {**verdict, **found}, others)
    say(f"{view.summary.cells_total} parts, {failed} failed; results in {options.out}")
    return code


def compute_audit(
    service: AuthorisedService, spec: AuditSpec, name: str | None = None, show: Show | None = None
) -> str:
    """Start or resume the audit of a spec and wait for its end; returns its id.

    show  what is told of progress; by default on stderr
    """
    audit_id = service.find_same_audit(spec)
    if audit_id is None:
        audit_id = service.start_audit(spec, name)
    else:
        service.resume_audit(audit_id)
    _watch(service, audit_id, show or _show_on_terminal())
    return audit_id


def explain_stop(service: AuthorisedService, view: AuditView) -> int:
    """Print why an audit ended early; returns the exit code."""
    from core.audit.store.states import State

    state, note = view.summary.state, service.get_progress(view.summary.id).note
    return say(
        f"{state}: {note}; run the same command again to resume",
        code=130 if state is State.CANCELLED else 1,
    )


def describe_results(view: AuditView) -> list[str]:
    """What was tried, the strongest attacks, usefulness, exposed people, their advantage, and the
    most exposed group, as plain text."""
    from core.findings.columns import list_telling_columns
    from core.findings.exposure import list_risks
    from core.findings.groups import answer_groups, load_groups
    from core.findings.private_columns import answer_private_columns
    from core.findings.strongest import answer_attack, describe_false_alarms
    from core.findings.tables import list_threats
    from core.findings.tried import Tried
    from core.findings.usefulness import describe_usefulness, find_usefulness

    texts = [f"{Tried.of(view).describe()}."]
    texts += [answer_attack(view.results, threat) for threat in list_threats(view.results)]
    texts.append(describe_false_alarms(view))
    for summary in view.releases:
        found = find_usefulness(view.results, summary.id) if summary.info.is_defended else None
        texts += [] if found is None else [f"{summary.info.title}: {describe_usefulness(found)}."]
    if not view.nodes.is_empty:
        risks = list_risks(view.nodes, view.spec.nodes, _find_subject(view))
        texts += [text for risk_and_bound in risks for text in risk_and_bound]
        texts.append(answer_groups(view.nodes, load_groups(view)))
        texts += [*answer_private_columns(view), *list_telling_columns(view)]
    return [text for text in texts if text]


def _find_subject(view: AuditView) -> str | None:
    """The release that the decision is about; None without a policy."""
    from core.findings.policy import check_policy
    from core.findings.verdict import judge
    from core.findings.verdict_words import find_subject

    if view.spec.policy is None:
        return None
    subject = find_subject(judge(view, check_policy(view.spec.policy)))
    return None if subject is None else subject.release


def _check_claims(service: AuthorisedService, view: AuditView, trials: int) -> int:
    """Check the guarantee of each private release; returns the number of refuted or failed checks.

    trials  0: the number needed to refute each guarantee
    """
    from core.audit.jobs.claims import count_claims
    from core.privacy.claim_check import choose_trials

    private = [
        summary.id
        for summary in view.releases
        if summary.guarantee.is_private and not summary.info.is_data_independent
    ]
    guarantees = {summary.id: summary.guarantee for summary in view.releases}
    num_claims = count_claims(view.spec)
    ids = [
        service.claims.start(
            view.summary.id, release, trials or choose_trials(guarantees[release], num_claims)
        )
        for release in private
    ]
    show = make_meter()
    try:
        for number, (claim_id, release) in enumerate(zip(ids, private, strict=True)):
            while not service.claims.wait(claim_id, 0.2):
                show(f"{number}/{len(ids)} claims", release)
    except KeyboardInterrupt:
        service.claims.cancel_all(view.summary.id)
        raise RunCancelled("cancelled; run the same command again to resume") from None
    runs = [run for run in service.claims.list(view.summary.id) if run.id in ids]
    for run in runs:
        say(f"{run.release}: {run.check.verdict if run.check else run.reason}")
    return sum(run.check.is_refuted if run.check else not run.state.is_kept for run in runs)


def _show_on_terminal() -> Show:
    meter = make_meter()
    return lambda done, total, doing: meter(f"{done}/{total} parts", doing)


def _watch(service: AuthorisedService, audit_id: str, show: Show) -> None:
    """Show progress until the audit ends, here or in the process that runs it."""
    from core.findings.labels import describe_running
    from core.findings.numbers import format_duration_range

    try:
        while True:
            is_over = service.wait(audit_id, POLL_S)
            progress = service.get_progress(audit_id)
            running = progress.running[0] if progress.running else None
            doing = progress.note
            if running:
                repeat = f"repeat {running.seed + 1}"
                doing = f"{describe_running(running)}, {repeat} {running.message}".strip()
            if progress.time_left is not None and progress.time_left.high:
                left = format_duration_range(progress.time_left.low, progress.time_left.high)
                doing = f"{left} left · {doing}"
            show(progress.cells_done, progress.cells_total, doing)
            if is_over and not progress.is_active:
                return
    except KeyboardInterrupt:
        service.cancel_audit(audit_id)
        service.wait(audit_id, CANCEL_WAIT_S)
        raise RunCancelled("cancelled; run the same command again to resume") from None


NOTHING_MAY_LEAVE = 3


def judge_audit(view: AuditView, tell: Callable[[str], object] = say) -> tuple[dict[str, Any], int]:
    """Verdict for audit.json and the exit code; ({}, 0) without a policy."""
    from core.findings.policy import check_policy
    from core.findings.verdict import judge
    from core.findings.verdict_words import count_others, describe_decision, explain_release

    if view.spec.policy is None:
        return {}, 0
    verdict = judge(view, check_policy(view.spec.policy))
    for release in verdict.offered:
        decision = release.decision.replace("_", " ")
        reasons = [] if release.decision == "publish" else explain_release(release)
        named = list(dict.fromkeys([*reasons[:1], *(release.warnings if reasons else ())]))
        rest = count_others(release, named) if reasons else ""
        why = "".join(f"; {text}" for text in [*named, rest] if text)
        tell(f"{release.made.title}: {decision}{why}")
    if verdict.policy_warning:
        tell(f"warning: {verdict.policy_warning}")
    tell(describe_decision(verdict))
    return {"verdict": verdict.describe()}, 0 if verdict.may_leave else NOTHING_MAY_LEAVE
