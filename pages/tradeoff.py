"""Trade-off: which release should I choose?"""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core.audit.cases import Threat
from core.audit.view import AuditView
from core.figures import tradeoff, transfer
from core.findings import answers
from core.findings.columns import answer_columns
from core.findings.labels import method_title, metric_title
from core.findings.tables import list_metrics, list_threats, select_results
from core.findings.tradeoff import compute_tradeoff
from core.findings.verdict_words import list_refused
from core.results import RELEASE
from pages.ui import page
from pages.ui.policy import judge_view, show_default_policy
from pages.ui.theme import current_theme

AIMS = {
    "link": "finding hidden links",
    "included": "telling which links are real",
    "attribute": "inferring the private attribute",
    "identity": "finding people by their links",
}
WORST = "worst case of all attacks"


def main() -> None:
    page.open_page("Trade-off", "Which release should I choose?")
    view = page.require_view("The trade-off compares the releases of an audit.")
    utilities = list_metrics(view.results, "release")
    if not utilities:
        st.info("No measure of usefulness has finished yet.")
        return
    with st.container(key="answer-slot"):
        slot = st.container()
    threat, risk, attack, utility = _choose_axes(view, utilities)
    table = compute_tradeoff(view.results, risk, utility, attack, threat)
    limit = _choose_limit(table)
    refused = list_refused(judge_view(view))
    with slot:
        page.show_answer(answers.answer_tradeoff(table, limit, risk, utility, refused))
        leak = answer_columns(view.results, threat)
        if leak:
            page.show_answer(leak)
        show_default_policy(view)
    chart = tradeoff.tradeoff(
        view.results, risk, utility, attack, threat, limit, current_theme(), refused
    )
    page.show_chart(chart, "tradeoff")
    if not view.spec.defenses:
        st.caption("Only the original is here: add defenses on the Defend page to compare them.")
    matrix = transfer.transfer_matrix(view.results, risk, threat, current_theme())
    page.show_chart(matrix, "transfer", "Every attack on every release")
    page.show_next("report", "Hand it over: Report")


def _choose_axes(view: AuditView, utilities: list[str]) -> tuple[Threat, str, str | None, str]:
    threats = list_threats(view.results)
    columns = st.columns(4)
    threat = columns[0].selectbox(
        "Risk of", threats, format_func=AIMS.__getitem__, key="axis-threat", persist_state="session"
    )
    metrics = list_metrics(view.results, "attack", threat)
    risk = columns[1].selectbox(
        "measured by",
        metrics,
        format_func=metric_title,
        key=f"axis-risk-{threat}",
        persist_state="session",
    )
    rows = select_results(view.results, risk)
    attacks = [None, *[m for m in dict.fromkeys(rows.method) if m != RELEASE]]
    attack = columns[2].selectbox(
        "by",
        attacks,
        format_func=lambda m: WORST if m is None else method_title(m),
        key=f"axis-attack-{threat}",
        persist_state="session",
    )
    utility = columns[3].selectbox(
        "Usefulness",
        utilities,
        format_func=metric_title,
        key="axis-utility",
        persist_state="session",
    )
    return threat, risk, attack, utility


def _choose_limit(table: pd.DataFrame) -> float:
    top = 1.0 if table.empty else max(1.0, float(table.risk_high.fillna(table.risk).max()))
    return st.slider(
        "I accept a risk of at most",
        0.0,
        round(top + 0.005, 2),
        min(0.7, top),
        0.01,
        key=f"limit-{top:.2f}",
        persist_state="session",
    )


main()
