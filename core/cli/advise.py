"""`advise` and `check-claim`: single computations that need no audit."""

from __future__ import annotations

import argparse
import sys

from core.cli.arguments import add_graph, add_options, load_input, read_options, title_options
from core.cli.outputs import add_out, prepare_output
from core.cli.terminal import MeterProgress, say


def add_advise(advise: argparse.ArgumentParser) -> None:
    """Options of `advise`."""
    from core.audit.asked.spec import AuditSpec
    from core.audit.asked.spec_parts import ThreatSpec

    add_graph(advise, required=True)
    advise.add_argument("--node", required=True, metavar="ID", help="whose risk is to fall")
    advise.add_argument(
        "--attack",
        default="label_propagation",
        metavar="KEY[:name=value,…]",
        help="the attribute attack to weaken (label_propagation)",
    )
    add_options(advise, ThreatSpec, AuditSpec, only=("known", "root_seed"))
    advise.add_argument("--links", type=int, default=3, metavar="N", help="links at most (3)")
    advise.add_argument(
        "--repeats", dest="num_repeats", type=int, default=5, metavar="N", help="repeats (5)"
    )
    add_out(advise, "FILE", "the advice as JSON", required=False)
    advise.set_defaults(run=run_advise)


def run_advise(options: argparse.Namespace) -> int:
    """Print the advice, and the links one per line."""
    from core.audit.asked.method_choice import MethodChoice
    from core.audit.asked.spec import AuditSpec
    from core.audit.asked.spec_parts import ThreatSpec
    from core.audit.computing.advice import AdviceRequest, compute_advice
    from core.context import Context
    from core.errors import InputError, validate
    from core.findings.advice import describe_advice, describe_advice_cost
    from core.records import write_record
    from core.seeding import Seed

    if not options.private:
        raise InputError("advice", "needs a private column", remedy="use --private COLUMN")
    attack = MethodChoice.parse(options.attack, "attribute_attack")
    prepare_output(options)
    fields = {"node": options.node, "attack": attack}
    fields |= {"max_links": options.links, "num_repeats": options.num_repeats}
    names = {"max_links": "--links", "num_repeats": "--repeats"}
    request = validate(AdviceRequest, fields, names.__getitem__)
    graph = load_input(options).graph
    spec = AuditSpec.check_spec(
        {
            "graph_name": graph.name,
            "graph_hash": graph.content_hash,
            "private": options.private,
            "utility": options.utility,
            "attacks": [attack.model_dump()],
            **read_options(options, ThreatSpec, AuditSpec),
        },
        title_options(options),
    )
    context = Context.build(Seed(spec.root_seed), uses_gpu=True, progress=MeterProgress())
    advice = compute_advice(spec, graph, request, context)
    lines = [describe_advice(advice)]
    lines += [f"{link.source}\t{link.target}" for link in advice.links]
    lines += [describe_advice_cost(advice)] if advice.links else []
    sys.stdout.write("\n".join(lines) + "\n")
    if options.out is not None:
        write_record(options.out, advice.model_dump(mode="json"))
    return 0


def add_check_claim(check: argparse.ArgumentParser) -> None:
    """Options of `check-claim`."""
    check.add_argument("--defense", required=True, metavar="KEY[:name=value,…]")
    check.add_argument(
        "--trials", type=int, metavar="N", help="runs of the defense (by default from ε)"
    )
    check.add_argument("--root-seed", type=int, default=0, metavar="N")
    add_out(check, "FILE", "where the outcome goes, as JSON", required=False)
    check.set_defaults(run=run_check_claim)


def run_check_claim(options: argparse.Namespace) -> int:
    """Try to refute a release's guarantee by experiment."""
    from core.audit.asked.method_choice import MethodChoice
    from core.audit.jobs.claims import run_claim_check
    from core.records import write_record

    choice = MethodChoice.parse(options.defense, "defense")
    prepare_output(options)
    check = run_claim_check(choice, options.trials, options.root_seed, MeterProgress())
    if options.out is not None:
        write_record(options.out, check.describe())
    return say(check.verdict, code=1 if check.is_refuted else 0)
