"""`ledger`: what the publishing runs of a graph have spent together."""

from __future__ import annotations

import argparse
import json
from typing import Any

from core.cli.arguments import add_graph, load_input
from core.cli.team import open_person
from core.cli.terminal import say


def add_ledger(commands: Any) -> None:
    """The command."""
    parser = commands.add_parser(
        "ledger", help="what the publishing runs of a graph have spent together"
    )
    add_graph(parser, required=True)
    parser.add_argument("--json", action="store_true", help="entries and totals as JSON")
    parser.set_defaults(run=run_ledger)


def run_ledger(options: argparse.Namespace) -> int:
    """Print the entries and the totals of the graph's ledger."""
    from core.audit.access.team import Team
    from core.audit.ledger import describe_ledger, list_entries
    from core.audit.store.database import Store
    from core.findings.ledger import describe_total, list_ledger_rows
    from core.privacy.ledger import compute_totals

    graph = load_input(options, lambda text: None if options.json else say(text)).graph
    store = Store()
    try:
        open_person(Team(store))  # where people share a database, one must be one of them
        entries = list_entries(store, graph.content_hash)
    finally:
        store.close()
    if options.json:
        print(json.dumps(describe_ledger(entries), indent=1, ensure_ascii=False))
        return 0
    for row in list_ledger_rows(entries):
        print("  ".join(row))
    for total in compute_totals(entries):
        print(describe_total(total))
    if not entries:
        print("nothing of this graph was published")
    return 0
