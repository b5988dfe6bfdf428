"""One person among those who look the same, in the panel of a person."""

from __future__ import annotations

import streamlit as st

from core.audit.view import AuditView
from core.findings.ego_network import describe_fingerprint
from core.findings.identity import describe_identity, list_hiding
from core.findings.labels import release_title
from core.graph import Graph
from pages.ui import cache
from pages.ui.text import escape

MAX_RELEASES = 3


def show_identity(view: AuditView, graph: Graph, node: str, number: int) -> None:
    """How many look the same, by what; and the way to the releases that hide the person."""
    known = describe_identity(view.nodes, node, int(graph.degrees[number]))
    if not known:
        return
    st.markdown("\n".join(f"- {sentence}" for sentence in known))
    hiding = list_hiding(view.nodes, node)[:MAX_RELEASES]
    if not hiding:
        return
    with st.container(horizontal=True):
        for release in hiding:
            st.button(
                f"See it in {release_title(release)}",
                key=f"hidden-in-{release}",
                icon=":material/visibility_off:",
                on_click=_show_release,
                args=(release,),
            )


def show_fingerprint(view: AuditView, release: str, number: int) -> None:
    """What there is to be known of the person in a release, beside the picture."""
    said = describe_fingerprint(cache.load_release(view, release), number)
    st.caption(f"Fingerprint in this release: {escape(said, 200)}.")


def _show_release(release: str) -> None:
    st.session_state["ego-release"] = release
