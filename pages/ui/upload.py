"""Uploaded files: preview, roles of the columns, graph."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from core.data import readers, sandbox
from core.data.assembly import MERGES
from core.data.columns import guess_roles, guess_unknown_markers
from core.data.link_columns import (
    NO_WEIGHT,
    describe_links,
    find_referring,
    guess_link_roles,
    holds_links,
)
from core.data.link_values import choose_column
from core.data.sandbox import make_folder
from core.data.sniff import DECIMALS, HEADERS, SEPARATORS, Field, TableLayout
from core.errors import AuditError, ResourceError
from core.words import count_noun
from pages.ui import page
from pages.ui.text import escape
from pages.ui.threat_choice import DEFAULT_SHARE, ThreatChoice

LINKS, NODES, WORDS, TARGETS, UNUSED = (
    "Links",
    "Node table",
    "Word features",
    "Classes (targets)",
    "Not used",
)
TABULAR = ("text", "tables")
"""Formats of files that may be of links or of nodes."""
TABLES = (NODES, TARGETS)
"""Parts with a header and one row per node."""
PREVIEW_ROWS = 8
READING = "Reading the files"
MAX_UPLOAD_MB = 500
"""Largest total size of the files of one session, which the server keeps in memory."""
SCAN_ROWS = 20_000
"""Rows that are searched for values that may mean "unknown"."""
MISSING_NODES = {"error": "report an error", "drop": "drop the links", "add": "add the nodes"}
NODE_ROLES = ("feature", "attribute", "ignore")
FIELDS: dict[Field, list[str]] = {
    "separator": list(SEPARATORS),
    "decimal": list(DECIMALS),
    "header": list(HEADERS),
}
FIELD_TITLES: dict[Field, str] = {
    "separator": "Separator",
    "decimal": "Decimal mark",
    "header": "Header row",
}


def show_upload(uploads: list[Any]) -> None:
    """Ask how uploaded files are read; the loaded graph opens on the Data page."""
    try:
        _check_total(uploads)
        paths = [store_upload(upload) for upload in uploads]
        parts, layouts = _assign_parts(paths)
        options = _ask(parts, layouts)
        if parts.get(LINKS) is None:
            st.warning(
                "One file must contain the links. Add it, or choose above which file it is.",
                icon=":material/link:",
            )
            return
        stem = (parts.get(NODES) or parts[LINKS]).name.split(".")[0]
        name = st.text_input("Name of the graph", stem, key=f"name-{stem}", width=280)
        is_open = any(None in layout.values() for layout in layouts.values())
        is_open |= None in (options.get("source", ""), options.get("target", ""))
        if is_open:
            st.caption("Choose above how the files are read. Then load the graph.")
        if st.button("Load the graph", type="primary", key="load-upload", disabled=is_open):
            with st.spinner(READING):
                loaded = sandbox.load_in_sandbox(parts[LINKS], name=name or stem, **options)
            page.open_loaded(
                loaded,
                ThreatChoice.of_fields(
                    private=options["private"], utility=options["utility"], hide_links=DEFAULT_SHARE
                ),
            )
    except AuditError as error:
        page.show_error(error)


def store_upload(upload: Any) -> Path:
    """Path of the uploaded file, stored for the lifetime of the session."""
    folders = st.session_state.setdefault("uploads", {})
    if upload.file_id not in folders:
        folder = make_folder("upload")
        name = Path(upload.name.replace("\\", "/")).name or "upload"
        (Path(folder.name) / name).write_bytes(upload.getbuffer())
        folders[upload.file_id] = (folder, name)
    folder, name = folders[upload.file_id]
    path: Path = Path(folder.name) / name
    return path


def _check_total(uploads: list[Any]) -> None:
    total = sum(upload.size for upload in uploads) / 1e6
    if total > MAX_UPLOAD_MB:
        raise ResourceError(
            "the files",
            f"must have at most {MAX_UPLOAD_MB} MB together",
            f"{total:,.0f} MB",
            "remove some, or use the command line",
        )


Layouts = dict[Path, dict[str, str | None]]
"""File → chosen separator, decimal mark and header; None if the choice is still open."""


def _assign_parts(paths: list[Path]) -> tuple[dict[str, Path], Layouts]:
    """Ask for the content and layout of each file; defaults come from the content."""
    choices = [LINKS, NODES, WORDS, TARGETS, UNUSED]
    parts: dict[str, Path] = {}
    layouts: Layouts = {}
    links = _find_links(paths)
    columns = st.columns(min(len(paths), 2), gap="small")
    for number, path in enumerate(paths):
        proposal = LINKS if path == links else _propose_part(path)
        with columns[number % 2].container(border=True):
            part = st.selectbox(
                escape(path.name), choices, choices.index(proposal), key=f"part-{path}"
            )
            layout = {} if part in (WORDS, UNUSED) else ask_layout(path, part in TABLES)
            preview = _preview(path, PREVIEW_ROWS, part in TABLES, layout)
            if not preview.empty:
                st.dataframe(preview, hide_index=True, height=142, alt=f"First rows of {path.name}")
        if part != UNUSED:
            parts[part], layouts[path] = path, layout
    return parts, layouts


def ask_layout(path: Path, is_nodes: bool) -> dict[str, str | None]:
    """Ask how a text table is read; detected fields are preselected, ambiguous ones are not."""
    found = _sniff(str(path), path.stat().st_mtime, is_nodes)
    if found is None:
        return {}
    detected, layout = found.describe(), dict[str, str | None]()
    questions = {question.field: question for question in found.questions}
    with st.expander(
        "How the file is read: please choose" if questions else "How the file is read",
        expanded=bool(questions),
        icon=":material/help:" if questions else ":material/table_rows:",
    ):
        for question in found.questions:
            st.caption(f"The file can be read in two ways: {escape(question.reason, 300)}.")
        with st.grid(3, min_column_width=120, gap="small"):
            for field, known in FIELDS.items():
                is_asked = field in questions
                choice = st.selectbox(
                    FIELD_TITLES[field],
                    known,
                    None if is_asked else known.index(detected[field]),
                    key=f"{field}-{path}",
                    placeholder="choose",
                )
                if is_asked or choice != detected[field]:
                    layout[field] = choice
    return layout


@st.cache_data(max_entries=16, show_spinner=READING)
def _sniff(path: str, changed: float, is_nodes: bool) -> TableLayout | None:
    return sandbox.sniff_in_sandbox(path, is_nodes)


def _find_links(paths: list[Path]) -> Path | None:
    """The file that most likely contains the links: columns named like ends, the first with ids
    that repeat, or two columns with ids of another file."""
    likely = [p for p in paths if readers.detect_format(p) not in (*TABULAR, "json", "parquet")]
    texts = [path for path in paths if readers.detect_format(path) in TABULAR]
    texts = [path for path in texts if not _holds_targets(path)]
    if len(paths) == 1:
        likely += [p for p in paths if p in texts or readers.detect_format(p) not in TABULAR]
    for path in [] if likely else texts:
        table = _preview(path, SCAN_ROWS, False)
        if holds_links(table):
            likely.insert(0 if not table.iloc[:, 0].is_unique else len(likely), path)
    if not likely:
        place = find_referring([_preview(path, SCAN_ROWS, False) for path in texts])
        likely = [] if place is None else [texts[place]]
    return likely[0] if likely else None


def _propose_part(path: Path) -> str:
    if readers.detect_format(path) == "json":
        return WORDS
    return TARGETS if _holds_targets(path) else NODES


def _holds_targets(path: Path) -> bool:
    """Whether a file is a table of classes; like links, it has two columns of numbers."""
    if "target" in path.stem.lower():
        return True
    header = _preview(path, PREVIEW_ROWS, True).columns
    return [str(name).strip().lower() for name in header] == ["id", "target"]


def _ask(parts: dict[str, Path], layouts: Layouts) -> dict[str, Any]:
    """Roles of the columns and markers of unknown values, as arguments of `load_graph`."""
    options: dict[str, Any] = {
        "nodes_path": parts.get(NODES) or parts.get(WORDS),
        "target_path": parts.get(TARGETS),
        "private": None,
        "utility": None,
        **_ask_links(parts.get(LINKS), layouts.get(parts.get(LINKS, Path()), {})),
    }
    links, table_path = parts.get(LINKS), parts.get(NODES) or parts.get(TARGETS)
    if links is not None:
        options["layout"] = layouts.get(links) or None
    if table_path is None:
        if links is not None and readers.detect_format(links) in readers.ATTRIBUTED:
            options["unknown"] = _ask_unknown(pd.DataFrame())
        return options
    options["nodes_layout"] = layouts.get(table_path) or None
    table = _preview(table_path, SCAN_ROWS, True, layouts.get(table_path))
    ends: set[str] = set()
    if links is not None:
        pairs = _preview(links, SCAN_ROWS, False, layouts.get(links))
        named = [options.get(end) for end in ("source", "target")]
        columns_of_ends = [c for c in named if c is not None] or list(pairs.columns[:2])
        ends = set(pairs[columns_of_ends].to_numpy(object).ravel())
    roles = guess_roles(table, ends)
    columns = [str(column) for column in table.columns]
    with st.container(horizontal=True):
        options["id_column"] = _choose_column("Id column", columns, roles, "id", False)
        options["private"] = _choose_column("Private column", columns, roles, "private")
        options["utility"] = _choose_column("Utility column", columns, roles, "utility")
    options["unknown"] = _ask_unknown(table)
    taken = {options["id_column"], options["private"], options["utility"]}
    options["roles"] = _ask_roles(table, roles, taken)
    return options


def _ask_links(path: Path | None, layout: dict[str, str | None]) -> dict[str, Any]:
    """Ask for the columns of both ends and of the weight, how repeated links are merged, and how
    undeclared nodes are treated."""
    table = pd.DataFrame() if path is None else _preview(path, SCAN_ROWS, False, layout)
    options: dict[str, Any] = {}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if table.shape[1] > 2:
            found = guess_link_roles(table)
            roles = {role: column for column, role in found.roles.items()}
            columns = list(found.roles)
            for end in ("source", "target"):
                proposal = None if found.question else columns.index(roles[end])
                options[end] = st.selectbox(
                    f"Column of the {end}",
                    columns,
                    proposal,
                    key=f"{end}-{path}",
                    placeholder="choose",
                    width=200,
                )
            weights = [NO_WEIGHT, *columns]
            options["weight"] = st.selectbox(
                "Column of the weight",
                weights,
                weights.index(roles.get("weight", NO_WEIGHT)),
                key=f"weight-{path}",
                width=200,
            )
        else:
            ignore = st.checkbox("Ignore link weights", key="ignore-weights")
            options["weight"] = NO_WEIGHT if ignore else None
        options["merge"] = st.selectbox(
            "Weight of a repeated link",
            list(MERGES),
            list(MERGES).index("max"),
            key="merge",
            width=200,
            help="Of the rows that give one link, in either direction.",
        )
        options["missing_nodes"] = st.selectbox(
            "Links to undeclared nodes",
            list(MISSING_NODES),
            format_func=MISSING_NODES.__getitem__,
            key="missing-nodes",
            width=280,
            help="Nodes are declared by the node table, or by formats that list nodes.",
        )
    chosen = [column for column in options.values() if column is not None]
    for column in table if table.shape[1] > 2 else ():
        if column not in chosen:
            read = choose_column(str(column), table[column], {})
            st.caption(f"Column {escape(read.name)} is {read.use}: {escape(read.why, 200)}.")
    asked = [options.get(role) for role in ("source", "target", "weight")]
    named = map(str, table.columns) if table.shape[1] == 2 else asked
    known = [c for c in named if c is not None and c != NO_WEIGHT]
    if not table.empty and (table.shape[1] == 2 or None not in asked[:2]):
        st.caption(f"Read as: {escape(describe_links(table, known), 300)}.")
    return options


def _preview(
    path: Path, rows: int, is_nodes: bool, layout: dict[str, str | None] | None = None
) -> pd.DataFrame:
    chosen = tuple((field, choice) for field, choice in (layout or {}).items() if choice)
    return _load_preview(str(path), path.stat().st_mtime, rows, is_nodes, chosen)


@st.cache_data(max_entries=16, show_spinner=READING)
def _load_preview(
    path: str, changed: float, rows: int, is_nodes: bool, layout: tuple[tuple[str, str], ...]
) -> pd.DataFrame:
    return sandbox.preview_in_sandbox(path, rows, is_nodes, dict(layout))


def _choose_column(
    title: str, columns: list[str], roles: dict[str, str], role: str, optional: bool = True
) -> str | None:
    choices: list[str | None] = [None, *columns] if optional else [*columns]
    proposal = next((c for c in columns if roles.get(c) == role), None)
    index = choices.index(proposal) if proposal in choices else 0
    return st.selectbox(
        title,
        choices,
        index,
        format_func=lambda c: "none" if c is None else c,
        key=f"column-{role}",
        width=280,
    )


def _ask_unknown(table: pd.DataFrame) -> list[str]:
    """Ask for values that mean "unknown"; candidates are offered, none is preselected."""
    found: dict[str, list[str]] = {}
    for column, markers in guess_unknown_markers(table).items():
        for marker in markers:
            found.setdefault(marker, []).append(column)
    chosen = st.multiselect(
        "Which values mean “unknown”?",
        list(found),
        key="unknown",
        accept_new_options=True,
        placeholder="none",
        help="Empty cells always count as unknown.",
    )
    for marker, columns in found.items():
        if marker not in chosen:
            names = ", ".join(escape(name) for name in columns[:4])
            more = f" and {count_noun(len(columns) - 4, 'more column')}" if len(columns) > 4 else ""
            st.caption(f"{escape(marker)} occurs in {names}{more} and may mean unknown.")
    return chosen


def _ask_roles(
    table: pd.DataFrame, roles: dict[str, str], taken: set[str | None]
) -> dict[str, str]:
    """Ask for the roles of the other columns: feature, attribute or ignore."""
    others = [c for c in map(str, table.columns) if c not in taken]
    if not others:
        return {}
    rows = pd.DataFrame(
        {
            "column": others,
            "first values": [", ".join(map(str, table[c].head(4))) for c in others],
            "role": [
                roles[c] if roles.get(c) in NODE_ROLES else _fall_back(roles[c]) for c in others
            ],
        }
    )
    counts = rows.role.value_counts()
    summary = ", ".join(f"{counts[role]} {role}" for role in NODE_ROLES if role in counts)
    with st.expander(f"{count_noun(len(others), 'other column')}: {summary}"):
        st.caption(
            "Features are numbers that the attacker sees. Attributes are classes that can be "
            "private or useful. Ignored columns do not enter the audit."
        )
        edited = st.data_editor(
            rows,
            hide_index=True,
            key="roles",
            disabled=["column", "first values"],
            column_config={
                "role": st.column_config.SelectboxColumn(
                    "role", options=list(NODE_ROLES), required=True
                )
            },
        )
    return {str(column): str(role) for column, role in zip(edited.column, edited.role, strict=True)}


def _fall_back(role: str) -> str:
    return "attribute" if role in ("private", "utility") else "ignore"
