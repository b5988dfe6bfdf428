"""The door for a release that was made elsewhere: its file beside the open graph."""

from __future__ import annotations

import streamlit as st

from core.audit.presets import PRESETS
from core.audit.spec import MethodChoice
from core.data import sandbox
from core.data.external_release import align_release
from core.defenses.external import EXTERNAL_FIELDS
from core.graph import Graph
from core.words import count_noun
from pages.ui import cache, page, session
from pages.ui.second_graph_form import store_once
from pages.ui.upload import FORMATS, ask_layout, store_upload


def show_external_form(graph: Graph) -> None:
    """Ask for the release's links and start the quick attacks on it and on the open graph."""
    with st.expander("I already have an anonymised file of it", icon=":material/fact_check:"):
        st.caption(
            "Give the links as they would leave, with the same ids. Links that the file lacks are "
            "withheld ones, which attackers look for; what else is private is set on Data."
        )
        file = st.file_uploader("Links of the anonymised file", type=FORMATS, key="external-file")
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
        count = count_noun(len(withheld), "link")
        told = f"It lacks {count} of the open graph." if withheld else "It lacks no link."
        if graph.feature_names and not cache.load_graph(release).feature_names:
            told += " Attackers read no column of it: the command `core judge` takes columns too."
        st.caption(told)
        if st.button("Attack it", key="judge", type="primary", icon=":material/play_arrow:"):
            _start(release, withheld)


def _start(release: str, withheld: list[tuple[str, str]]) -> None:
    threats = session.current_threats().threats
    quick, has_column = PRESETS[0], threats.private is not None
    keys = quick.choose_attacks(bool(withheld), has_column)
    page.start_audit(
        {
            **EXTERNAL_FIELDS,
            "external_release": release,
            "hide_links": None,
            "sensitive_links": withheld or None,
            "released_links": not withheld and not has_column,
            "attacks": [MethodChoice(key=key) for key in keys],
        }
    )
