"""`publish`: one release with fresh noise, a graph or statistics, recorded before it is written;
`ledger`: budget spent by all releases of a graph."""

from __future__ import annotations

import argparse
import json
import secrets
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.cli.arguments import (
    add_graph,
    add_options,
    list_columns_of,
    load_input,
    read_options,
    read_secrets,
)
from core.cli.audit_spec import add_leave_out, identify_command, read_leave_out
from core.cli.outputs import add_out, check_outputs, stage_outputs
from core.cli.team import open_person
from core.cli.terminal import make_folder, say
from core.errors import AccessError, InputError, UnsupportedError

if TYPE_CHECKING:
    from core.audit.asked.publish_spec import PublishSpec
    from core.audit.store.database import Store
    from core.data.keyed_pseudonyms import KeyedPseudonyms
    from core.graph import Graph
    from core.release import Release

FIELDS = ("known", "publish_columns", "generalize")
"""Options shared with `audit`."""

STATISTICS_FIELDS = ("epsilon", "max_degree", "mixing_column")
"""Options of statistics only."""

GRAPH_FIELDS = (*FIELDS, "hide_links", "publisher_knows", "leave_out", "pseudonyms", "domain")
"""Options of graphs only."""


def add_publish(publish: argparse.ArgumentParser) -> None:
    """Options of `publish`."""
    from core.audit.asked.publish_spec import PublishSpec
    from core.audit.asked.spec_parts import DisclosureSpec, ThreatSpec
    from core.audit.results.statistics import StatisticsSpec

    add_graph(publish, required=True)
    publish.add_argument("--defense", metavar="KEY[:name=value,…]")
    add_options(publish, DisclosureSpec, ThreatSpec, only=FIELDS)
    add_options(publish, PublishSpec, StatisticsSpec)
    add_leave_out(publish)
    publish.add_argument(
        "--pseudonyms",
        nargs="?",
        const=True,
        metavar="keyed:FILE",
        help="replace the ids by numbers in random order; who is who is not kept. With the secret "
        "of a file, which is made if it is not there, a person has the same pseudonym in all "
        "releases for one recipient",
    )
    publish.add_argument(
        "--no-pseudonyms",
        dest="pseudonyms",
        action="store_false",
        default=None,
        help="let the ids leave; one of both has to be said where an audit of the graph looks for "
        "people behind pseudonyms",
    )
    publish.add_argument(
        "--domain", metavar="NAME", help="recipient whose pseudonyms keyed:FILE makes"
    )
    written = "edge list (.csv, .parquet), .graphml, .gexf, .npz or .pt (PyG); for statistics .csv"
    add_out(publish, "FILE", written)
    publish.set_defaults(run=run_publish)


def run_publish(options: argparse.Namespace) -> int:
    """Draw and write a release with fresh noise, or statistics."""
    if (options.defense is None) == (options.statistics is None):
        raise InputError("publish", "needs either --defense or --statistics")
    return _publish_graph(options) if options.defense else _publish_statistics(options)


def _publish_graph(options: argparse.Namespace) -> int:
    from core.audit.asked.method_choice import MethodChoice
    from core.audit.asked.publish_spec import PublishSpec
    from core.audit.asked.spec_parts import DisclosureSpec, ThreatSpec, fill_published
    from core.data.writers import list_release_files, locate_provenance
    from core.findings.leaving import describe_columns, list_released

    _refuse(options, "--statistics", *STATISTICS_FIELDS)
    choice = identify_command(MethodChoice.parse(options.defense, "defense"))
    suffix, parent, stem = check_suffix(options.out), options.out.parent, options.out.stem
    written = list_release_files(parent, stem, (suffix,))
    check_outputs(options, {locate_provenance(parent, stem): written}, are_charged=True)
    graph = load_input(options).graph
    fields = read_secrets(options) | read_options(
        options, ThreatSpec, DisclosureSpec, PublishSpec, columns=list_columns_of(graph)
    )
    make_folder(parent)
    defense = choice.make_defense()
    fields = fill_published(fields | read_leave_out(options), defense.keeps_columns)
    spec = PublishSpec.check_fields({**fields, "graph_hash": graph.content_hash, "defense": choice})
    leaving = list_released(spec, graph, defense)
    told = describe_columns(leaving, spec.disclosure.generalize)
    pseudonyms = choose_pseudonyms(options.pseudonyms, options.domain)
    release, provenance, paths = write_publishing(graph, spec, options.out, pseudonyms, told)
    files = ", ".join(path.name for path in paths)
    say(f"{release.graph.num_edges} links, {release.guarantee.label}: {files}")
    _show_totals(provenance)
    return 0


def choose_pseudonyms(
    given: bool | str | None, domain: str | None = None
) -> bool | KeyedPseudonyms | None:
    """The pseudonyms that are asked for; a secret that is not there is made, and it is said so.

    given   whether ids are replaced, or `keyed:FILE`
    domain  with a file: the recipient
    """
    from core.data.keyed_pseudonyms import KeyedPseudonyms, check_domain, find_secret, make_secret

    if not isinstance(given, str):
        if domain is not None:
            remedy = "add --pseudonyms keyed:FILE, or leave it out"
            raise InputError("--domain", "is for keyed pseudonyms only", domain, remedy)
        return given
    kind, _, name = given.partition(":")
    if kind != "keyed" or not name:
        remedy = "such as --pseudonyms keyed:clinic.secret --domain clinic"
        raise InputError("--pseudonyms", "must have no value, or be keyed:FILE", given, remedy)
    path = Path(name).expanduser()
    recipient, secret = check_domain(domain), find_secret(path)
    if secret is None:
        secret = make_secret(path)
        say(
            f"A new secret of pseudonyms is in {path}. Whoever has it finds people behind their "
            "pseudonyms, and without it the next release has other ones: keep it, and apart from "
            "releases and backups."
        )
    return KeyedPseudonyms(secret, recipient)


def check_suffix(path: Path) -> str:
    """Suffix of a release's file without the dot; raises InputError for an unknown one."""
    suffix = path.suffix.lower().lstrip(".")
    if suffix not in ("csv", "parquet", "graphml", "gexf", "npz", "pt"):
        rule = "must end in .csv, .parquet, .graphml, .gexf, .npz or .pt"
        raise InputError("output file", rule, str(path))
    return suffix


def write_publishing(
    graph: Graph,
    spec: PublishSpec,
    path: Path,
    pseudonyms: bool | KeyedPseudonyms | None = None,
    told: str = "",
) -> tuple[Release, dict[str, Any], list[Path]]:
    """Draw a release with fresh noise, enter it in the ledger and write it; returns it with its
    provenance and files.

    pseudonyms  whether ids are replaced, or by which; None, no, unless an audit counts them as
                left out
    told        said before the ledger is charged

    Raises InputError then, and for what cannot be written, before the ledger is charged.
    """
    from core.audit.computing.prepared import list_written
    from core.audit.jobs.publish import check_ids, enter_publishing, publish_release
    from core.audit.store.accounts import LOCAL
    from core.audit.store.database import Store
    from core.audit.store.team import Team
    from core.data.keyed_pseudonyms import KeyedPseudonyms
    from core.data.link_release import NONE as NO_LINK_COLUMN
    from core.data.writers import check_ids_in
    from core.partitioned.writing import write_release
    from core.seeding import Seed

    defense = spec.defense.make_defense()
    keyed = pseudonyms if isinstance(pseudonyms, KeyedPseudonyms) else None
    if keyed is not None and not defense.keeps_nodes:
        remedy = "write --pseudonyms without a file"
        raise InputError("--pseudonyms keyed", "needs a defense that keeps the nodes", None, remedy)
    asked = [name for name in spec.disclosure.publish_columns or () if name != NO_LINK_COLUMN]
    if asked and not defense.keeps_columns:
        rule = f"cannot be published by the defense {defense.info.key}, which keeps no column"
        remedy = "leave out --publish-columns, or choose another one"
        raise InputError("columns", rule, ", ".join(asked), remedy)
    suffix, is_renamed = check_suffix(path), bool(pseudonyms) or defense.renames_nodes
    _check_partitions(graph, suffix, is_keyed=keyed is not None)
    with stage_outputs(path.parent) as folder:
        with closing(Store()) as store:
            _check_run(store, graph)
            if not is_renamed and pseudonyms is None:
                check_ids(store, spec.graph_hash)
            release = publish_release(graph, spec)
            if not is_renamed:
                check_ids_in(suffix, release.graph)
            if told:
                say(told)
            run = secrets.token_hex(8)
            provenance = enter_publishing(store, graph, spec, release, run)
            domain = "" if keyed is None else f"domain: {keyed.domain}"
            Team(store).record(LOCAL, "publish release", run, domain)
        paths = write_release(
            release,
            folder,
            path.stem,
            provenance,
            (suffix,),
            columns=list_written(spec, release.graph, defense),
            pseudonyms=keyed or (Seed.from_entropy() if is_renamed else None),
        )
    return release, provenance, [path.parent / made.name for made in paths]


def _check_partitions(graph: Graph, suffix: str, *, is_keyed: bool) -> None:
    """Raise UnsupportedError for what links in partitions cannot be written as."""
    from core.partitioned.graph import PartitionedGraph
    from core.partitioned.links import ONE_PROCESS
    from core.partitioned.writing import FORMATS

    if isinstance(graph, PartitionedGraph):
        if suffix not in FORMATS:
            rule = "is for graphs in one process; links in partitions are .csv or .parquet"
            raise UnsupportedError(f"output file .{suffix}", rule)
        if is_keyed:
            raise UnsupportedError("keyed pseudonyms", ONE_PROCESS)


def _publish_statistics(options: argparse.Namespace) -> int:
    from core.audit.results.statistics import (
        StatisticsSpec,
        enter_statistics,
        publish_statistics,
        write_statistics,
    )
    from core.audit.store.accounts import LOCAL
    from core.audit.store.database import Store
    from core.audit.store.team import Team
    from core.privacy.ledger import parse_budget
    from core.words import count_noun

    _refuse(options, "--defense", *GRAPH_FIELDS)
    spec = StatisticsSpec.check_fields(read_options(options, StatisticsSpec))
    if options.out.suffix.lower() != ".csv":
        raise InputError("output file", "must end in .csv for statistics", str(options.out))
    outputs = {options.out.with_suffix(".json"): [options.out]}
    check_outputs(options, outputs, are_charged=True)
    graph = load_input(options).graph
    make_folder(options.out.parent)
    budget = None if options.budget is None else parse_budget(options.budget)
    private = [name for name in (options.private, *options.more_private) if name]
    with stage_outputs(options.out.parent) as folder:
        with closing(Store()) as store:
            _check_run(store, graph)
            rows, guarantee = publish_statistics(graph, spec, private)
            run, given = secrets.token_hex(8), (budget, options.lineage)
            provenance = enter_statistics(store, graph, spec, guarantee, run, *given)
            Team(store).record(LOCAL, "publish statistics", run, ", ".join(spec.statistics))
        path = folder / options.out.name
        paths = write_statistics(rows, path, graph.num_nodes, provenance)
    files = ", ".join(path.name for path in paths)
    say(f"{count_noun(len(rows), 'row')}, {guarantee.label}: {files}. {guarantee.note}")
    _show_totals(provenance)
    return 0


def _check_run(store: Store, graph: Graph) -> None:
    """Raise AccessError without permission to publish; report related graphs in the ledger."""
    from core.audit.store.ledger import find_relative
    from core.audit.store.team import Team
    from core.findings.ledger import describe_relative

    if not open_person(Team(store)).is_local:
        text = "an approver signs what leaves; prepare it on the Report page"
        raise AccessError(f"publish is for the one user of a home: {text}")
    relative = find_relative(store, graph)
    if relative is not None:
        say(describe_relative(relative))


def _refuse(options: argparse.Namespace, instead: str, *fields: str) -> None:
    """Raise InputError for an option that does not apply to what is published."""
    for name in fields:
        if getattr(options, name, None) not in (None, []):
            flag = f"--{name.replace('_', '-')}"
            raise InputError(flag, f"is for publishing with {instead} only", remedy="leave it out")


def _show_totals(provenance: dict[str, Any]) -> None:
    from core.findings.ledger import describe_total
    from core.privacy.ledger import Total

    for total in provenance["published_so_far"]["totals"]:
        say(f"published so far: {describe_total(Total(**total))}")


def add_ledger(parser: argparse.ArgumentParser) -> None:
    """Options of `ledger`."""
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
    """Print the entries and totals of the graph's lineage."""
    from core.audit.store.database import Store
    from core.audit.store.ledger import assign_lineage, describe_ledger, find_relative, list_entries
    from core.audit.store.team import Team
    from core.findings.ledger import describe_relative, describe_total, list_ledger_rows
    from core.privacy.ledger import compute_totals

    if (options.assign is None) != (options.reason is None):
        raise InputError("--assign", "must come with --reason")
    graph = load_input(options, lambda text: None if options.json else say(text)).graph
    with closing(Store()) as store:
        team = Team(store)
        person = open_person(team)  # where people share a database, one must be one of them
        if options.assign is not None:
            if not person.has("approver"):
                raise AccessError("--assign is for people with the role approver only")
            assign_lineage(store, graph, options.assign, person.subject, options.reason)
            detail = f"{options.assign}: {options.reason}"
            team.record(person, "assign lineage", graph.identity_hash, detail)
        relative, entries = find_relative(store, graph), list_entries(store, graph)
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
