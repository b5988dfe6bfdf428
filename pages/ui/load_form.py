"""Form that loads a graph: uploaded files, an example or a catalogue entry."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from core.data.formats import SUFFIXES
from core.errors import AuditError
from pages.ui import page

if TYPE_CHECKING:
    from core.data.catalogue import DatasetInfo

WAYS = {
    "upload": ":material/upload_file: Upload files",
    "example": ":material/science: Try an example",
    "catalogue": ":material/database: Catalogue",
}


def show_load_form() -> None:
    """Show the form; a loaded graph opens on the Data page."""
    with st.container(border=True, key="load-form"):
        way = st.segmented_control(
            "Load a graph",
            list(WAYS),
            default="upload",
            format_func=WAYS.__getitem__,
            key="load-way",
            persist_state="session",
            required=True,
        )
        if way == "upload":
            _show_upload()
        else:
            _show_datasets(way)


def _show_upload() -> None:
    uploads = st.file_uploader(
        "Links and, optionally, a node table",
        type=SUFFIXES,
        accept_multiple_files=True,
        key="upload",
        help="Edge lists (CSV, TSV, TXT, also .gz, Parquet, Arrow), node tables (CSV, Parquet), "
        "matrices, GraphML, GEXF, GML, JSON of nodes and links, Pajek, Matrix Market, UCINET DL, "
        "SIF, NPZ, PyTorch Geometric .pt, MUSAE folders. Files stay on this machine.",
    )
    if uploads:
        from pages.ui.upload import show_upload

        show_upload(uploads)
    else:
        st.caption("Links: two columns of ids. Node table: one row per node, with an id column.")


def _show_datasets(key: str) -> None:
    from core.data.catalogue import list_datasets, load_dataset
    from pages.ui.threat_choice import ThreatChoice

    infos = [i for i in list_datasets() if i.is_built_in == (key == "example")]
    info = st.selectbox("Graph", infos, format_func=_describe_dataset, key=f"dataset-{key}")
    if info is None:
        return
    st.caption(f"{info.summary} Source: {info.source}.")
    if not info.is_at_hand:
        st.caption("This graph will be downloaded from its publisher.")
    if st.button(f"Load {info.title}", key=f"load-{key}", type="primary"):
        try:
            with st.spinner(f"Loading {info.title}"):
                loaded = load_dataset(info.name)
        except AuditError as error:
            page.show_error(error)
            return
        page.open_loaded(loaded, ThreatChoice.propose(loaded.graph, info.private, info.utility))


def _describe_dataset(info: DatasetInfo) -> str:
    links = f", {info.num_edges:,} links" if info.num_edges else ""
    return f"{info.title}: {info.num_nodes:,} nodes{links}"
