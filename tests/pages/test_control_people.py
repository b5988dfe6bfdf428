"""What being in a release adds stands folded on the Attack page, where people were left out."""

from __future__ import annotations

from core.audit.asked.spec import AuditSpec
from core.data.catalogue import load_dataset
from tests.inline import run_inline


def test_figures_on_control_people_are_a_fold_of_the_attack_page(open_app, audited, audit_id):
    graph = load_dataset("karate").graph
    fields = {
        "graph_hash": graph.content_hash,
        "hide_links": 0.1,
        "control": 0.3,
        "num_repeats": 2,
        "attacks": [{"key": "adamic_adar"}],
    }
    with_control = run_inline(AuditSpec.check_spec(fields), graph, audited[0].home).summary.id
    app = open_app("attack", audit=with_control)
    app.session_state["control-open-False"] = True
    app.run()
    assert not app.exception
    (table,) = [item.value for item in app.dataframe if "Control nodes" in item.value]
    assert list(table.Release) == ["Original"]
    assert any("private value of control nodes is in" in caption.value for caption in app.caption)
    other = open_app("attack", audit=audit_id)
    assert not any("Control nodes" in item.label for item in other.expander)
