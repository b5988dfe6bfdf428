"""Options of `audit` → its specification."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.cli.arguments import (
    DEFAULT_SHARE,
    add_options,
    load_input,
    read_options,
    read_secrets,
    split_values,
)
from core.cli.terminal import say
from core.errors import InputError

if TYPE_CHECKING:
    from core.audit.service import AuditService
    from core.audit.spec import AuditSpec, MethodChoice
    from core.methods import Method

EVERY = "all"
"""Value that selects all methods of a kind."""

ROUGH = 0.1
"""Error rate of attackers with approximate knowledge of a neighbourhood."""


def add_spec(parser: argparse.ArgumentParser) -> None:
    """Add options for the spec's fields, and those that name files and methods."""
    from core.audit.spec import PARTS, AuditSpec

    parser.add_argument(
        "--spec",
        type=Path,
        metavar="FILE",
        help="settings from a spec or an earlier audit.json; options go first",
    )
    add_options(parser, *PARTS.values(), AuditSpec)
    parser.add_argument(
        "--attack",
        action="append",
        metavar="KEY[:name=value,…]",
        help="an attack, those of a preset (quick, standard, thorough), or 'all'; may be repeated",
    )
    parser.add_argument(
        "--defense",
        action="append",
        metavar="KEY[:name=value,…]",
        help="a defense, 'all', or a command of your own, 'command:./anonymise {in} {out}'; may be "
        "repeated",
    )
    parser.add_argument(
        "--no-data-independent",
        action="store_true",
        help="leave out the data-independent baselines of syntheses",
    )
    parser.add_argument(
        "--without-columns",
        action="store_true",
        help="every release a second time, without any column",
    )
    add_leave_out(parser)
    add_identity(parser)
    parser.add_argument(
        "--shadow-graph",
        type=Path,
        nargs="+",
        metavar="FILE",
        help="another graph of such people, on which an attacker learns the private columns that "
        "it has: its links and, if they are not in that file, its node table; a name of the "
        "catalogue will do",
    )


def add_identity(parser: argparse.ArgumentParser) -> None:
    """Add the options of re-identification."""
    from core.audit.spec import IdentityChoice

    parser.add_argument(
        "--identity",
        action="store_true",
        help="audit re-identification: can people be found in it by their links?",
    )
    parser.add_argument(
        "--auxiliary-graph",
        type=Path,
        metavar="FILE",
        help="a second graph of the same people; else one is simulated by sampling",
    )
    add_options(parser, IdentityChoice)


def add_leave_out(parser: argparse.ArgumentParser) -> None:
    """Add the option that lists nodes to leave out."""
    parser.add_argument(
        "--leave-out", type=Path, metavar="FILE", help="ids of people to leave out, one a line"
    )


def read_leave_out(options: argparse.Namespace) -> dict[str, Any]:
    """Field set by --leave-out."""
    return {} if options.leave_out is None else {"leave_out": read_ids(options.leave_out)}


def read_ids(path: Path) -> list[str]:
    """Distinct ids of a file, one per line."""
    from core.data.text_input import load_text

    lines = (line.strip() for line in load_text(path).splitlines())
    return list(dict.fromkeys(line for line in lines if line))


def read_fields(options: argparse.Namespace) -> dict[str, Any]:
    """Flat fields of the spec's file and the options, with the defenses, but for those that need a
    graph."""
    from core.audit.spec import PARTS, AuditSpec

    fields = _load_spec(options.spec) if options.spec else {}
    fields |= read_secrets(options)
    fields |= read_options(options, *PARTS.values(), AuditSpec)
    fields |= read_leave_out(options)
    return fields | {"defenses": _choose_defenses(options, fields.get("defenses", []))}


def build_spec(
    options: argparse.Namespace, service: AuditService, fields: dict[str, Any] | None = None
) -> AuditSpec:
    """The spec of a file and the options; graphs are stored under their hashes.

    fields  of `read_fields`, which reads them if they are not given
    """
    from core.audit.prepared import PreparedAudit, describe_shadow_columns, find_gaps
    from core.audit.spec import AuditSpec

    fields = read_fields(options) if fields is None else fields
    read_identity(options, fields, service)
    if options.shadow_graph:
        graph = _load_shadow_graph(options.shadow_graph, options, fields)
        say(f"shadow graph: {graph.num_nodes} nodes, {graph.num_edges} links")
        fields |= {"shadow_graph": service.save_graph(graph), "shadow_columns": None}
    if fields.get("hide_links") is None and _needs_links(options.attack or [], fields):
        fields["hide_links"] = DEFAULT_SHARE
    fields["attacks"] = choose_attacks(options.attack or [], fields)
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
    fields["policy"] = choose_policy(options.policy, fields.get("policy"))
    spec = AuditSpec.check_spec(fields)
    if not spec.attacks:
        raise InputError(
            "audit",
            "must have an attack",
            remedy="use --attack KEY, --attack quick or --attack all",
        )
    if spec.knowledge.shadow_graph is None:
        return spec
    audit = PreparedAudit.load(spec, service.load_graph)
    if options.shadow_graph and spec.threats.more_private and audit.shadow is not None:
        gaps = find_gaps(spec.threats.columns, audit.graph, audit.shadow)
        say(f"shadow graph: {describe_shadow_columns(gaps)}")
    return audit.spec


def _load_spec(path: Path) -> dict[str, Any]:
    """Flat fields of an AuditSpec, bare or inside an audit.json."""
    from core.audit.spec import PARTS

    fields = load_fields(path)
    flat = {name: value for name, value in fields.items() if name not in PARTS}
    for part in PARTS:
        inside = fields.get(part, {})
        if not isinstance(inside, dict):
            raise InputError(f"spec field '{part}'", "must be a JSON object", str(inside)[:40])
        flat |= inside
    return flat


def load_fields(path: Path) -> dict[str, Any]:
    """JSON object of a spec file, or the one under "spec" in a result file."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError("spec", "must be a readable JSON file", str(path), str(error)) from None
    fields = content.get("spec", content) if isinstance(content, dict) else None
    if not isinstance(fields, dict):
        raise InputError("spec", "must be a JSON object", str(path))
    return fields


def read_identity(
    options: argparse.Namespace, fields: dict[str, Any], service: AuditService
) -> None:
    """Set the field `identity`; an auxiliary graph is stored under its hash."""
    from core.audit.spec import IdentityChoice
    from core.data.sandbox import load_in_sandbox

    given = read_options(options, IdentityChoice)
    if options.auxiliary_graph is not None:
        second = load_in_sandbox(options.auxiliary_graph).graph
        say(f"second graph: {second.num_nodes} nodes, {second.num_edges} links")
        given["auxiliary_graph"] = service.save_graph(second)
    if options.identity or given:
        default = IdentityChoice.model_validate({}).model_dump()
        fields["identity"] = default | (fields.get("identity") or {}) | given


def _load_shadow_graph(
    files: list[Path], options: argparse.Namespace, fields: Mapping[str, Any]
) -> Any:
    """The shadow graph, from files or the catalogue."""
    from core.data.catalogue import list_datasets, load_dataset
    from core.data.sandbox import load_in_sandbox, preview_in_sandbox

    path, *tables = files
    if len(tables) > 1:
        rule = "must be a file of links and, at most, a node table"
        raise InputError("--shadow-graph", rule, len(files))
    if not path.exists() and not tables and str(path) in {d.name for d in list_datasets()}:
        return load_dataset(str(path)).graph
    nodes, column = (tables[0] if tables else None), None
    if nodes is not None:
        # The first private column is read as it is of the audited graph, unless the table has
        # others of them alone.
        column, more = fields.get("private"), fields.get("more_private", ())
        shown = preview_in_sandbox(nodes, 1, is_nodes=True).columns
        if column not in shown and set(more) & set(shown):
            column = None
    return load_in_sandbox(
        path,
        nodes_path=nodes,
        id_column=options.id,
        private=column,
        unknown=split_values(options.unknown),
    ).graph


def choose_policy(text: str | None, given: Any) -> dict[str, Any] | None:
    """Policy of the option, else that of the spec, in full."""
    from core.findings.policy import check_policy, load_policy

    if text is None and given is None:
        return None
    policy = load_policy(text) if text is not None else check_policy(given)
    fields: dict[str, Any] = policy.model_dump(mode="json")
    return fields


# -- methods --------------------------------------------------------------------------------


def _has_links(fields: Mapping[str, Any]) -> bool:
    """Whether links are withheld; a share of 0 is refused with the spec."""
    return fields.get("hide_links") is not None or bool(fields.get("sensitive_links"))


def _needs_links(named: list[str], fields: Mapping[str, Any]) -> bool:
    """Whether links are withheld by default: no other threat is named, or a link attack is."""
    from core.registry import find_method

    if fields.get("private") or fields.get("sensitive_links"):
        return False
    if not fields.get("identity"):
        return True
    for text in named:
        try:
            if find_method(text.partition(":")[0]).kind == "link_attack":
                return True
        except InputError:
            continue  # "all", or a mistake that is told of when attacks are read
    return False


def choose_attacks(named: list[str], fields: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Attacks of the options, else of the spec file, plus the baselines and the attacks on
    identities, released links and by a shadow graph that the threats call for."""
    from core.audit.presets import list_attacks, list_released_attacks
    from core.registry import list_methods

    attacks = _make_choices(fields.get("attacks", []))
    several = [fields.get(name) for name in ("released_links", "composition", "hold_every_defense")]
    if named:
        named = _expand_presets(named, fields)
        attacks = _parse_attacks(named, fields, any(several))
        methods = list_attacks(_has_links(fields), bool(fields.get("private")))
        attacks = _join(attacks, (m for m in methods if m.info.is_baseline))
    keys = {choice.key for choice in attacks}
    if fields.get("identity"):
        attacks = _add_identity_attacks(attacks)
    if fields.get("shadow_graph"):
        able = [m for m in list_methods("attribute_attack") if getattr(m, "transfers", False)]
        if not keys & {method.info.key for method in able}:
            attacks = _join(attacks, able)
    if any(several):
        attacks = _join(attacks, list_released_attacks())
    return [choice.model_dump() for choice in attacks]


def _make_choices(given: Any) -> list[MethodChoice]:
    """Methods named in a spec file; raises InputError for invalid ones."""
    from pydantic import TypeAdapter, ValidationError

    from core.audit.spec import MethodChoice

    try:
        return TypeAdapter(list[MethodChoice]).validate_python(list(given))
    except (ValidationError, TypeError):
        raise InputError("spec field 'attacks' or 'defenses'", "must list methods") from None


def _join(choices: list[MethodChoice], methods: Iterable[type[Method]]) -> list[MethodChoice]:
    """The choices, and those of the methods that are missing."""
    from core.audit.spec import MethodChoice

    keys = {choice.key for choice in choices}
    return choices + [MethodChoice.of(m()) for m in methods if m.info.key not in keys]


def _expand_presets(texts: list[str], fields: Mapping[str, Any]) -> list[str]:
    """Replace preset names by the keys of their attacks that fit the threats."""
    from core.audit.presets import PRESETS

    presets = {preset.key: preset for preset in PRESETS}
    threats = _has_links(fields), bool(fields.get("private")), bool(fields.get("identity"))
    found: list[str] = []
    for text in texts:
        found += presets[text].choose_attacks(*threats) if text in presets else [text]
    return list(dict.fromkeys(found))


def _parse_attacks(
    texts: list[str], fields: Mapping[str, Any], is_released: bool
) -> list[MethodChoice]:
    """'all' skips attacks without their threat; naming one explicitly is an error."""
    from core.methods import ATTACK_KINDS, LinkAttack
    from core.registry import find_method

    choices = _parse_choices(texts, *ATTACK_KINDS)
    kinds = {c.key: find_method(c.key, *ATTACK_KINDS) for c in choices}
    if EVERY in texts:
        has_identity = bool(fields.get("identity"))
        return [c for c in choices if has_identity or kinds[c.key].kind != "identity_attack"]
    for choice in choices:
        method = kinds[choice.key]
        aims = method.threats if issubclass(method, LinkAttack) else ()
        if method.kind == "attribute_attack" and not fields.get("private"):
            raise InputError(choice.key, "needs a private column", remedy="use --private COLUMN")
        if "link" in aims and not _has_links(fields):
            raise InputError(choice.key, "needs withheld links", remedy="use --hide-links")
        if aims == ("included",) and not is_released:
            raise InputError(choice.key, "needs released links", remedy="use --released-links")
        if method.kind == "identity_attack" and not fields.get("identity"):
            raise InputError(choice.key, "needs re-identification", remedy="use --identity")
    return choices


def _add_identity_attacks(attacks: list[MethodChoice]) -> list[MethodChoice]:
    """All re-identification attacks unless some are named; baseline attackers always.

    Attackers by degree and neighbourhood are included with exact and with approximate knowledge.
    """
    from core.audit.spec import MethodChoice
    from core.registry import list_methods

    methods = list_methods("identity_attack")
    if "identity_attack" in [choice.kind for choice in attacks]:
        return _join(attacks, (m for m in methods if m.info.is_baseline))
    rough = [m.model_validate({"error": ROUGH}) for m in methods if "error" in m.model_fields]
    return [*attacks, *(MethodChoice.of(m) for m in (*(m() for m in methods), *rough))]


def _choose_defenses(options: argparse.Namespace, given: Any) -> list[dict[str, Any]]:
    """Defenses of the options, else of the spec file, with their companions."""
    from core.audit.presets import add_data_independent

    defenses = _make_choices(given)
    if options.defense:
        defenses = _parse_choices(options.defense, "defense")
        if not options.no_data_independent:
            defenses = add_data_independent(defenses)
    defenses = [identify_command(choice) for choice in defenses]
    if options.without_columns:
        defenses = _add_without_columns(defenses)
    return [choice.model_dump() for choice in defenses]


def identify_command(choice: MethodChoice) -> MethodChoice:
    """The choice with the hash of the command's program, allowed to run in this folder by this
    process and its workers."""
    from core.audit.spec import MethodChoice
    from core.defenses.command import FOLDER, Command

    method = choice.make("defense")
    if not isinstance(method, Command):
        return choice
    os.environ[FOLDER] = os.getcwd()
    return MethodChoice.of(method.identify())


def _add_without_columns(defenses: list[MethodChoice]) -> list[MethodChoice]:
    """Each defense followed by the same without columns; first, columns removed alone."""
    from core.audit.spec import MethodChoice
    from core.defenses.without_columns import WithoutColumns

    listed = [MethodChoice.of(WithoutColumns.model_validate({}))]
    for choice in defenses:
        listed.append(choice)
        defense = choice.make_defense()
        if not isinstance(defense, WithoutColumns) and not defense.renames_nodes:
            listed.append(MethodChoice.of(WithoutColumns.combine(defense)))
    return listed


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
