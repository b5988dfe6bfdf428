"""Advice in the node panel: which links to hide, with effect and cost."""

from __future__ import annotations

import streamlit as st

from core.audit.asked.method_choice import MethodChoice
from core.audit.computing.advice import Advice, AdviceRequest
from core.audit.jobs.advice import AdviceProgress
from core.audit.results.view import AuditView
from core.errors import AuditError
from core.findings import advice as advice_figures
from core.release import ORIGINAL
from pages.ui import job, login, page, service
from pages.ui.chart import download_table
from pages.ui.text import escape

START = "Find links to hide"


def load_advice(view: AuditView, node: str) -> Advice | None:
    """Finished advice on a node, or None."""
    progress = service.open_service().advice.find(view.summary.id, node)
    return None if progress is None else progress.advice


def show_advice(view: AuditView, node: str) -> None:
    st.markdown("**Which links to hide**")
    attacks = _list_attacks(view, node)
    if not attacks:
        st.caption(
            "Advice needs an attribute attack that is not a baseline. Add one on the Attack page. "
            "Against link attacks, the defense PPGSL learns which links to hide."
        )
        return
    progress = service.open_service().advice.find(view.summary.id, node)
    if progress is not None and progress.is_active:
        _watch(view.summary.id, node)
        return
    if progress is not None:
        _show_result(progress, node)
    if login.check_change(view.summary.id, view.summary.person, "request advice"):
        _show_form(view, node, attacks, progress)


def _show_form(
    view: AuditView, node: str, attacks: list[MethodChoice], progress: AdviceProgress | None
) -> None:
    if progress is None:
        st.caption(
            "GCNs trained on the known nodes propose the links. The attack is then run again "
            "without them, on new splits."
        )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        attack = st.selectbox(
            "Attack to weaken",
            attacks,
            format_func=lambda c: c.make().title,
            width=300,
            key=f"advice-attack-{node}",
            help="The strongest attack on this node comes first.",
        )
        max_links = st.number_input(
            "Maximum links", 1, 10, 3, key="advice-links", width=130, persist_state="session"
        )
        repeats = st.number_input(
            "Repeats",
            2,
            50,
            5,
            key="advice-repeats",
            width=130,
            persist_state="session",
            help="Each repeat runs the attack with and without the links.",
        )
        label = START if progress is None else "Search again"
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
        lambda run: f"Searching for links to hide: {job.describe_message(run.message)}",
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
                "The links are dashed red in the picture. Change: mean paired difference over "
                "repeats, with its 95 % interval. No links are withheld here, so the risk can "
                "differ from the table above.",
                width="stretch",
            )
            download_table(steps, f"advice-{node}")


def _list_attacks(view: AuditView, node: str) -> list[MethodChoice]:
    """Attribute attacks of the audit except baselines, the strongest on the node first."""
    found = [
        choice
        for choice in view.spec.attacks
        if choice.kind == "attribute_attack" and not choice.make().info.is_baseline
    ]
    rows = view.nodes.list_rows(node)
    rows = rows[rows.release == ORIGINAL]
    risks = {attack.id: risk for attack, risk in zip(rows.attack, rows.risk, strict=True)}
    mine = [choice.id for choice in found if choice.id in risks]
    if mine:
        worst = max(mine, key=risks.__getitem__)
        found.sort(key=lambda choice: choice.id != worst)
    return found
