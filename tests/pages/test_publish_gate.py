"""The gate of a publishing run asks whether one more release may be made."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from tests.findings.test_published_before import DELETION, OTHER, OWN


def ask() -> None:
    import streamlit as st

    from pages.ui.publishing import _check_policy
    from tests.findings.test_published_before import DELETION, OWN, publish

    view = publish(*[(DELETION, audit) for audit in st.session_state["runs"]])
    st.session_state["policy-picked"] = (OWN, "partner")
    st.session_state["is_allowed"] = _check_policy(view, DELETION)


@pytest.mark.parametrize("runs", [[], [OWN], [OTHER], [OWN, OWN]])
def test_a_second_release_is_a_decision_of_its_own(runs: list[str]) -> None:
    """The audit says "publish" of the run that it made, and the next one was free of any word."""
    app = AppTest.from_function(ask)
    app.session_state["runs"] = runs
    app.run(timeout=120)
    assert not app.exception
    assert app.session_state["is_allowed"] == (not runs)
    assert len(app.warning) == bool(runs)
    if runs:
        assert "published before" in app.warning[0].value
        app.checkbox(f"publish-against-{DELETION}").check().run(timeout=120)
        assert app.session_state["is_allowed"]
