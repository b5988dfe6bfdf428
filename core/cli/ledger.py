"""`ledger`: what the publishing runs of a graph's lineage have spent together."""

from __future__ import annotations

import argparse
import json
from typing import Any

from core.cli.arguments import add_graph, load_input
from core.cli.team import open_person
from core.cli.terminal import say
from core.errors import AccessError, InputError


def add_ledger(commands: Any) -> None:
    """The command."""
    parser = commands.add_parser(
        "ledger", help="what the publishing runs of a graph have spent together"
    )
    add_graph(parser, required=True)
    parser.add_argument("--json", action="store_true", help="entries and totals as JSON")
    parser.add_argument(
        "--assign",
        metavar="LINEAGE",
        help="let the graph's runs count with those of this name and no others (approvers)",
    )
    parser.add_argument("--reason", metavar="TEXT", help="why, with --assign")
    parser.set_defaults(run=run_ledger)


def run_ledger(options: argparse.Namespace) -> int:
    """Print the entries and the totals of the graph's lineage."""
    from core.audit.access.team import Team
    from core.audit.ledger import assign_lineage, describe_ledger, find_relative, list_entries
    from core.audit.store.database import Store
    from core.findings.ledger import describe_relative, describe_total, list_ledger_rows
    from core.privacy.ledger import compute_totals

    if (options.assign is None) != (options.reason is None):
        raise InputError("--assign", "must come with --reason")
    graph = load_input(options, lambda text: None if options.json else say(text)).graph
    store = Store()
    try:
        team = Team(store)
        person = open_person(team)  # where people share a database, one must be one of them
        if options.assign is not None:
            if not person.has("approver"):
                raise AccessError("--assign is for people with the role approver only")
            assign_lineage(store, graph, options.assign, person.subject, options.reason)
            detail = f"{options.assign}: {options.reason}"
            team.record(person, "assign lineage", graph.identity_hash, detail)
        relative, entries = find_relative(store, graph), list_entries(store, graph)
    finally:
        store.close()
    if options.json:
        print(json.dumps(describe_ledger(entries), indent=1, ensure_ascii=False))
        return 0
    if relative is not None:
        say(describe_relative(relative))
    for row in list_ledger_rows(entries):
        print("  ".join(row))
    for total in compute_totals(entries):
        print(describe_total(total))
    if not entries:
        print("nothing of this graph was published")
    return 0
