"""`publish`: one release with fresh noise, entered in the ledger before its file is written."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from core.cli.arguments import add_graph, load_input
from core.cli.audit_spec import add_leave_out, read_leave_out
from core.cli.options import add_options, read_options
from core.cli.team import check_publisher
from core.cli.terminal import make_folder, say
from core.errors import InputError

FIELDS = ("known", "publish_columns", "generalize")
"""Options that `publish` has like `audit`."""


def add_publish(commands: Any) -> None:
    """The command's options."""
    from core.audit.spec import DisclosureSpec, PublishSpec, ThreatSpec

    publish = commands.add_parser("publish", help="make one release to be handed over")
    add_graph(publish, required=True)
    publish.add_argument("--defense", required=True, metavar="KEY[:name=value,…]")
    add_options(publish, DisclosureSpec, ThreatSpec, only=FIELDS)
    add_options(publish, PublishSpec)
    add_leave_out(publish)
    publish.add_argument(
        "--out",
        type=Path,
        required=True,
        metavar="FILE",
        help="edge list (.csv, .parquet), .graphml, .gexf or .npz",
    )
    publish.set_defaults(run=run_publish)


def run_publish(options: argparse.Namespace) -> int:
    """Draw and write a release with fresh noise."""
    from core.audit.access.accounts import LOCAL
    from core.audit.access.team import Team
    from core.audit.jobs.publish import enter_publishing, publish_release
    from core.audit.ledger import find_relative, new_run_id
    from core.audit.spec import DisclosureSpec, MethodChoice, PublishSpec, ThreatSpec
    from core.audit.store.database import Store
    from core.data.writers import write_release
    from core.findings.ledger import describe_relative, describe_total
    from core.privacy.ledger import Total
    from core.seeding import Seed

    choice = MethodChoice.parse(options.defense, "defense")
    graph = load_input(options).graph
    names = ("private", "more_private", "utility", "hide_links")
    fields: dict[str, Any] = {n: getattr(options, n, None) for n in names}
    fields = {name: value for name, value in fields.items() if value is not None}
    fields |= read_options(options, ThreatSpec, DisclosureSpec, PublishSpec)
    suffix = options.out.suffix.lower().lstrip(".")
    if suffix not in ("csv", "parquet", "graphml", "gexf", "npz"):
        raise InputError(
            "output file", "must end in .csv, .parquet, .graphml, .gexf or .npz", str(options.out)
        )
    make_folder(options.out.parent)
    fields |= read_leave_out(options)
    spec = PublishSpec.check_fields({**fields, "graph_hash": graph.content_hash, "defense": choice})
    store = Store()
    try:
        check_publisher(Team(store))
        relative = find_relative(store, graph)
        if relative is not None:
            say(describe_relative(relative))
        release = publish_release(graph, spec)
        run = new_run_id()
        provenance = enter_publishing(store, graph, spec, release, run)
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
        columns=columns if spec.disclosure.names_columns else None,
        pseudonyms=Seed.from_entropy() if choice.key == "pseudonyms" else None,
    )
    files = ", ".join(path.name for path in paths)
    say(f"{release.graph.num_edges} links, {release.guarantee.label}: {files}")
    for total in provenance["published_so_far"]["totals"]:
        say(f"published so far: {describe_total(Total(**total))}")
    return 0
