"""Form that audits a release of the open graph made with another tool."""

from __future__ import annotations

import streamlit as st

from core.audit.asked.presets import PRESETS, Asked, choose_attacks
from core.data import sandbox
from core.data.external_release import align_release, lacks_columns
from core.data.formats import SUFFIXES
from core.defenses.external import EXTERNAL_FIELDS
from core.graph import Graph
from core.words import count_noun
from pages.ui import cache, page, session
from pages.ui.second_graph_form import store_once
from pages.ui.spec_form import read_label
from pages.ui.upload import ask_layout, store_upload


def show_external_form(graph: Graph) -> None:
    """Ask for the links of the release and start the quick attacks on both graphs."""
    with st.expander("Audit an anonymised file of this graph", icon=":material/fact_check:"):
        st.caption(
            "The file needs the same ids. Links of the open graph that it lacks count as withheld "
            "links. Set the private column on the Data page."
        )
        file = st.file_uploader(read_label("external_release"), type=SUFFIXES, key="external-file")
        if file is None:
            return
        path = store_upload(file)
        layout = ask_layout(path, is_nodes=False)
        if None in layout.values():
            return

        choice = session.current_threats()
        columns = (*choice.threats.columns, choice.disclosure.utility)
        secret = [column for column in columns if column is not None]

        def load() -> Graph:
            return align_release(graph, sandbox.load_in_sandbox(path, layout=layout).graph, secret)

        asked = (graph.content_hash, file.file_id, *secret, *map(str, layout.items()))
        release = store_once("external", asked, load)
        if release is None:
            return
        withheld = cache.find_withheld(graph.content_hash, release)
        text = "It has every link of the open graph."
        if withheld:
            text = f"It lacks {count_noun(len(withheld), 'link')} of the open graph."
        if lacks_columns(graph, cache.load_graph(release), secret):
            text += " The file has no columns. To audit columns too, use the command `core judge`."
        st.caption(text)
        if st.button("Attack the file", key="judge", type="primary", icon=":material/play_arrow:"):
            _start(release, withheld)


def _start(release: str, withheld: list[tuple[str, str]]) -> None:
    threats = session.current_threats().threats
    has_column = threats.private is not None
    is_released = not withheld and not has_column
    asked = Asked(bool(withheld), has_column, released=is_released)
    page.start_audit(
        {
            **EXTERNAL_FIELDS,
            "external_release": release,
            "hide_links": None,
            "sensitive_links": withheld or None,
            "released_links": is_released,
            "attacks": choose_attacks(asked, [PRESETS[0].key]),
        }
    )
