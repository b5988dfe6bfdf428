"""Options of the command line → graph and spec."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.cli.columns import add_without_columns, read_columns
from core.cli.identity import add_identity_attacks, needs_links, read_identity
from core.cli.knowledge import (
    add_learners,
    choose_taught,
    needs_hidden_links,
    read_knowledge,
    read_shadow_graph,
)
from core.cli.terminal import say
from core.errors import InputError
from core.methods import ATTACK_KINDS

if TYPE_CHECKING:
    from core.audit.service import AuditService
    from core.audit.spec import AuditSpec, MethodChoice
    from core.data.loaded import LoadedGraph

DEFAULT_SHARE = 0.1
"""Share of the links that is hidden where the command does not say otherwise."""

LAYOUT = {
    "separator": ("comma", "semicolon", "tab", "bar", "space"),
    "decimal": ("point", "comma"),
    "header": ("yes", "no"),
}
"""Options on a table of text → what they may be; see `core.data.sniff`."""

EVERY = "all"
"""Stands for all methods of a kind."""

Tell = Callable[[str], object]
"""Where remarks go."""


def add_graph(parser: argparse.ArgumentParser, required: bool = False) -> None:
    """Options that name a graph and say how it is read."""
    parser.add_argument(
        "--graph",
        required=required,
        metavar="NAME|FILE",
        help="a graph of the catalogue, such as karate or cora, or a file",
    )
    parser.add_argument("--nodes", type=Path, metavar="FILE", help="node table (CSV, Parquet)")
    parser.add_argument("--id", metavar="COLUMN", help="column of the node table with the ids")
    parser.add_argument(
        "--private",
        action="append",
        metavar="COLUMN",
        help="column that must stay private; several allowed, the main one first",
    )
    parser.add_argument("--utility", metavar="COLUMN", help="column that recipients want")
    parser.add_argument(
        "--unknown",
        action="append",
        default=[],
        metavar="VALUE[,…]",
        help="marker of an unknown value, such as -1",
    )
    parser.add_argument("--ignore", action="append", default=[], metavar="COLUMN[,…]")
    parser.add_argument(
        "--ignore-weights", action="store_true", help="leave out the links' weights"
    )
    for prefix, table in (("", "links"), ("nodes-", "the node table")):
        for field, choices in LAYOUT.items():
            parser.add_argument(
                f"--{prefix}{field}",
                choices=choices,
                help=f"{field} of {table} as text, where it is not to be detected",
            )
    parser.add_argument(
        "--add-undeclared-nodes",
        action="store_true",
        help="links to ids that the file or node table lacks add these nodes",
    )
    parser.add_argument(
        "--hide-links",
        type=float,
        nargs="?",
        const=DEFAULT_SHARE,
        metavar="SHARE",
        help="hide this share of the links (0.1) as sensitive",
    )


def build_spec(options: argparse.Namespace, service: AuditService) -> AuditSpec:
    """The spec of a file and the options; the graph is stored under its hash."""
    from core.audit.data_independent import add_data_independent
    from core.audit.spec import AuditSpec

    fields = _load_spec(options.spec) if options.spec else {}
    names = ("private", "utility", "known", "hide_links", "test_links", "num_repeats", "root_seed")
    fields |= {n: getattr(options, n) for n in names if getattr(options, n) is not None}
    fields |= read_columns(options)
    read_identity(options, fields, service)
    read_shadow_graph(options, fields, service)
    if needs_links(options, fields):
        fields["hide_links"] = fields.get("hide_links") or DEFAULT_SHARE
    if options.attack:
        options.attack = _expand_presets(options.attack, fields)
        attacks = _parse_attacks(options.attack, fields)
        fields["attacks"] = [c.model_dump() for c in _add_baseline_attackers(attacks, fields)]
    if options.identity:
        fields["attacks"] = add_identity_attacks(fields.get("attacks", []))
    if fields.get("shadow_graph"):
        fields["attacks"] = add_learners(fields.get("attacks", []))
    read_knowledge(options, fields, options.attack or [])
    if options.defense:
        defenses = _parse_choices(options.defense, "defense")
        if not options.no_data_independent:
            defenses = add_data_independent(defenses)
        fields["defenses"] = [choice.model_dump() for choice in defenses]
    if options.without_columns:
        fields["defenses"] = add_without_columns(fields.get("defenses", []))
    if options.graph:
        options.private, options.utility = fields.get("private"), fields.get("utility")
        loaded = load_input(options)
        if fields.get("graph_hash") not in (None, loaded.graph.content_hash):
            raise InputError(
                "graph",
                "must be the one that the spec names",
                options.graph,
                "leave graph_hash out of the spec to use another one",
            )
        fields |= {"graph_hash": service.save_graph(loaded.graph), "graph_name": loaded.graph.name}
    elif "graph_hash" not in fields:
        raise InputError("graph", "must be given", remedy="use --graph NAME or --graph FILE")
    fields["policy"] = _choose_policy(getattr(options, "policy", None), fields.get("policy"))
    spec = AuditSpec.check_spec(fields)
    if not spec.attacks:
        raise InputError(
            "audit",
            "must have an attack",
            remedy="use --attack KEY, --attack quick or --attack all",
        )
    return choose_taught(spec, service)


def _choose_policy(text: str | None, given: Any) -> dict[str, Any] | None:
    """The policy of the option, else that of the spec, written out."""
    from core.findings.policy import check_policy, load_policy

    if text is None and given is None:
        return None
    policy = load_policy(text) if text is not None else check_policy(given)
    fields: dict[str, Any] = policy.model_dump(mode="json")
    return fields


def load_input(options: argparse.Namespace, tell: Tell = say) -> LoadedGraph:
    """The graph of the catalogue or of a file; what loading dropped is told."""
    from core.data.catalogue import list_datasets, load_dataset
    from core.data.sandbox import load_in_sandbox
    from core.data.warnings import find_telling_columns

    names = {info.name for info in list_datasets()}
    unknown = [value for text in options.unknown for value in text.split(",")]
    ignore = [value for text in options.ignore for value in text.split(",")]
    if options.graph in names and not options.nodes:
        return load_dataset(options.graph)
    path = Path(options.graph)
    if not path.exists():
        raise InputError(
            "graph",
            "must be a file or a name of the catalogue",
            options.graph,
            "names: " + ", ".join(sorted(names)),
        )
    loaded = load_in_sandbox(
        path,
        nodes_path=options.nodes,
        id_column=options.id,
        private=options.private,
        utility=options.utility,
        ignore=ignore,
        unknown=unknown,
        missing_nodes="add" if options.add_undeclared_nodes else "error",
        ignore_weights=options.ignore_weights,
        layout=read_layout(options),
        nodes_layout=read_layout(options, "nodes_"),
    )
    report = loaded.report
    tell(
        f"{loaded.graph.num_nodes} nodes, {loaded.graph.num_edges} links; dropped "
        f"{report.num_self_loops} self-loops, {report.num_duplicates} duplicates, "
        f"{report.num_reciprocal} reverse directions"
    )
    for note in report.notes:
        tell(f"note: {note}")
    if options.nodes and not unknown:
        _warn_of_markers(options, tell)
    for name in filter(None, (options.private, *(getattr(options, "more_private", None) or ()))):
        graph = loaded.graph.with_private(name)
        for column in find_telling_columns(graph, graph.attribute(name)):
            tell(f"warning: {column}")
    return loaded


def read_layout(options: argparse.Namespace, prefix: str = "") -> dict[str, str]:
    """What the options say of a table's layout, as `sniff.parse_layout` takes it."""
    given = {field: getattr(options, f"{prefix}{field}", None) for field in LAYOUT}
    return {field: choice for field, choice in given.items() if choice is not None}


def _warn_of_markers(options: argparse.Namespace, tell: Tell) -> None:
    from core.data.sandbox import find_markers_in_sandbox

    if ".json" in options.nodes.suffixes:
        return
    found = find_markers_in_sandbox(options.nodes)
    for column in (options.private, options.utility):
        if column in found:
            values = ",".join(found[column])
            tell(f"note: {values} in column '{column}' may mean unknown; if so: --unknown={values}")


def _load_spec(path: Path) -> dict[str, Any]:
    """Fields of an AuditSpec, bare or inside an audit.json."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError("spec", "must be a readable JSON file", str(path), str(error)) from None
    fields = content.get("spec", content) if isinstance(content, dict) else None
    if not isinstance(fields, dict):
        raise InputError("spec", "must be a JSON object", str(path))
    return dict(fields)


def _parse_attacks(texts: list[str], fields: dict[str, Any]) -> list[MethodChoice]:
    """'all' lists attacks without a threat as skipped; one that was named is an error."""
    from core.registry import find_method

    choices = _parse_choices(texts, *ATTACK_KINDS)
    if not fields.get("identity"):
        choices = [c for c in choices if EVERY not in texts or not _is_identity(c)]
    has_links = bool(fields.get("hide_links") or fields.get("sensitive_links"))
    for choice in choices:
        if EVERY in texts:
            break
        kind = find_method(choice.key, *ATTACK_KINDS).kind
        if kind == "attribute_attack" and not fields.get("private"):
            raise InputError(choice.key, "needs a private column", remedy="use --private COLUMN")
        if needs_hidden_links(choice.key) and not has_links:
            raise InputError(choice.key, "needs withheld links", remedy="use --hide-links")
        if kind == "identity_attack" and not fields.get("identity"):
            raise InputError(choice.key, "needs the threat to identities", remedy="use --identity")
    return choices


def _expand_presets(texts: list[str], fields: dict[str, Any]) -> list[str]:
    """Keys in the place of a preset's name: those of its attacks that fit the threats."""
    from core.audit.presets import PRESETS

    presets = {preset.key: preset for preset in PRESETS}
    has_links = bool(fields.get("hide_links") or fields.get("sensitive_links"))
    found: list[str] = []
    for text in texts:
        if text not in presets:
            found.append(text)
            continue
        threats = has_links, bool(fields.get("private")), bool(fields.get("identity"))
        found += presets[text].choose_attacks(*threats)
    return list(dict.fromkeys(found))


def _is_identity(choice: MethodChoice) -> bool:
    from core.registry import find_method

    return find_method(choice.key, *ATTACK_KINDS).kind == "identity_attack"


def _add_baseline_attackers(
    choices: list[MethodChoice], fields: dict[str, Any]
) -> list[MethodChoice]:
    """No attack is reported without its baseline: the baseline attackers of its threat join it."""
    from core.audit.presets import list_attacks
    from core.audit.spec import MethodChoice

    has_links = bool(fields.get("hide_links") or fields.get("sensitive_links"))
    methods = list_attacks(has_links, bool(fields.get("private")))
    named = {choice.key for choice in choices}
    baselines = [m for m in methods if m.info.is_baseline and m.info.key not in named]
    return choices + [MethodChoice.of(method()) for method in baselines]


def _parse_choices(texts: list[str], *kinds: Any) -> list[MethodChoice]:
    from core.audit.spec import MethodChoice
    from core.registry import list_methods

    choices = []
    for text in texts:
        if text == EVERY:
            methods = [m for kind in kinds for m in list_methods(kind)]
            choices += [MethodChoice.of(method()) for method in methods]
        else:
            choices.append(MethodChoice.parse(text, *kinds))
    return choices
