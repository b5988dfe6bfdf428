"""`benchmark`: the same attacks and defenses on several graphs, and a comparison page."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.cli.arguments import find_graph, split_values
from core.cli.audit import compute_audit, explain_stop
from core.cli.audit_spec import load_fields
from core.cli.outputs import add_out, check_outputs, stage_outputs
from core.cli.team import open_service
from core.cli.terminal import make_folder, say
from core.errors import InputError

if TYPE_CHECKING:
    from core.audit.results.benchmark import BenchmarkSpec
    from core.graph import Graph


def add_benchmark(parser: argparse.ArgumentParser) -> None:
    """Options of `benchmark`."""
    parser.add_argument(
        "spec",
        metavar="audit|pgb|FILE",
        help="a benchmark: every attack on every defense (audit), private synthesis by the queries "
        "of PGB (pgb), or a JSON file of one",
    )
    parser.add_argument(
        "--graphs",
        action="append",
        default=[],
        metavar="NAME|FILE[,…]",
        help="graphs of the catalogue, or files of links; all of the catalogue at hand by default",
    )
    parser.add_argument(
        "--methods",
        action="append",
        default=[],
        metavar="KEY[:name=value]",
        help="an attack or defense instead of the benchmark's, those of the other kind stay; may "
        "be repeated",
    )
    parser.add_argument(
        "--epsilon",
        action="append",
        default=[],
        metavar="EPS[,…]",
        help="privacy budgets of each defense that has one",
    )
    parser.add_argument("--repeats", type=int, metavar="N", help="repeats of each audit")
    parser.add_argument(
        "--quick",
        action="store_true",
        help="one repeat, the cheapest settings, at most 200 nodes of each graph, and two graphs "
        "unless --graphs names some",
    )
    add_out(parser, "DIR", "where results and the page go")
    parser.set_defaults(run=run_benchmark)


def run_benchmark(options: argparse.Namespace) -> int:
    """Run or resume one audit per graph and write the results."""
    from core.audit.results.benchmark import gather_results, make_audit, shrink
    from core.audit.store.states import State
    from core.data.catalogue import list_datasets
    from core.findings.benchmark import summarize_benchmark
    from core.report.benchmark_page import FILES, RECORD, write_benchmark

    benchmark = build_benchmark(options)
    files = [options.out / name for name in FILES]
    check_outputs(options, {options.out / RECORD: files})
    make_folder(options.out)
    specs, views = {}, []
    with open_service(computes=True) as service:
        at_hand = [info.name for info in list_datasets() if info.is_at_hand]
        for text in benchmark.graphs or at_hand:  # all before the first audit
            graph = shrink(benchmark, load_graph(text))
            say(f"{graph.name}: {graph.num_nodes:,} nodes, {graph.num_edges:,} links")
            specs[f"Benchmark: {graph.name}"] = make_audit(benchmark, graph)
            service.save_graph(graph)
        for title, spec in specs.items():
            view = service.get_view(compute_audit(service, spec, title))
            if view.summary.state is not State.DONE:
                return explain_stop(service, view)
            views.append(view)
        table, summary = gather_results(views), summarize_benchmark(views)
    with stage_outputs(options.out) as folder:
        write_benchmark(folder, benchmark.model_dump(mode="json"), table, summary)
    failed = sum(view.summary.cells_failed for view in views)
    total = sum(view.summary.cells_total for view in views)
    say(f"{total} parts on {len(views)} graphs, {failed} failed; results in {options.out}")
    return 1 if failed else 0


def build_benchmark(options: argparse.Namespace) -> BenchmarkSpec:
    """Benchmark specified by the options; raises InputError."""
    from core.audit.results.benchmark import BUILT_IN, BenchmarkSpec, make_quick
    from core.methods import ATTACK_KINDS
    from core.registry import parse_method

    if options.spec in BUILT_IN:
        fields = BUILT_IN[options.spec].model_dump()
    else:
        fields = load_fields(Path(options.spec))
    named: dict[str, list[str]] = {}
    for text in options.methods:
        kind = parse_method(text, *ATTACK_KINDS, "defense").kind
        named.setdefault("defenses" if kind == "defense" else "attacks", []).append(text)
    fields |= named
    given: dict[str, Any] = {
        "graphs": split_values(options.graphs),
        "epsilon": [_read_number(text) for text in split_values(options.epsilon)],
        "num_repeats": options.repeats,
    }
    fields |= {name: value for name, value in given.items() if value not in (None, [])}
    spec = BenchmarkSpec.check(fields)
    if not options.quick:
        return spec
    quick = make_quick(spec)
    return quick.model_copy(update={"num_repeats": options.repeats or quick.num_repeats})


def _read_number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError("--epsilon", "must be numbers joined by commas", text) from None


def load_graph(text: str) -> Graph:
    """A graph of the catalogue, or of a file, then named after the file."""
    from dataclasses import replace

    from core.data.catalogue import load_dataset
    from core.data.sandbox import load_in_sandbox

    path = find_graph(text)
    if path is None:
        return load_dataset(text).graph
    return replace(load_in_sandbox(path).graph, name=path.stem)
