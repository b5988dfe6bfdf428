"""Pseudonyms of one recipient on the Report page."""

from __future__ import annotations

import io
import zipfile

import pytest
from streamlit.testing.v1 import AppTest

from core.data.keyed_pseudonyms import KeyedPseudonyms
from core.release import Release
from pages.ui.documents import make_archive
from tests.oracles.graphs import two_communities

SECRET = bytes(range(32))


def ask() -> None:
    import streamlit as st

    from pages.ui import publishing

    st.session_state["found"] = publishing._choose_pseudonyms(False, st.session_state["keeps"])


def run(keeps=True) -> AppTest:
    app = AppTest.from_function(ask)
    app.session_state["keeps"] = keeps
    return app.run()


def test_ids_are_numbered_unless_a_recipient_is_named():
    app = run()
    assert app.session_state["found"] is True
    assert app.toggle[0].set_value(False).run().session_state["found"] is False
    assert not app.text_input
    new_nodes = run(keeps=False)
    assert new_nodes.session_state["found"] is True
    assert not new_nodes.text_input


def test_a_recipient_and_a_secret_make_the_pseudonyms():
    app = run()
    app.text_input[0].input("clinic").run()
    assert app.session_state["found"] is None  # nothing is handed out before both are there
    assert "must hold 64 hexadecimal digits" in app.error[0].value
    app.file_uploader[0].upload("s", SECRET.hex().encode() + b"\n", "text/plain").run()
    assert app.session_state["found"] == KeyedPseudonyms(SECRET, "clinic")
    assert not app.error
    app.text_input[0].input("").run()
    assert app.session_state["found"] is None
    assert "must be a name" in app.error[0].value


@pytest.mark.parametrize("pseudonyms", [False, True, KeyedPseudonyms(SECRET, "clinic")])
def test_the_download_holds_them(pseudonyms):
    graph = two_communities(20)
    content = make_archive(Release(graph), "r", {}, ["csv"], (), pseudonyms)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        ids = archive.read("r.nodes.csv").decode().replace('"', "").split()[1:]
    names = graph.node_ids if not pseudonyms else [f"n{k}" for k in range(1, 21)]
    if isinstance(pseudonyms, KeyedPseudonyms):
        names = pseudonyms.make_pseudonyms(graph.node_ids)
    assert sorted(ids) == sorted(names)
