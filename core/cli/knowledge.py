"""Options of the command line on attackers who know more: the defense, several releases."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.cli.terminal import say
from core.errors import InputError

if TYPE_CHECKING:
    from core.audit.service import AuditService
    from core.audit.spec import AuditSpec


def add_knowledge(parser: argparse.ArgumentParser) -> None:
    """--adaptive, --evaluation, --released-links, --composition, --hold-every-defense,
    --publisher-knows, --auxiliary-known, --shadow-graph, --joint and --group."""
    parser.add_argument(
        "--publisher-knows",
        choices=("none", "public", "column"),
        help="what of the private values a defense uses: none, those that the assumed attacker "
        "knows too (public), or the whole column",
    )
    parser.add_argument(
        "--auxiliary-known",
        dest="attacker_known",
        metavar="SHARE,…",
        help="further attackers, each knowing such a share of the values, of people of their own: "
        "0.1, or degree:0.1 for people with many links rather, community:0.1 for everybody of "
        "some communities",
    )
    parser.add_argument(
        "--shadow-graph",
        type=Path,
        nargs="+",
        metavar="FILE",
        help="another graph of such people, on which an attacker learns the private columns that "
        "it has: its links and, if they are not in that file, its node table; a name of the "
        "catalogue will do",
    )
    parser.add_argument(
        "--group",
        action="append",
        metavar="COLUMN",
        help="compare what attackers gain by the groups of this column; several allowed",
    )
    parser.add_argument(
        "--joint",
        action="append",
        choices=("inferred", "known"),
        help="with several private columns, attack each also by one who infers, or knows, the "
        "others; both allowed",
    )
    parser.add_argument(
        "--adaptive",
        action="store_true",
        help="run each attack on links and columns also by one who knows the defense",
    )
    parser.add_argument(
        "--evaluation",
        choices=("uniform", "degree_matched", "distance_2"),
        help="non-links that attacks must tell from withheld links: any (the default), such whose "
        "ends have as many links, or both sides at distance two",
    )
    parser.add_argument(
        "--released-links",
        action="store_true",
        help="attack what went into a release: which of its links are real?",
    )
    parser.add_argument(
        "--composition",
        dest="releases_held",
        type=int,
        metavar="K",
        help="released links, attacked by one who holds K releases of the same graph as well",
    )
    parser.add_argument(
        "--hold-every-defense",
        action="store_true",
        help="released links, attacked by one who holds a release of each defense as well",
    )


def read_knowledge(
    options: argparse.Namespace, fields: dict[str, Any], named: Sequence[str]
) -> None:
    """Fill in the spec's fields; attacks on released links join the others.

    named: the attacks of the command; one on released links is an error where none are attacked.
    """
    if options.evaluation is not None:
        fields["evaluation"] = options.evaluation
    if options.adaptive:
        fields["adaptive"] = True
    if options.publisher_knows is not None:
        fields["publisher_knows"] = options.publisher_knows
    if options.attacker_known is not None:
        parts = options.attacker_known.split(",")
        fields["attacker_known"] = _read_shares([part for part in parts if ":" not in part])
        fields["attacker_places"] = [part for part in parts if ":" in part]
    if getattr(options, "more_private", None):
        fields["more_private"] = options.more_private
    if options.joint:
        fields["joint"] = options.joint
    if options.group:
        fields["groups"] = options.group
    if options.released_links:
        fields["released_links"] = True
    if options.releases_held is not None:
        fields["releases_held"] = options.releases_held
    if options.hold_every_defense:
        fields["hold_every_defense"] = True
    if any(fields.get(name) for name in ("released_links", "releases_held", "hold_every_defense")):
        from core.audit.presets import list_released_attacks
        from core.audit.spec import MethodChoice

        attacks = list(fields.get("attacks", []))
        known = {choice["key"] for choice in attacks}
        new = [m for m in list_released_attacks() if m.info.key not in known]
        fields["attacks"] = attacks + [MethodChoice.of(m()).model_dump() for m in new]
    else:
        for text in named:
            key = text.partition(":")[0]
            if key != "all" and needs_released_links(key):
                raise InputError(key, "needs released links", remedy="use --released-links")


def read_shadow_graph(
    options: argparse.Namespace, fields: dict[str, Any], service: AuditService
) -> None:
    """Store the attacker's other graph, and name it in the spec."""
    if not options.shadow_graph:
        return
    from core.data.catalogue import list_datasets, load_dataset
    from core.data.sandbox import load_in_sandbox

    path, *tables = options.shadow_graph
    if len(tables) > 1:
        rule = "must be a file of links and, at most, a node table"
        raise InputError("--shadow-graph", rule, len(options.shadow_graph))
    if not path.exists() and not tables and str(path) in {d.name for d in list_datasets()}:
        loaded = load_dataset(str(path))
    else:
        nodes = tables[0] if tables else None
        unknown = [value for text in options.unknown for value in text.split(",")]
        column = None if nodes is None else _find_private(nodes, options, fields)
        loaded = load_in_sandbox(
            path, nodes_path=nodes, id_column=options.id, private=column, unknown=unknown
        )
    graph = loaded.graph
    say(f"attacker's graph: {graph.num_nodes} nodes, {graph.num_edges} links")
    fields |= {"shadow_graph": service.save_graph(graph), "attacker_columns": None}


def _find_private(nodes: Path, options: argparse.Namespace, fields: dict[str, Any]) -> str | None:
    """The first private column, to be read as it is of the audited graph; None where the node
    table has others of them alone."""
    from core.data.sandbox import preview_in_sandbox

    first = fields.get("private")
    more = getattr(options, "more_private", None) or fields.get("more_private", ())
    shown = preview_in_sandbox(nodes, 1, is_nodes=True).columns
    return None if first not in shown and set(more) & set(shown) else first


def choose_taught(spec: AuditSpec, service: AuditService) -> AuditSpec:
    """The spec naming the private columns that the attacker's graph teaches; said where there are
    several private ones and the spec names none. InputError where it teaches none."""
    if spec.shadow_graph is None or not spec.more_private or spec.attacker_columns is not None:
        return spec
    from core.audit.scenarios import list_private
    from core.audit.shadow_columns import describe_taught, fill_taught, find_gaps
    from core.audit.threat_sampling import prepare_graph

    graph, other = service.load_graph(spec.graph_hash), service.load_graph(spec.shadow_graph)
    gaps = find_gaps(list_private(spec), prepare_graph(spec, graph), other)
    say(f"attacker's graph: {describe_taught(gaps)}")
    return fill_taught(spec, graph, other)


def add_learners(attacks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The attacks, with those that learn from another graph unless one of them is named."""
    from core.audit.spec import MethodChoice
    from core.registry import list_methods

    able = [m for m in list_methods("attribute_attack") if getattr(m, "transfers", False)]
    if {attack["key"] for attack in attacks} & {method.info.key for method in able}:
        return attacks
    return [*attacks, *(MethodChoice.of(method()).model_dump() for method in able)]


def needs_released_links(key: str) -> bool:
    """Whether the method attacks what went into a release, and nothing else."""
    from core.methods import LinkAttack
    from core.registry import find_method

    method = find_method(key)
    return issubclass(method, LinkAttack) and method.threats == ("included",)


def split_private(options: argparse.Namespace) -> None:
    """--private, given several times, as the main column `private` and `more_private`."""
    if getattr(options, "private", None):
        options.private, *options.more_private = dict.fromkeys(options.private)


def _read_shares(texts: Sequence[str]) -> list[float]:
    try:
        return [float(part) for part in texts]
    except ValueError:
        raise InputError(
            "--auxiliary-known",
            "must be shares between 0 and 1 joined by commas",
            ",".join(texts),
        ) from None


def needs_hidden_links(key: str) -> bool:
    """Whether the method attacks links that were withheld, and nothing else."""
    from core.methods import LinkAttack
    from core.registry import find_method

    method = find_method(key)
    return issubclass(method, LinkAttack) and "link" in method.threats
