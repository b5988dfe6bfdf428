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
    add_field,
    add_options,
    list_columns_of,
    load_input,
    read_options,
    read_secrets,
    split_values,
    title_options,
)
from core.cli.terminal import say
from core.errors import InputError
from core.nouns import propose_noun

if TYPE_CHECKING:
    from core.audit.access.authorised import AuthorisedService
    from core.audit.asked.method_choice import MethodChoice
    from core.audit.asked.spec import AuditSpec


def add_spec(parser: argparse.ArgumentParser, attacks: bool = True) -> None:
    """Add options for the spec's fields, and those that name files and methods.

    attacks  whether attacks are named; otherwise whoever runs the audits chooses them, the repeats
             and the forms of each defense
    """
    from core.audit.asked.spec import AuditSpec
    from core.audit.asked.spec_parts import PARTS

    parser.add_argument(
        "--spec",
        type=Path,
        metavar="FILE",
        help="settings from a spec or an earlier audit.json; options go first",
    )
    skipped = () if attacks else ("num_repeats", "stop_early")
    add_options(parser, *PARTS.values(), AuditSpec, skipped=skipped)
    for name in ("attacks", "defenses") if attacks else ("defenses",):
        dest = name.removesuffix("s")
        add_field(parser, name, dest=dest, action="append", metavar="KEY[:name=value,…]")
    if attacks:
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
    add_field(parser, "shadow_graph", type=Path, nargs="+", metavar="FILE|NAME")


def add_identity(parser: argparse.ArgumentParser) -> None:
    """Add the options of re-identification."""
    from core.audit.asked.spec_parts import IdentityChoice

    add_field(parser, "identity", action="store_true")
    add_field(parser, "auxiliary_graph", type=Path, metavar="FILE")
    add_options(parser, IdentityChoice)


def add_leave_out(parser: argparse.ArgumentParser) -> None:
    """Add the option that lists nodes to leave out."""
    add_field(parser, "leave_out", type=Path, metavar="FILE")


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
    from core.audit.asked.spec import AuditSpec
    from core.audit.asked.spec_parts import PARTS, fill_published

    fields = _load_spec(options.spec) if options.spec else {}
    fields |= read_secrets(options)
    fields |= read_options(options, *PARTS.values(), AuditSpec)
    fields |= read_leave_out(options)
    if options.generalize:  # a specification in a file stays the one that it is
        fields = fill_published(fields)
    return fields | {"defenses": _choose_defenses(options, fields.get("defenses", []))}


def build_spec(
    options: argparse.Namespace, service: AuthorisedService, fields: dict[str, Any] | None = None
) -> AuditSpec:
    """The spec of a file and the options; graphs are stored under their hashes.

    fields  of `read_fields`, which reads them if they are not given
    """
    from core.audit.asked.spec import AuditSpec
    from core.audit.asked.spec_parts import DisclosureSpec
    from core.audit.computing.prepared import PreparedAudit, describe_shadow_columns, find_gaps

    fields = read_fields(options) if fields is None else fields
    read_identity(options, fields, service)
    if options.shadow_graph:
        graph = _load_shadow_graph(options.shadow_graph, options, fields)
        say(f"shadow graph: {graph.num_nodes} nodes, {graph.num_edges} links")
        fields |= {"shadow_graph": service.save_graph(graph), "shadow_columns": None}
    if fields.get("hide_links") is None and needs_links(options.attack or [], fields):
        fields["hide_links"] = DEFAULT_SHARE
    fields["attacks"] = read_attacks(options.attack or [], fields)
    if options.graph:
        options.private, options.utility = fields.get("private"), fields.get("utility")
        loaded = load_input(options)
        fields |= read_options(options, DisclosureSpec, columns=list_columns_of(loaded.graph))
        if fields.get("graph_hash") not in (None, loaded.graph.content_hash):
            raise InputError(
                "graph",
                "must be the one that the spec names",
                options.graph,
                "leave graph_hash out of the spec to use another one",
            )
        fields |= {"graph_hash": service.save_graph(loaded.graph), "graph_name": loaded.graph.name}
        fields["input_columns"] = loaded.report.columns
        proposed = propose_noun(loaded.graph.name, loaded.graph.modes is not None)
        fields["noun"] = fields.get("noun") or proposed
    elif "graph_hash" not in fields:
        raise InputError("graph", "must be given", remedy="use --graph NAME or --graph FILE")
    fields["policy"] = choose_policy(options.policy, fields.get("policy"))
    spec = AuditSpec.check_spec(fields, title_options(options))
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
    """Flat fields of an AuditSpec, bare or inside an audit.json, but for those of a search."""
    from core.audit.asked.spec import SET_BY_SEARCH
    from core.audit.asked.spec_parts import PARTS

    fields = load_fields(path)
    flat = {name: value for name, value in fields.items() if name not in PARTS}
    for part in PARTS:
        inside = fields.get(part, {})
        if not isinstance(inside, dict):
            raise InputError(f"spec field '{part}'", "must be a JSON object", str(inside)[:40])
        flat |= inside
    return {name: value for name, value in flat.items() if name not in SET_BY_SEARCH}


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
    options: argparse.Namespace, fields: dict[str, Any], service: AuthorisedService
) -> None:
    """Set the field `identity`; an auxiliary graph is stored under its hash."""
    from core.audit.asked.spec_parts import IdentityChoice
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


def needs_links(named: Iterable[str], fields: Mapping[str, Any]) -> bool:
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


def read_attacks(named: list[str], fields: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Attacks of the options, else of the spec file, and those that go with them."""
    from core.audit.asked.presets import Asked, choose_attacks

    given = _make_choices(fields.get("attacks", []))
    chosen = choose_attacks(Asked.of_fields(fields), named or given)
    return [choice.model_dump() for choice in chosen]


def _make_choices(given: Any) -> list[MethodChoice]:
    """Methods named in a spec file; raises InputError for invalid ones."""
    from pydantic import TypeAdapter, ValidationError

    from core.audit.asked.method_choice import MethodChoice

    try:
        return TypeAdapter(list[MethodChoice]).validate_python(list(given))
    except (ValidationError, TypeError):
        raise InputError("spec field 'attacks' or 'defenses'", "must list methods") from None


def _choose_defenses(options: argparse.Namespace, given: Any) -> list[dict[str, Any]]:
    """Defenses of the options, else of the spec file, with their companions."""
    from core.audit.asked.presets import add_data_independent

    defenses = _make_choices(given)
    if options.defense:
        defenses = _parse_defenses(options.defense)
        if not options.no_data_independent:
            defenses = add_data_independent(defenses)
    defenses = [identify_command(choice) for choice in defenses]
    if options.without_columns:
        defenses = _add_without_columns(defenses)
    return [choice.model_dump() for choice in defenses]


def identify_command(choice: MethodChoice) -> MethodChoice:
    """The choice with the hash of the command's program, allowed to run in this folder by this
    process and its workers."""
    from core.audit.asked.method_choice import MethodChoice
    from core.defenses.command import FOLDER, Command

    method = choice.make("defense")
    if not isinstance(method, Command):
        return choice
    os.environ[FOLDER] = os.getcwd()
    return MethodChoice.of(method.identify())


def _add_without_columns(defenses: list[MethodChoice]) -> list[MethodChoice]:
    """Each defense followed by the same without columns; first, columns removed alone."""
    from core.audit.asked.method_choice import MethodChoice
    from core.defenses.without_columns import WithoutColumns

    listed = [MethodChoice.of(WithoutColumns.model_validate({}))]
    for choice in defenses:
        listed.append(choice)
        defense = choice.make_defense()
        if not isinstance(defense, WithoutColumns) and not defense.renames_nodes:
            listed.append(MethodChoice.of(WithoutColumns.combine(defense)))
    return listed


def _parse_defenses(texts: list[str]) -> list[MethodChoice]:
    from core.audit.asked.method_choice import MethodChoice
    from core.audit.asked.presets import EVERY
    from core.registry import list_methods

    choices = []
    for text in texts:
        if text == EVERY:
            choices += [MethodChoice.of(method()) for method in list_methods("defense")]
        else:
            choices += MethodChoice.expand(text, "defense")
    return choices
