"""`search`: find a release that a policy lets leave."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from core.cli.arguments import add_field, add_graph
from core.cli.audit import NOTHING_MAY_LEAVE
from core.cli.audit_spec import add_spec, build_spec, read_fields
from core.cli.outputs import add_out, check_outputs
from core.cli.team import open_service
from core.cli.terminal import make_folder, make_meter, say
from core.errors import InputError, RunCancelled

if TYPE_CHECKING:
    from core.search.run import SearchProgress

RECORD = "search.json"


def add_search(search: argparse.ArgumentParser) -> None:
    """Options of `search`."""
    add_graph(search)
    add_spec(search, attacks=False)
    add_field(search, "policy", metavar="public|partner|internal|FILE")
    search.add_argument(
        "--useful",
        action="append",
        default=[],
        metavar="MEASURE=SHARE[,…]",
        help="what must stay useful, as a share of the original's: links, link_prediction, column, "
        "statistics; the least kept one decides among releases",
    )
    search.add_argument(
        "--within",
        type=float,
        metavar="SECONDS",
        help="stop after this time; the same command goes on from there",
    )
    add_out(search, "DIR", "where results go")
    search.set_defaults(
        run=run_search, attack=["quick"], no_data_independent=True, without_columns=False
    )


def run_search(options: argparse.Namespace) -> int:
    """Search, resuming an earlier search of the same request, and write search.json."""
    from core.records import write_record
    from core.search import run
    from core.search.outcome import describe_headline, describe_outcome, list_facts

    useful = read_useful(options.useful)
    if options.policy is None and options.spec is None:
        raise InputError("search", "needs a policy", remedy="use --policy public, partner, …")
    if options.within is not None and not options.within > 0:
        raise InputError("--within", "must be more than 0 seconds", options.within)
    record = options.out / RECORD
    check_outputs(options, {record: ()})
    meter = make_meter()

    def watch(progress: SearchProgress) -> bool:
        seen = service.get_progress(str(progress.current))
        parts = f"{seen.cells_done} of {seen.cells_total} parts of the next"
        meter(f"{progress.doing};", parts)
        return True

    with open_service(computes=True) as service:
        spec = build_spec(options, service, read_fields(options))
        graph = service.load_graph(spec.graph_hash)
        request = run.SearchRequest.check(spec, useful, graph)
        make_folder(options.out)
        try:
            progress = run.run_search(service, request, options.within, watch)
        except KeyboardInterrupt:
            run.stop_search(service, request)
            raise RunCancelled("cancelled; run the same command again to resume") from None
    say(describe_headline(progress))
    for text in list_facts(progress):
        say(text)
    write_record(record, describe_outcome(progress))
    audits = len(progress.audits)
    say(f"{audits} audits, {progress.cpu_seconds:.0f} CPU s; results in {record}")
    return 0 if progress.search.state == "confirmed" else NOTHING_MAY_LEAVE


def read_useful(texts: list[str]) -> dict[str, float]:
    """Measure → share of `MEASURE=SHARE`; raises InputError."""
    found: dict[str, float] = {}
    for item in ",".join(texts).split(","):
        if not item.strip():
            continue
        name, _, text = item.partition("=")
        try:
            found[name.strip()] = float(text)
        except ValueError:
            rule = "must be written MEASURE=SHARE"
            raise InputError("--useful", rule, item, "such as links=0.6") from None
    return found
