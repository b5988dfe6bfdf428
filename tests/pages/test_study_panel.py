"""A study started by a click: its points become audits, and the chart holds their numbers."""

from __future__ import annotations

import time

import pytest

from core.audit import studies
from tests.pages.conftest import TIMEOUT_S, OpenApp, open_tab
from tests.pages.test_pages import texts


def test_a_click_runs_the_study_and_its_sentence_repeats_the_points(
    open_app: OpenApp, audited, audit_id: str
) -> None:
    service, view = audited[0], audited[0].get_view(audit_id)
    app = open_tab(open_app("attack", audit=audit_id), "attack-tabs-3", "Other conditions")
    app.button(key="study-known").click().run()
    assert not app.exception
    end = time.monotonic() + TIMEOUT_S
    while (study := studies.list_studies(service, view.spec.graph_hash)[0]).is_active:
        assert time.monotonic() < end
        time.sleep(0.5)
    assert study.kind.key == "known"
    assert [share for share, _ in study.points] == list(study.kind.shares)
    app.run()
    last = service.get_view(dict(study.points)[study.kind.shares[-1]].id)
    value = last.estimate("original", "label_propagation", "auc").value
    assert f"{value:.2f} [" in texts(app)
    assert app.button(key="study-known").label == "Run the study again"


@pytest.mark.parametrize("kind", ["features"])
def test_a_study_that_cannot_be_made_says_why(open_app: OpenApp, audit_id: str, kind: str) -> None:
    app = open_tab(open_app("attack", audit=audit_id), "attack-tabs-3", "Other conditions")
    assert "Not available: this graph has no features." in texts(app)
    assert app.button(key=f"study-{kind}").disabled
