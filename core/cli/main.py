"""The command line: `python -m core methods | audit | advise | check-claim | publish | ledger`.

Exit codes: 0 done; 1 done, but some cells failed (they are listed in the results) or a claim of
differential privacy was refuted; 2 bad input, with one line `error: …`; 3 done, but the policy lets
no release leave; 130 cancelled.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from core.cli.advise import add_advise
from core.cli.arguments import DEFAULT_SHARE, build_spec, load_input
from core.cli.cluster import add_cluster
from core.cli.columns import add_columns, read_columns
from core.cli.doctor import add_doctor
from core.cli.identity import add_identity
from core.cli.knowledge import add_knowledge, split_private
from core.cli.ledger import add_ledger
from core.cli.team import add_team, check_publisher, open_service
from core.cli.verdict import add_policy, judge_audit
from core.errors import AuditError, InputError, RunCancelled
from core.progress import Progress

if TYPE_CHECKING:
    from core.audit.service import AuditService
    from core.audit.view import AuditView

CANCEL_WAIT_S = 60.0
"""How long a cancelled audit may take to write down that it is; a busy machine is slow."""


class Parser(argparse.ArgumentParser):
    """Says in one line what is wrong."""

    def error(self, message: str) -> NoReturn:
        """Raise the message as an InputError, so that all errors read alike."""
        raise InputError("command", message, remedy=f"see: {self.prog} --help")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; its exit code: 0, 1 failed or refuted, 2 wrong input, 3 nothing may
    leave, 130 cancelled.
    """
    try:
        options = build_parser().parse_args(arguments)
        check_texts(options)
        split_private(options)
        code: int = options.run(options)
        return code
    except KeyboardInterrupt:
        return say("cancelled", code=130)
    except RunCancelled as error:
        return say(str(error), code=130)
    except AuditError as error:
        return say(f"error: {error}", code=2)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        name = f" '{error.filename}'" if error.filename else ""
        return say(f"error: file{name} cannot be used; {error.strerror or error}", code=2)
    except Exception as error:
        if os.environ.get("AUDIT_DEBUG"):
            raise
        text = f"{type(error).__name__}: {error}"
        return say(f"error: internal error; {text}; AUDIT_DEBUG=1 shows where", code=1)


def check_texts(options: argparse.Namespace) -> None:
    """InputError for an option whose bytes are no text: it could not be stored or shown."""
    for name, value in vars(options).items():
        for text in value if isinstance(value, list) else [value]:
            try:
                str(text).encode()
            except UnicodeEncodeError:
                shown = ascii(str(text))[1:-1]
                raise InputError(f"--{name.replace('_', '-')}", "must be UTF-8", shown) from None


def build_parser() -> Parser:
    """All commands and their options."""
    parser = Parser(prog="python -m core", description="Audits of graphs of people.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    methods = commands.add_parser("methods", help="list all attacks and defenses")
    form = methods.add_mutually_exclusive_group()
    form.add_argument(
        "--json",
        action="store_const",
        const="json",
        dest="form",
        default="text",
        help="with settings, as JSON",
    )
    form.add_argument(
        "--markdown",
        action="store_const",
        const="markdown",
        dest="form",
        help="as tables with sources",
    )
    methods.set_defaults(run=run_methods)

    audit = commands.add_parser("audit", help="attack a graph and defended releases of it")
    _add_graph(audit)
    audit.add_argument(
        "--spec",
        type=Path,
        metavar="FILE",
        help="settings from a spec or an earlier audit.json; options go first",
    )
    audit.add_argument(
        "--known",
        type=float,
        metavar="SHARE",
        help="share of the private values that the adversary knows (0.1)",
    )
    audit.add_argument(
        "--test-links",
        type=float,
        metavar="SHARE",
        help="share of the links held back to measure usefulness (0.1)",
    )
    audit.add_argument(
        "--attack",
        action="append",
        metavar="KEY[:name=value,…]",
        help="an attack, or 'all'; may be repeated",
    )
    audit.add_argument(
        "--defense",
        action="append",
        metavar="KEY[:name=value,…]",
        help="a defense, or 'all'; may be repeated",
    )
    audit.add_argument(
        "--no-twins", action="store_true", help="leave out the data-free twins of syntheses"
    )
    audit.add_argument(
        "--check-claims",
        type=int,
        nargs="?",
        const=0,
        metavar="N",
        help="try to refute what private releases promise, by N trials each (by default from ε)",
    )
    add_identity(audit)
    add_columns(audit)
    add_knowledge(audit)
    audit.add_argument(
        "--repeats", "--seeds", dest="num_repeats", type=int, metavar="N", help="repeats (5)"
    )
    audit.add_argument("--root-seed", type=int, metavar="N", help="seed of the whole audit (0)")
    audit.add_argument("--name", help="how the history calls the audit")
    add_policy(audit)
    audit.add_argument(
        "--report",
        action="store_true",
        help="write report.pdf, report-external.pdf and summary.pdf",
    )
    audit.add_argument(
        "--risk-scale",
        choices=("advantage", "risk"),
        default="advantage",
        help="what the report shows of people: what the attacker adds to the base rate (the "
        "default), or the risk itself",
    )
    audit.add_argument("--out", type=Path, required=True, metavar="DIR", help="where results go")
    audit.set_defaults(run=run_audit)

    check = commands.add_parser("check-claim", help="try to refute what a defense promises")
    check.add_argument("--defense", required=True, metavar="KEY[:name=value,…]")
    check.add_argument(
        "--trials",
        type=int,
        metavar="N",
        help="runs of the defense (by default from ε)",
    )
    check.add_argument("--root-seed", type=int, default=0, metavar="N")
    check.add_argument("--out", type=Path, metavar="FILE", help="where the outcome goes, as JSON")
    check.set_defaults(run=run_check_claim)

    add_advise(commands, _add_graph, say)
    add_cluster(commands, say)
    add_doctor(commands, say)

    publish = commands.add_parser("publish", help="make one release to be handed over")
    _add_graph(publish, required=True)
    publish.add_argument("--defense", required=True, metavar="KEY[:name=value,…]")
    publish.add_argument("--known", type=float, metavar="SHARE")
    add_columns(publish)
    publish.add_argument(
        "--publisher-knows",
        choices=("none", "column"),
        help="what the defense is told of the private column: nothing, or all of it (column)",
    )
    publish.add_argument(
        "--out", type=Path, required=True, metavar="FILE", help="edge list (.csv), .graphml or .npz"
    )
    publish.add_argument(
        "--budget",
        type=float,
        metavar="EPS",
        help="refuse what would take the sum of ε over all publishing runs of the graph above this",
    )
    publish.set_defaults(run=run_publish)
    add_ledger(commands, _add_graph, say)
    add_team(commands, say)
    return parser


def _add_graph(parser: argparse.ArgumentParser, required: bool = False) -> None:
    parser.add_argument(
        "--graph",
        required=required,
        metavar="NAME|FILE",
        help="a graph of the catalogue, such as karate or cora, or a file",
    )
    parser.add_argument("--nodes", type=Path, metavar="FILE", help="node table (CSV, Parquet)")
    parser.add_argument("--id", metavar="COLUMN", help="column of the node table with the ids")
    parser.add_argument(
        "--private",
        action="append",
        metavar="COLUMN",
        help="column that must stay private; several allowed, the main one first",
    )
    parser.add_argument("--utility", metavar="COLUMN", help="column that recipients want")
    parser.add_argument(
        "--unknown",
        action="append",
        default=[],
        metavar="VALUE[,…]",
        help="marker of an unknown value, such as -1",
    )
    parser.add_argument("--ignore", action="append", default=[], metavar="COLUMN[,…]")
    parser.add_argument(
        "--ignore-weights", action="store_true", help="leave out the links' weights"
    )
    parser.add_argument(
        "--add-undeclared-nodes",
        action="store_true",
        help="links to ids that the file or node table lacks add these nodes",
    )
    parser.add_argument(
        "--hide-links",
        type=float,
        nargs="?",
        const=DEFAULT_SHARE,
        metavar="SHARE",
        help="hide this share of the links (0.1) as sensitive",
    )


# -- commands ---------------------------------------------------------------------------------


def run_methods(options: argparse.Namespace) -> int:
    """List the methods as text, JSON or Markdown."""
    from core.cli.listing import format_methods
    from core.registry import describe_methods

    print(format_methods(describe_methods(), options.form))
    return 0


def run_audit(options: argparse.Namespace) -> int:
    """Plan, run and export an audit."""
    from core.audit.export import write_audit
    from core.audit.states import State

    with open_service(say) as service:
        spec = build_spec(options, service, say)
        _check_folder(options.out)
        audit_id = service.find_same_audit(spec)
        if audit_id is None:
            audit_id = service.start_audit(spec, options.name)
        else:
            service.resume_audit(audit_id)
        _watch(service, audit_id)
        view = service.get_view(audit_id)
        if view.summary.state is not State.DONE:
            note = service.get_progress(audit_id).note
            return say(
                f"{view.summary.state}: {note}; run the same command again to resume",
                code=130 if view.summary.state is State.CANCELLED else 1,
            )
        refuted = 0
        if options.check_claims is not None:
            refuted = _check_claims(service, view, options.check_claims)
            view = service.get_view(audit_id)
        verdict, code = judge_audit(view, say)
        write_audit(view, options.out, verdict)
        if options.report:
            from core.report import ReportOptions, write_editions

            write_editions(view, options.out, ReportOptions(scale=options.risk_scale))
        failed = view.summary.cells_failed
        for text in describe_risk(view):
            say(text)
        say(f"{view.summary.cells_total} cells, {failed} failed; results in {options.out}")
        return 1 if failed or refuted else code


def run_check_claim(options: argparse.Namespace) -> int:
    """Try to refute a release's guarantee by experiment."""
    from core.audit.jobs.claims import play_claim
    from core.audit.spec import MethodChoice

    choice = MethodChoice.parse(options.defense, "defense")
    if options.out is not None:
        _check_folder(options.out.parent)
    check = play_claim(choice, options.trials, options.root_seed, _MeterProgress())
    if options.out is not None:
        text = json.dumps(check.describe(), indent=1, ensure_ascii=False)
        options.out.write_text(text + "\n", encoding="utf-8")
    return say(check.verdict, code=1 if check.is_refuted else 0)


def describe_risk(view: AuditView) -> list[str]:
    """Who is exposed, by how much more than the base rate, and which group most; plain text."""
    from core.findings.answers import answer_bound, answer_risk
    from core.findings.groups import answer_groups, load_groups
    from core.findings.private_columns import answer_private_columns

    if view.nodes.empty:
        return []
    texts = [answer_risk(view.nodes), answer_bound(view.nodes)]
    texts.append(answer_groups(view.nodes, load_groups(view)))
    texts += answer_private_columns(view)
    return [text.replace("**", "") for text in texts if text]


def run_publish(options: argparse.Namespace) -> int:
    """Draw and write a release with fresh noise."""
    from core.audit.access.people import LOCAL
    from core.audit.access.team import Team
    from core.audit.jobs.publish import enter_publishing, publish_release
    from core.audit.ledger import new_run_id
    from core.audit.publishing import PublishSpec
    from core.audit.spec import MethodChoice
    from core.audit.store.database import Store
    from core.data.writers import write_release
    from core.seeding import Seed

    choice = MethodChoice.parse(options.defense, "defense")
    graph = load_input(options, say).graph
    names = ["private", "more_private", "utility", "known", "hide_links", "budget"]
    names.append("publisher_knows")
    fields = {n: getattr(options, n, None) for n in names}
    fields = {name: value for name, value in fields.items() if value is not None}
    suffix = options.out.suffix.lower().lstrip(".")
    if suffix not in ("csv", "graphml", "npz"):
        raise InputError("output file", "must end in .csv, .graphml or .npz", str(options.out))
    _check_folder(options.out.parent)
    fields |= read_columns(options)
    spec = PublishSpec.check_spec({**fields, "graph_hash": graph.content_hash, "defense": choice})
    store = Store()
    try:
        check_publisher(Team(store))
        release = publish_release(graph, spec)
        run = new_run_id()
        provenance = enter_publishing(store, spec, release, run)
        Team(store).record(LOCAL, "publish release", run)
    finally:
        store.close()
    shown = (options.utility,) if options.utility else ()
    columns = [*release.graph.attributes, *release.graph.feature_names]
    paths = write_release(
        release,
        options.out.parent,
        options.out.stem,
        provenance,
        (suffix,),
        attributes=shown,
        columns=columns if spec.names_columns else None,
        pseudonyms=Seed.from_entropy() if choice.key == "pseudonyms" else None,
    )
    files = ", ".join(path.name for path in paths)
    say(f"{release.graph.num_edges} links, {release.guarantee.label}: {files}")
    for total in provenance["published_so_far"]["totals"]:
        runs = f"{total['runs']} publishing run" + ("s" if total["runs"] > 1 else "")
        say(f"the {total['unit']} budget of this graph so far: ε = {total['epsilon']:g}, {runs}")
    return 0


def _check_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            "output folder", "must be one that can be written", str(folder), error.strerror or ""
        ) from None


def _check_claims(service: AuditService, view: AuditView, trials: int) -> int:
    """Check what each private release promises; the number of refuted claims.

    trials  0: as many for each as can refute what it promises
    """
    from core.audit.jobs.claims import count_claims
    from core.findings.labels import is_twin
    from core.privacy.claim_check import choose_trials

    promising = [s.id for s in view.releases if s.guarantee.is_private and not is_twin(s.id)]
    promises = {summary.id: summary.guarantee for summary in view.releases}
    num_claims = count_claims(view.spec)
    ids = [
        service.claims.start(
            view.summary.id, release, trials or choose_trials(promises[release], num_claims)
        )
        for release in promising
    ]
    show = _make_meter()
    try:
        for number, (claim_id, release) in enumerate(zip(ids, promising, strict=True)):
            while not service.claims.wait(claim_id, 0.2):
                show(f"{number}/{len(ids)} claims", release)
    except KeyboardInterrupt:
        service.claims.cancel_all(view.summary.id)
        raise RunCancelled("cancelled; run the same command again to resume") from None
    runs = [run for run in service.claims.list(view.summary.id) if run.id in ids]
    for run in runs:
        say(f"{run.release}: {run.check.verdict if run.check else run.reason}")
    return sum(run.check is not None and run.check.is_refuted for run in runs)


# -- output -----------------------------------------------------------------------------------


def _watch(service: AuditService, audit_id: str) -> None:
    """Progress on stderr until the audit ends, here or in the process that runs it."""
    show = _make_meter()
    try:
        while True:
            is_over = service.wait(audit_id, 0.2)
            progress = service.get_progress(audit_id)
            running = progress.running[0] if progress.running else None
            doing = f"{running.label} {running.message}".strip() if running else progress.note
            show(f"{progress.cells_done}/{progress.cells_total} cells", doing)
            if is_over and not progress.is_active:
                return
    except KeyboardInterrupt:
        service.cancel_audit(audit_id)
        service.wait(audit_id, CANCEL_WAIT_S)
        raise RunCancelled("cancelled; run the same command again to resume") from None


def _make_meter() -> Callable[[str, str], None]:
    """One line that renews itself on a terminal; elsewhere a line per change of the count."""
    is_terminal = sys.stderr.isatty()
    last = ""

    def show(count: str, doing: str) -> None:
        nonlocal last
        if is_terminal:
            print(f"\r\x1b[2K{count} · {doing}"[:110], end="", file=sys.stderr, flush=True)
        elif count != last:
            say(f"{count} {doing}".rstrip())
        last = count

    return show


class _MeterProgress(Progress):
    def __init__(self) -> None:
        self._show = _make_meter()

    def update(self, done: float, total: float, message: str = "") -> None:
        self._show(f"{10 * int(10 * done / (total or 1))} %", message)


def say(text: str, code: int = 0) -> int:
    """One line on stderr; returns the exit code."""
    start = "\r\x1b[2K" if sys.stderr.isatty() else ""
    print(start + " ".join(text.split()), file=sys.stderr, flush=True)
    return code


def run() -> NoReturn:
    """The entry point of `python -m core` and `graph-audit`."""
    os.umask(0o077)  # what is written is about people
    signal.signal(signal.SIGTERM, signal.getsignal(signal.SIGINT))
    if not os.environ.get("AUDIT_DEBUG"):
        logging.disable()  # what a user should know is said in one line
    sys.exit(main())
