"""`judge`: attack a release made elsewhere, and judge it by a policy."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.cli.arguments import (
    add_layout,
    add_options,
    load_files,
    load_input,
    read_options,
    title_options,
)
from core.cli.audit import add_results, complete_audit, start_results
from core.cli.audit_spec import add_identity, choose_policy, read_attacks, read_identity, read_ids
from core.cli.team import open_service
from core.cli.terminal import say
from core.errors import InputError

if TYPE_CHECKING:
    import numpy as np

    from core.audit.access.authorised import AuthorisedService
    from core.audit.asked.spec import AuditSpec
    from core.graph import Graph

FIELDS = (
    "evaluation",
    "released_links",
    "utility_train",
    "auxiliary_known",
    "joint",
    "groups",
    "noun",
    "root_seed",
    "note",
)
"""Options shared with `audit`."""

FILES = {
    "withheld": "sensitive links, as pairs of ids; else all that are in the original alone",
    "held-back": "links left out of the release to measure its usefulness, as pairs of ids",
    "known": "ids of people whose private values the attacker knows, one a line; else a tenth of "
    "them is drawn",
}
"""Options that name a file of what the attacker lacks or knows."""

RELEASE_OPTIONS = ("source", "target", "weight", "graph-id", "merge")
"""Options on reading the original that hold for releases too unless given for them."""
RELEASE_COLUMNS = ("time", "kind")
"""Options on reading the original that do not: a release may lack these columns."""

LEFT_OUT = "of the original that the release's node table lacks were left out of both graphs"


def add_judge(judge: argparse.ArgumentParser) -> None:
    """Options of `judge`."""
    from core.audit.asked.spec import AuditSpec
    from core.audit.asked.spec_parts import PARTS

    judge.add_argument(
        "graph", metavar="ORIGINAL", help="the original: a graph of the catalogue, or a file"
    )
    judge.add_argument("release", type=Path, metavar="RELEASE", help="file of the release")
    add_layout(judge)
    judge.add_argument(
        "--ids",
        default="same",
        metavar="same|map:FILE|unknown",
        help="ids of the release: the original's (the default), or pseudonyms, with a file that "
        "holds a node's id and its pseudonym in each line; unknown: people are found by attacks",
    )
    judge.add_argument(
        "--held-release",
        dest="held_releases",
        action="append",
        type=Path,
        metavar="FILE",
        help="another release of the same graph, with the same ids, which the attacker holds "
        "beside it; may be repeated",
    )
    judge.add_argument(
        "--release-nodes", type=Path, metavar="FILE", help="node table of the release"
    )
    for name in (*RELEASE_OPTIONS, *RELEASE_COLUMNS):
        differs = ", where it differs from the original's" if name in RELEASE_OPTIONS else ""
        text = f"--{name} of the release{differs}"
        judge.add_argument(f"--release-{name}", metavar="COLUMN", help=text)
    judge.add_argument(
        "--columns",
        choices=("release", "original"),
        default="release",
        help="columns that attackers read: those of the release's files (the default), or the "
        "original's, which leave unchanged beside its links",
    )
    for name, what in FILES.items():
        judge.add_argument(
            f"--{name}", dest=f"{name.replace('-', '_')}_file", type=Path, metavar="FILE", help=what
        )
    judge.add_argument(
        "--attack",
        action="append",
        metavar="KEY[:name=value,…]",
        help="an attack, those of a preset (quick, the default; standard, thorough), or 'all'; "
        "may be repeated",
    )
    add_options(judge, *PARTS.values(), AuditSpec, only=FIELDS)
    add_identity(judge)
    add_results(judge)
    judge.set_defaults(run=run_judge, check_claims=None)


def run_judge(options: argparse.Namespace) -> int:
    """Attack the release and the original, write the results, and judge the release."""
    from core.defenses.external import EXTERNAL_FIELDS

    with open_service(computes=True) as service:
        start_results(options, EXTERNAL_FIELDS)
        return complete_audit(service, build_judge_spec(options, service), options)


def build_judge_spec(options: argparse.Namespace, service: AuthorisedService) -> AuditSpec:
    """The audit of an external release; both graphs are stored by their hashes."""
    import numpy as np

    from core.audit.asked.spec import AuditSpec
    from core.audit.asked.spec_parts import PARTS
    from core.data.node_pairs import load_node_pairs
    from core.defenses.external import EXTERNAL_FIELDS
    from core.words import count_noun

    loaded = load_input(options)
    original = loaded.graph
    release, match, is_there = _load_release(options, original)
    held = [_load_held(options, original, file) for file in options.held_releases or ()]
    pairs = {"sensitive_links": _find_withheld(options, original, release)}
    if options.held_back_file is not None:
        pairs["held_back_links"] = load_node_pairs(options.held_back_file, original)
    left_out = {original.node_ids[node] for node in np.flatnonzero(~is_there)}
    if left_out:  # nobody of them is at risk by the release, and each would dilute every share
        say(f"note: {count_noun(len(left_out), 'node')} {LEFT_OUT}")
        match = ". ".join(filter(None, [match, f"Nodes {LEFT_OUT}"]))
        original, release, *held = (g.subgraph(is_there) for g in (original, release, *held))
        for name, named in pairs.items():
            pairs[name] = [pair for pair in named or () if left_out.isdisjoint(pair)] or None
    fields: dict[str, Any] = {
        **EXTERNAL_FIELDS,
        "graph_name": original.name,
        "graph_hash": service.save_graph(original),
        "input_columns": loaded.report.columns,
        "external_release": service.save_graph(release),
        "external_match": match,
        "held_releases": [service.save_graph(graph) for graph in held],
        "composition": len(held) + 1 if held else None,
        "private": options.private,
        "more_private": options.more_private,
        "utility": options.utility,
        **read_options(options, *PARTS.values(), AuditSpec),
        **pairs,
    }
    if options.known_file is not None:
        known = read_ids(options.known_file)
        fields["known_people"] = [node for node in known if node not in left_out]
    # pseudonyms are there to keep people from being found
    options.identity = options.identity or options.ids.startswith("map:")
    if options.identity and options.ids == "unknown":
        remedy = "give the pseudonyms by --ids map:FILE, or leave out --identity"
        raise InputError("--identity", "must know who is who", "--ids unknown", remedy)
    read_identity(options, fields, service)
    if fields["sensitive_links"] is None and not (options.private or options.identity):
        fields["released_links"] = True
    fields["attacks"] = read_attacks(options.attack or ["quick"], fields)
    fields["policy"] = choose_policy(options.policy, None)
    return AuditSpec.check_spec(fields, title_options(options))


def _load_release(options: argparse.Namespace, original: Graph) -> tuple[Graph, str, np.ndarray]:
    """The release on the original's nodes, how nodes were matched if their identity is unknown,
    and the nodes (n,) bool in the release: all, unless it has a node table; links alone do not
    name nodes without a link. Reports the reader's remarks."""
    import numpy as np

    from core.data.external_release import align_release, count_found_by_order, lacks_columns

    pseudonyms, match = _load_pseudonyms(options, original), ""
    loaded = load_files(
        options.release,
        options.release_nodes,
        _read_release_options(options),
        lambda text: say(f"release: {text}"),
    )
    if options.ids == "unknown":
        pseudonyms, match = _align_pseudonyms(original, loaded.graph)
    named = [options.private, *options.more_private, options.utility]
    secret = {column for column in named if column is not None}
    release = align_release(
        original, loaded.graph, secret, pseudonyms, options.columns == "original"
    )
    if lacks_columns(original, release, secret):
        say(
            "note: attackers read no column of the release; where columns leave with it, name them "
            "by --release-nodes or --columns original"
        )
    if pseudonyms is not None and not match:
        people = [pseudonyms[name] for name in loaded.graph.node_ids]
        found = count_found_by_order(original, loaded.graph.node_ids, original.find_nodes(people))
        if found:
            match = f"The order of its rows or ids tells who is who for {found} of {len(people)}"
            say(f"note: {match[0].lower()}{match[1:]}")
    is_there = np.ones(original.num_nodes, bool)
    if options.release_nodes is not None:
        names = (pseudonyms or {}).get
        is_there[:] = False
        is_there[original.find_nodes([names(n, n) for n in loaded.graph.node_ids])] = True
    return release, match, is_there


def _read_release_options(options: argparse.Namespace) -> argparse.Namespace:
    """The options with those given for the release in place of the original's."""
    fields = dict(vars(options))
    for name in (option.replace("-", "_") for option in RELEASE_OPTIONS):
        fields[name] = fields[f"release_{name}"] or fields[name]
    fields |= {name: fields[f"release_{name}"] for name in RELEASE_COLUMNS}
    return argparse.Namespace(**fields)


def _load_held(options: argparse.Namespace, original: Graph, file: Path) -> Graph:
    """Another release on the original's nodes, of which only the links are held."""
    from core.data.external_release import align_release

    if options.ids == "unknown":
        remedy = "give the pseudonyms by --ids map:FILE, or leave out --held-release"
        raise InputError("--held-release", "must have known ids", "--ids unknown", remedy)
    own = _read_release_options(options)
    loaded = load_files(file, None, own, lambda text: say(f"held release: {text}"))
    return align_release(original, loaded.graph, (), _load_pseudonyms(options, original))


def _load_pseudonyms(options: argparse.Namespace, original: Graph) -> dict[str, str] | None:
    """Pseudonym → id by the file of --ids, or None without one."""
    from core.data.node_pairs import load_pseudonyms

    kind, _, file = options.ids.partition(":")
    if options.ids not in ("same", "unknown") and (kind != "map" or not file):
        raise InputError("--ids", "must be same, map:FILE or unknown", options.ids)
    return load_pseudonyms(file, original) if file else None


def _align_pseudonyms(original: Graph, release: Graph) -> tuple[dict[str, str], str]:
    """Pseudonym → id by the best matching attack, and its quality."""
    from core.attacks.network_alignment import align_networks
    from core.context import Context
    from core.seeding import Seed

    say("finding people behind the pseudonyms: seconds to minutes")
    found = align_networks(original, release, Context(Seed(0)))
    for alignment in found:
        say(f"{alignment.attack}: {alignment.describe()}")
    best = found[0]
    names = [original.node_ids[node] for node in best.nodes]
    return dict(zip(release.node_ids, names, strict=True)), (
        f"Who is behind a pseudonym was guessed by {best.attack}: {best.describe()}. "
        "Whoever knows the pseudonyms may reach more"
    )


def _find_withheld(
    options: argparse.Namespace, original: Graph, release: Graph
) -> list[tuple[str, str]] | None:
    """Sensitive links: those named, else those in the original only; None without any."""
    from core.data.external_release import check_withheld, find_withheld
    from core.data.node_pairs import load_node_pairs
    from core.words import count_noun

    if options.withheld_file is not None:
        named = load_node_pairs(options.withheld_file, original)
        count = check_withheld(original, release, named)
        if count:
            say(
                f"note: {count_noun(count, 'withheld link')} in the release, no more than by chance"
            )
        return named
    if options.ids == "unknown":  # a wrong guess would make links of the release secret
        return None
    return find_withheld(original, release) or None
