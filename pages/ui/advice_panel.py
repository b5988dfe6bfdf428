"""Advice in the node panel: which links to hide, what it brings, what it costs."""

from __future__ import annotations

import streamlit as st

from core.audit.advice import Advice, AdviceRequest
from core.audit.jobs.advice import AdviceProgress
from core.audit.spec import MethodChoice
from core.audit.view import AuditView
from core.errors import AuditError
from core.findings import advice as advice_figures
from core.findings.labels import attack_threat, is_baseline, method_title
from core.findings.risk import compute_worst_case
from core.release import ORIGINAL
from pages.ui import job, login, page, service
from pages.ui.chart import download_table
from pages.ui.text import escape

START = "Look for links to hide"


def load_advice(view: AuditView, node: str) -> Advice | None:
    """The advice that the audit has on a node, if it is finished."""
    progress = service.open_service().advice.find(view.summary.id, node)
    return None if progress is None else progress.advice


def show_advice(view: AuditView, node: str) -> None:
    st.markdown("**Which links to hide**")
    attacks = _list_attacks(view, node)
    if not attacks:
        st.caption(
            "Advice is for the private attribute: it needs an attribute attack that is no null "
            "attacker. Against link attacks, PPGSL learns which links to hide for all at once."
        )
        return
    progress = service.open_service().advice.find(view.summary.id, node)
    if progress is not None and progress.is_active:
        _watch(view.summary.id, node)
        return
    if progress is not None:
        _show_result(progress, node)
    if login.check_change(view.summary.id, view.summary.person, "they can ask for advice"):
        _show_form(view, node, attacks, progress)


def _show_form(
    view: AuditView, node: str, attacks: list[MethodChoice], progress: AdviceProgress | None
) -> None:
    if progress is None:
        st.caption(
            "GCNs trained on the known people propose the links; the attack is then run again "
            "without them, on splits that took no part in the choice."
        )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        attack = st.selectbox(
            "Attack to weaken",
            attacks,
            format_func=lambda c: method_title(c.id),
            width=300,
            key=f"advice-attack-{node}",
            help="First: the worst one for this node.",
        )
        max_links = st.number_input(
            "Links at most", 1, 10, 3, key="advice-links", width=130, persist_state="session"
        )
        repeats = st.number_input(
            "Repeats",
            2,
            50,
            5,
            key="advice-repeats",
            width=130,
            persist_state="session",
            help="Each runs the attack anew with and without the links.",
        )
        label = START if progress is None else "Look again"
        if st.button(label, key="advice-start", icon=":material/lightbulb:"):
            request = AdviceRequest(
                node=node, attack=attack, max_links=int(max_links), num_repeats=int(repeats)
            )
            try:
                service.open_service().advice.start(view.summary.id, request)
            except AuditError as error:
                page.show_error(error)
                return
            st.rerun()


def _watch(audit_id: str, node: str) -> None:
    advice = service.open_service().advice
    job.watch_job(
        lambda: advice.find(audit_id, node),
        lambda run: f"Looking for links to hide: {job.describe_message(run.message)}",
        "Cancel",
        "advice-cancel",
        lambda: advice.cancel_node(audit_id, node),
    )


def _show_result(progress: AdviceProgress, node: str) -> None:
    advice = progress.advice
    if advice is None:
        reason = f": {escape(progress.reason, 300)}" if progress.reason else ""
        st.warning(f"The advice was {progress.state}{reason}.")
        return
    with st.container(key="advice-result"):
        st.markdown(advice_figures.describe_advice(advice))
        cost = advice_figures.describe_advice_cost(advice)
        if cost:
            st.markdown(cost)
    if advice.links:
        steps = advice_figures.compute_advice_steps(advice)
        st.dataframe(steps, hide_index=True)
        with st.container(horizontal=True, wrap=False):
            st.caption(
                "Dashed red in the picture. The risk is measured anew for each row; change: mean "
                "of the paired differences, 95 % intervals over repeats. No link is held back "
                "for tests here, so that the risk may differ from the table above.",
                width="stretch",
            )
            download_table(steps, f"advice-{node}")


def _list_attacks(view: AuditView, node: str) -> list[MethodChoice]:
    """Attribute attacks of the audit that structure can weaken, the worst for the node first."""
    found = [
        choice
        for choice in view.spec.attacks
        if attack_threat(choice.id) == "attribute" and not is_baseline(choice.id)
    ]
    rows = view.nodes[(view.nodes.node == node) & (view.nodes.release == ORIGINAL)]
    rows = rows[rows.attack.isin([choice.id for choice in found])]
    if not rows.empty:
        worst = compute_worst_case(rows).attack.iloc[0]
        found.sort(key=lambda choice: choice.id != worst)
    return found
