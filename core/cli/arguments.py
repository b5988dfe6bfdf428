"""Options that name a graph and its format, and options generated from the fields of a spec."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin

from core.cli.terminal import say
from core.errors import InputError, propose_nearest
from core.words import format_modes

if TYPE_CHECKING:
    from pydantic import BaseModel
    from pydantic.fields import FieldInfo

    from core.audit.asked.declared import Declaration
    from core.audit.asked.spec import TitleField
    from core.data.loaded import ColumnUse, LoadedGraph
    from core.graph import Graph


DEFAULT_SHARE = 0.1
"""Default share of withheld links."""

LAYOUT = {
    "separator": ("comma", "semicolon", "tab", "bar", "space"),
    "decimal": ("point", "comma"),
    "header": ("yes", "no"),
}
"""Layout options of text tables → choices; see `core.data.sniff`."""

Notify = Callable[[str], object]
"""Callback for remarks."""


def list_columns_of(graph: Graph) -> list[str]:
    """Names by which options name the columns of a graph, those of links after `link.`."""
    from core.data.release_columns import LINK_PREFIX

    links = () if graph.link_table is None else graph.link_table.columns
    return [*graph.columns, *(f"{LINK_PREFIX}{name}" for name in links)]


def is_address(source: object) -> bool:
    """Whether a source is the address of a database table rather than a file or a name."""
    return isinstance(source, str) and "://" in source


def add_graph(parser: argparse.ArgumentParser, required: bool = False) -> None:
    """Add options that name a graph, its format and its secrets."""
    parser.add_argument(
        "--graph",
        required=required,
        metavar="NAME|FILE",
        help="a graph of the catalogue, such as karate or cora, a file, a folder of OGB or PyG, or "
        "a table of a database (sqlite:///FILE#TABLE)",
    )
    add_layout(parser)
    parser.add_argument(
        "--hide-links",
        type=float,
        nargs="?",
        const=DEFAULT_SHARE,
        metavar="SHARE",
        help="withhold this share of the links (0.1) as sensitive",
    )


def add_layout(parser: argparse.ArgumentParser) -> None:
    """Add options for a graph's format and the roles of its columns."""
    parser.add_argument(
        "--nodes",
        type=lambda text: text if is_address(text) else Path(text),
        metavar="FILE",
        help="node table (CSV, Parquet), or a table of a database",
    )
    parser.add_argument("--id", metavar="COLUMN", help="column of the node table with the ids")
    parser.add_argument(
        "--private",
        action="append",
        metavar="COLUMN",
        help="column that must stay private; several allowed, the main one first",
    )
    parser.set_defaults(more_private=[])
    parser.add_argument("--utility", metavar="COLUMN", help="column that recipients want")
    parser.add_argument(
        "--unknown",
        action="append",
        default=[],
        metavar="VALUE[,…]",
        help="marker of an unknown value, such as -1",
    )
    parser.add_argument(
        "--ignore",
        action="append",
        default=[],
        metavar="COLUMN[,…]",
        help="column of the nodes or of the links that is not read",
    )
    for end in ("source", "target"):
        parser.add_argument(
            f"--{end}", metavar="COLUMN", help=f"column of a table of links with the {end}"
        )
    parser.add_argument(
        "--weight", metavar="COLUMN|none", help="column of the links' weights; none leaves them out"
    )
    for role in ("time", "kind"):
        parser.add_argument(
            f"--{role}",
            metavar="COLUMN",
            help=f"column of the links with the {role} of each; otherwise by its values",
        )
    parser.add_argument(
        "--merge",
        choices=("sum", "mean", "max", "min", "first", "count"),
        help="weight of a link that is given several times (max)",
    )
    parser.add_argument(
        "--graph-id", metavar="COLUMN", help="column of a graph file, such as name, with the ids"
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


def split_private(options: argparse.Namespace) -> None:
    """Split repeated --private into the main column `private` and `more_private`."""
    if getattr(options, "private", None):
        options.private, *options.more_private = dict.fromkeys(options.private)


def read_secrets(options: argparse.Namespace) -> dict[str, Any]:
    """Fields of a spec that the options of `add_graph` set."""
    names = ("private", "more_private", "utility", "hide_links")
    fields = {name: getattr(options, name) for name in names}
    return {name: value for name, value in fields.items() if value not in (None, [])}


def find_graph(text: str, must_be_file: bool = False) -> Path | None:
    """Path of a file, or None for a name of the catalogue; raises InputError for neither."""
    from core.data.catalogue import list_datasets

    names = sorted(info.name for info in list_datasets())
    if text in names and not must_be_file:
        return None
    if not Path(text).exists():
        rule = "must be a file or a name of the catalogue"
        remedy = propose_nearest(text, names) or f"names: {', '.join(names)}"
        raise InputError("graph", rule, text, remedy)
    return Path(text)


def load_input(options: argparse.Namespace, notify: Notify = say) -> LoadedGraph:
    """Graph of the catalogue, a file or a database; reports what loading dropped."""
    from core.cli.partitions import find_large, load_partitions
    from core.data.catalogue import load_dataset
    from core.data.warnings import find_secret_warnings, warn_of_unknown

    if is_address(options.graph) or is_address(options.nodes):
        return _load_tables(options, notify)
    path = find_graph(options.graph, must_be_file=bool(options.nodes))
    if path is None:
        _refuse_reading(options)
        return load_dataset(options.graph)
    found = find_large(path)
    if found is not None:
        return load_partitions(options, path, found, notify)
    roles = {"private": options.private, "utility": options.utility}
    loaded = load_files(path, options.nodes, options, notify, **roles)
    loaded.report.check_ignored()
    if options.utility:
        for text in warn_of_unknown(loaded.graph.column(options.utility)):
            notify(f"warning: {text}")
    for name in filter(None, (options.private, *options.more_private)):
        graph = loaded.graph.with_private(name)
        for text in find_secret_warnings(graph, graph.column(name)):
            notify(f"warning: {text}")
    return loaded


READING = (
    *("id", "ignore", "unknown", "source", "target", "weight", "time", "kind", "merge"),
    *("graph_id", "add_undeclared_nodes"),
    *(f"{prefix}{field}" for prefix in ("", "nodes_") for field in LAYOUT),
)
"""Options of `add_layout` on how a file is read."""


def _refuse_reading(options: argparse.Namespace) -> None:
    """Raise InputError for an option on reading that a graph of the catalogue would not hear."""
    heard = ("id", "unknown") if getattr(options, "shadow_graph", None) else ()
    for name in READING:
        if name not in heard and getattr(options, name, None) not in (None, [], False):
            rule, flag = "is for a file, not for a graph of the catalogue", name.replace("_", "-")
            remedy = "leave it out"
            if name == "ignore":
                remedy += "; columns that leave are chosen by --publish-columns"
            given = getattr(options, name)
            shown = ", ".join(given) if isinstance(given, list) else given
            raise InputError(f"--{flag}", rule, shown, remedy)


def _load_tables(options: argparse.Namespace, notify: Notify) -> LoadedGraph:
    """`load_input` on copies of database tables."""
    from core.data.database_table import copy_table
    from core.data.sandbox import make_folder

    with make_folder("read") as folder:
        copies: dict[str, Any] = {}
        for option in ("graph", "nodes"):
            address = getattr(options, option)
            if is_address(address):
                path, count = copy_table(address, Path(folder))
                notify(f"{count:,} rows of table '{address.partition('#')[2]}'")
                copies[option] = str(path) if option == "graph" else path
        return load_input(argparse.Namespace(**{**vars(options), **copies}), notify)


def load_files(
    path: Path, nodes: Path | None, options: argparse.Namespace, notify: Notify = say, **roles: Any
) -> LoadedGraph:
    """Graph of a file and its node table, read as the options state; reports what was dropped.

    roles  private and utility column
    """
    from core.data.column_roles import mark_secrets
    from core.data.sandbox import load_in_sandbox

    loaded = load_in_sandbox(
        path,
        nodes_path=nodes,
        id_column=options.id,
        ignore=options.ignore,
        unknown=split_values(options.unknown),
        missing_nodes="add" if options.add_undeclared_nodes else "error",
        source=options.source,
        target=options.target,
        weight=options.weight,
        time=options.time,
        kind=options.kind,
        merge=options.merge,
        graph_id=options.graph_id,
        layout=read_layout(options),
        nodes_layout=read_layout(options, "nodes_"),
        **roles,
    )
    report = loaded.report
    notify(
        f"{loaded.graph.num_nodes} nodes, {loaded.graph.num_edges} links; dropped "
        f"{report.num_self_loops} self-loops, {report.num_duplicates} duplicates, "
        f"{report.num_reciprocal} reverse directions"
    )
    for note in report.notes:
        notify(f"note: {note}")
    secrets = (options.private, *options.more_private)
    _list_uses(mark_secrets(report.columns, secrets, options.utility), notify)
    if report.modes:
        modes = format_modes({name: f"{count:,}" for name, count in report.modes.items()})
        notify(f"note: every link joins two modes: {modes}; only pairs across them are candidates")
    for warning in report.id_warnings:
        notify(f"warning: {warning}")
    return loaded


MANY_FEATURES = 20
"""Features that are told one by one."""


def _list_uses(columns: Sequence[ColumnUse], notify: Notify) -> None:
    """The table of uses, one line a column; of many features their number."""
    features = [c for c in columns if c.use == "feature"]
    if len(features) > MANY_FEATURES:
        total = sum(c.count for c in features)
        merged = replace(features[0], name="features", why="", count=total)
        columns = [*(c for c in columns if c.use != "feature"), merged]
    for column in columns:
        notify(str(column))


def split_values(texts: list[str]) -> list[str]:
    """Values of repeatable, comma-separated options."""
    return [value for text in texts for value in text.split(",")]


def read_layout(options: argparse.Namespace, prefix: str = "") -> dict[str, str]:
    """Layout options in the form that `sniff.parse_layout` takes."""
    given = {field: getattr(options, f"{prefix}{field}", None) for field in LAYOUT}
    return {field: choice for field, choice in given.items() if choice is not None}


MANY = ",…"
"""Suffix of a metavar for comma-separated values."""


def add_options(
    parser: argparse.ArgumentParser,
    *models: type[BaseModel],
    only: tuple[str, ...] = (),
    skipped: tuple[str, ...] = (),
) -> None:
    """Add one option per field of the models, or per field in `only`, with the field's default."""
    from pydantic import BaseModel

    from core.audit.asked.declared import Declaration

    for model in models:
        for name, field in model.model_fields.items():
            declared = Declaration.of(field)
            is_part = isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel)
            if (
                declared.has_option
                and not is_part
                and (not only or name in only)
                and name not in skipped
            ):
                flag = declared.find_option(name)
                parser.add_argument(flag, dest=name, **_describe_option(field, declared))


def add_field(parser: argparse.ArgumentParser, name: str, **keywords: Any) -> None:
    """Add the option of a field that a command reads by itself, since it names a file or method."""
    from core.audit.asked.declared import Declaration
    from core.audit.asked.spec import list_spec_fields

    field = list_spec_fields()[name]
    flag, text = Declaration.of(field).find_option(name), _describe_help(field)
    parser.add_argument(flag, help=text, **keywords)


def read_options(
    options: argparse.Namespace, *models: type[BaseModel], columns: Collection[str] = ()
) -> dict[str, Any]:
    """Fields of the models set by options, flat.

    columns  of the graph: a text that is the name of one is not split at its commas
    Raises InputError if none is asked for and is a column.
    """
    from core.audit.asked.declared import Declaration

    fields: dict[str, Any] = {}
    for model in models:
        for name, field in model.model_fields.items():
            declared, value = Declaration.of(field), getattr(options, name, None)
            if value is None or not declared.has_option:
                continue
            if isinstance(value, list) and MANY in declared.metavar:
                lists = ([text] if text in columns else text.split(",") for text in value)
                parts = [part.strip() for each in lists for part in each]
                if "none" in parts and "none" in columns and name == "publish_columns":
                    rule = "must not be none, which is the name of a column here"
                    remedy = "leave that column out by --ignore none, or rename it"
                    raise InputError(declared.find_option(name), rule, remedy=remedy)
                value = [part for part in dict.fromkeys(parts) if part not in ("", "none")]
            fields[name] = value
    return fields


def title_options(options: argparse.Namespace) -> TitleField:
    """Names fields in messages by the options that set them, others as fields of a file."""
    from core.audit.asked.declared import Declaration
    from core.audit.asked.spec import find_field, title_field

    def title(path: str) -> str:
        found = find_field(path)
        if found is None or getattr(options, found[0], None) is None:
            return title_field(path)
        return Declaration.of(found[1]).find_option(found[0])

    return title


def _describe_option(field: FieldInfo, declared: Declaration) -> dict[str, Any]:
    """Keywords of `add_argument` by the field's type, bounds and default."""
    keywords: dict[str, Any] = {"help": _describe_help(field)}
    kind, is_many = _find_type(field.annotation)
    if kind is bool:
        return {**keywords, "action": "store_true", "default": None}
    if is_many:
        keywords["action"] = "append"
    choices = declared.choices or (get_args(kind) if get_origin(kind) is Literal else None)
    if choices and MANY not in declared.metavar:
        return {**keywords, "choices": tuple(choices)}
    if kind in (int, float):
        keywords["type"] = kind
    usual = {int: "N", float: "SHARE"}.get(kind, "TEXT")
    return {**keywords, "metavar": declared.metavar or usual}


def _describe_help(field: FieldInfo) -> str:
    text = (field.description or "").rstrip(".")
    text = text[:1].lower() + text[1:]
    if isinstance(field.default, int | float) and not isinstance(field.default, bool):
        text += f" ({field.default:g})"
    return text.replace("%", "%%")


def _find_type(annotation: Any) -> tuple[Any, bool]:
    """Type of one value, and whether there are several; None is expressed by omission."""
    if get_origin(annotation) in (Union, UnionType):
        annotation = next(part for part in get_args(annotation) if part is not NoneType)
    if get_origin(annotation) is tuple:
        return _find_type(get_args(annotation)[0])[0], True
    return annotation, False
