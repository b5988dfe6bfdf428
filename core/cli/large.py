"""`audit-large`: an audit of links that no process loads whole."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from core.cli.arguments import DEFAULT_SHARE
from core.cli.outputs import add_out, check_outputs
from core.cli.terminal import make_folder, say
from core.errors import InputError
from core.words import format_percent

if TYPE_CHECKING:
    from core.audit.asked.method_choice import MethodChoice
    from core.partitioned.links import PartitionedLinks
    from core.release import Guarantee
    from core.results import Estimate
    from core.seeding import Seed

PARTITION_LINKS = 1_000_000
"""Links of a partition, which is what a worker holds of them."""

DEFENSES = ("random_deletion", "edge_rand")


def add_large(large: argparse.ArgumentParser) -> None:
    """Options of `audit-large`."""
    large.add_argument(
        "links",
        type=Path,
        metavar="LINKS",
        help="Parquet or text file, or a folder of them, with two node numbers in a row",
    )
    large.add_argument("--nodes", type=Path, metavar="FILE", help="node table (CSV, Parquet)")
    large.add_argument("--id", default="id", metavar="COLUMN", help="its node numbers (id)")
    large.add_argument(
        "--private", dest="private_column", metavar="COLUMN", help="its private column"
    )
    _add_share(large, "--known", 0.1, "share of the private values that the attacker knows")
    _add_share(large, "--hide-links", DEFAULT_SHARE, "share of the links to withhold")
    large.add_argument(
        "--defense",
        action="append",
        default=[],
        metavar="KEY[:name=value,…]",
        help=f"{' or '.join(DEFENSES)}; may be repeated",
    )
    large.add_argument(
        "--pairs",
        type=int,
        default=100_000,
        metavar="N",
        help="withheld links that attacks are judged on, beside as many non-links (100000)",
    )
    large.add_argument("--root-seed", type=int, default=0, metavar="N")
    add_out(large, "DIR", "where results go")
    large.set_defaults(run=run_large)


def _add_share(parser: argparse.ArgumentParser, name: str, usual: float, about: str) -> None:
    help_text = f"{about} ({usual:g})"
    parser.add_argument(name, type=float, default=usual, metavar="SHARE", help=help_text)


def run_large(options: argparse.Namespace) -> int:
    """Store the links in partitions, attack the original and each release, write audit.json."""
    from core.audit.asked.method_choice import MethodChoice
    from core.records import write_record

    for name, share in (("--known", options.known), ("--hide-links", options.hide_links)):
        if not 0 < share < 1:
            raise InputError(name, "must be between 0 and 1", share)
    if options.pairs < 1:
        raise InputError("--pairs", "must be at least 1", options.pairs)
    if bool(options.nodes) != bool(options.private_column):
        raise InputError("--private", "needs --nodes, and --nodes needs it")
    choices = [MethodChoice.parse(text, "defense") for text in options.defense]
    for choice in choices:
        if choice.key not in DEFENSES:
            raise InputError("--defense", f"must be {' or '.join(DEFENSES)}", choice.key)
    path = options.out / "audit.json"
    check_outputs(options, {path: ()})
    make_folder(options.out)
    scratch = TemporaryDirectory(prefix="partitions-", dir=options.out)
    with scratch as folder, _open_executor() as executor:
        found = _audit(executor, Path(folder).absolute(), choices, options)
    write_record(path, found)
    return say(f"results in {path}")


@contextmanager
def _open_executor() -> Iterator[Executor]:
    from core.audit.jobs.engine import Engine
    from core.home import find_home

    engine = Engine(find_home())
    try:
        yield engine.connect().get_executor(pure=False)
    finally:
        engine.close()


def _audit(
    executor: Executor, folder: Path, choices: list[MethodChoice], options: argparse.Namespace
) -> dict[str, Any]:
    """The content of audit.json; prints each figure as it comes."""
    from core.data.splits import draw_stratified
    from core.partitioned import audit, measures, reading
    from core.partitioned.links import choose_bounds, write_links
    from core.release import ORIGINAL, Guarantee
    from core.seeding import Seed
    from core.threats import AttributeThreat

    seed = Seed(options.root_seed)
    say("reading the links")
    sources = reading.list_sources(options.links.absolute())
    num_nodes, num_rows = reading.count_sources(executor, sources)
    name = options.private_column
    column = name and reading.read_attribute(options.nodes, options.id, name, num_nodes)
    say(f"storing {num_rows:,} rows in partitions")
    bounds = choose_bounds(executor, sources, num_nodes, max(num_rows // PARTITION_LINKS, 1))
    links = write_links(executor, folder / "links", sources, num_nodes, bounds)
    unique = audit.measure_uniqueness(executor, links)
    say(
        f"{unique.num_nodes:,} nodes with links, {links.num_links:,} links; "
        f"{format_percent(unique.by_degree)} are unique by their number of links, "
        f"{format_percent(unique.by_neighbor_degrees)} also by those of their neighbours"
    )
    draw = seed.child("withheld")
    observed, threat = audit.withhold_links(
        executor, links, folder / "observed", options.hide_links, options.pairs, draw
    )
    values = None
    if column:
        known = draw_stratified(column, options.known, seed.rng("known"))
        values = AttributeThreat(column, known, column.known & ~known)
    rows: list[dict[str, Any]] = []
    for choice in [None, *choices]:
        name = choice.id if choice else ORIGINAL
        say(f"attacking {name}")
        release, guarantee = observed, Guarantee()
        if choice:
            target = folder / f"release-{len(rows)}"
            release, guarantee = _defend(executor, observed, target, choice, seed.child(name))
        aucs = audit.attack_links(executor, release, threat)
        _tell(f"{name}: {release.num_links:,} links; withheld links", aucs)
        if values:
            inferred = {"label_propagation": audit.attack_attribute(executor, release, values)}
            _tell(f"{name}: private values", inferred)
            aucs |= inferred
        rows.append(
            {
                "release": name,
                "guarantee": guarantee.label,
                "num_links": release.num_links,
                "clustering": asdict(
                    measures.estimate_clustering(executor, release, seed, measures.WEDGES)
                ),
                "auc": {key: asdict(estimate) for key, estimate in aucs.items()},
            }
        )
    return {
        "links": str(options.links),
        "num_links": links.num_links,
        "withheld": options.hide_links,
        "known": options.known if values else None,
        "root_seed": options.root_seed,
        "unique": asdict(unique),
        "releases": rows,
    }


def _tell(what: str, aucs: dict[str, Estimate]) -> None:
    """Print the attack that is furthest from chance; below one half its order is inverted."""
    best = max(aucs, key=lambda key: abs((aucs[key].value or 0.5) - 0.5))
    say(f"{what}: strongest attack {best}, AUC {aucs[best]:.3f}")


def _defend(
    executor: Executor, links: PartitionedLinks, folder: Path, choice: MethodChoice, seed: Seed
) -> tuple[PartitionedLinks, Guarantee]:
    from core.context import Context
    from core.partitioned import releases
    from core.release import Guarantee

    if choice.key == "random_deletion":
        share = choice.config["strength"]
        return releases.delete_at_random(executor, links, folder, share, seed), Guarantee()
    context = Context.build(seed)
    return releases.publish_edge_rand(executor, links, folder, choice.config["epsilon"], context)
