"""One click audits a defense at the strengths that it has not tried."""

from __future__ import annotations

from pages.ui import page
from tests.pages.conftest import OpenApp


def test_a_click_audits_the_other_strengths(open_app: OpenApp, audit_id: str, monkeypatch) -> None:
    started = []
    monkeypatch.setattr(page, "start_audit", started.append)
    for name in ("tradeoff", "defend"):
        app = open_app(name, audit=audit_id)
        assert app.button(key="sweep").label == "Audit 4 more strengths"
        app.button(key="sweep").click().run()
        assert not app.exception
    strengths = [[c.config["strength"] for c in fields["defenses"]] for fields in started]
    assert strengths == [[0.5, 0.1, 0.3, 0.7, 0.9]] * 2
