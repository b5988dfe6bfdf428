"""Who knows what, by clicks; and a person's risk or what an attacker adds to it."""

from __future__ import annotations

from tests.pages.conftest import OpenApp, open_tab


def test_columns_groups_and_attackers_are_chosen_by_clicks(open_app: OpenApp, example: str) -> None:
    app = open_app("data", graph=example)
    fields = {box.label: box for box in app.multiselect}
    private = fields["Further private columns"].options
    fields["Further private columns"].set_value(private[:1]).run()
    fields = {box.label: box for box in app.multiselect}
    fields["Compare groups by"].set_value(fields["Compare groups by"].options[:1]).run()
    fields = {box.label: box for box in app.multiselect}
    fields["Further attackers: share of nodes they know"].set_value([0.1, 0.3]).run()
    knows = next(
        box for box in app.selectbox if box.label.startswith("Private values that a defense uses")
    )
    knows.set_value("column").run()
    assert not app.exception
    chosen = app.session_state["threats"][app.session_state["graph"]]
    assert chosen.threats.more_private == (private[0],)
    assert len(chosen.groups) == 1
    assert chosen.groups != chosen.threats.more_private
    assert [k.text for k in chosen.spec_fields["knowledge"].auxiliary] == [
        "auxiliary:0.1",
        "auxiliary:0.3",
    ]
    assert chosen.spec_fields["publisher_knows"] == "column"


def test_the_risk_page_switches_between_advantage_and_risk(
    open_app: OpenApp, audit_id: str
) -> None:
    app = open_app("risk", audit=audit_id, threat="link")
    open_tab(app, "risk-tabs-4", "Number exposed")
    assert any("Upper bound on the original for" in item.value for item in app.caption)
    app.segmented_control(key="risk-scale").set_value("risk").run()
    assert not app.exception
