"""The advice in the node panel, without a cluster: what is stored is shown, and nothing else."""

from __future__ import annotations

from core.audit.asked.method_choice import MethodChoice
from core.audit.computing.advice import Advice, AdviceRequest, AdvisedLink
from core.audit.store.states import State
from tests.pages.conftest import OpenApp
from tests.pages.test_pages import texts

NODE = "34"


def test_advice_is_offered_for_the_private_attribute(open_app: OpenApp, audit_id: str) -> None:
    app = open_app("risk", audit=audit_id, node=NODE, threat="attribute")
    box = app.selectbox(key=f"advice-attack-{NODE}")
    assert box.options == ["Label propagation"]  # no baseline attackers, no link attacks
    assert app.button(key="advice-start").label == "Find links to hide"


def test_stored_advice_survives_a_reload(open_app: OpenApp, audited, audit_id: str) -> None:
    advice = Advice(
        request=AdviceRequest(
            node="33", attack=MethodChoice(key="label_propagation"), num_repeats=2
        ),
        base=0.5,
        links=(AdvisedLink(source="33", target="34", is_own=True, change=-1.0),),
        risks={0: (0.9, 0.92), 1: (0.5, 0.52)},
        degree=12,
        num_links=78,
    )
    jobs, store = audited[0].advice, audited[0]._store
    key = jobs.find_key(advice.request, audit_id)
    store.add_job(key, "advice", audit_id=audit_id, request=advice.request.model_dump(mode="json"))
    store.update_job(key, state=State.DONE, result=advice.model_dump(mode="json"))
    app = open_app("risk", audit=audit_id, node="33", threat="attribute")
    assert "Hide this link: 0.91" in texts(app)
    assert "1 of 78 links" in texts(app)
    assert "Dashed red: links that the advice hides." in texts(app)
    assert app.button(key="advice-start").label == "Search again"
