"""Trade-off: which release should I choose?"""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core.audit.scenarios import Threat
from core.audit.view import AuditView
from core.figures import tradeoff, transfer
from core.figures.chart import Chart
from core.findings import answers
from core.findings.columns import answer_columns
from core.findings.labels import method_title, metric_title
from core.findings.palette import Theme
from core.findings.tables import list_metrics, list_threats, select_results
from core.findings.tradeoff import compute_tradeoff
from core.findings.verdict_words import list_refused
from core.results import RELEASE
from pages.ui import cache, page
from pages.ui.policy import judge_view, show_default_policy
from pages.ui.theme import current_theme

AIMS = {
    "link": "withheld links",
    "included": "real released links",
    "attribute": "private attribute",
    "identity": "identity",
}
WORST = "worst attack"


def _tabulate(
    view: AuditView, risk: str, utility: str, attack: str | None, threat: Threat
) -> pd.DataFrame:
    return compute_tradeoff(view.results, risk, utility, attack, threat)


def _plot_tradeoff(
    view: AuditView,
    axes: tuple[str, str, str | None, Threat],
    limit: float,
    theme: Theme,
    refused: tuple[str, ...],
) -> Chart:
    return tradeoff.tradeoff(view.results, *axes, limit, theme, refused)


def _plot_transfer(view: AuditView, risk: str, threat: Threat, theme: Theme) -> Chart:
    return transfer.transfer_matrix(view.results, risk, threat, theme)


def _list_metrics(view: AuditView, of: str, threat: Threat | None = None) -> list[str]:
    return list_metrics(view.results, of, threat)


def _list_attacks(view: AuditView, risk: str) -> list[str]:
    return list(dict.fromkeys(select_results(view.results, risk).method))


def _answer_columns(view: AuditView, threat: Threat) -> str:
    return answer_columns(view.results, threat)


def main() -> None:
    page.open_page("Trade-off", "Usefulness against risk, release by release.")
    view = page.require_view("The trade-off compares the releases of an audit.")
    utilities = cache.remember(view, _list_metrics, "release")
    if not utilities:
        st.info("No measure of usefulness has finished yet.")
        return
    with st.container(key="answer-slot"):
        slot = st.container()
    threat, risk, attack, utility = _choose_axes(view, utilities)
    table = cache.remember(view, _tabulate, risk, utility, attack, threat)
    limit = _choose_limit(table)
    refused = list_refused(judge_view(view))
    with slot:
        page.show_answer(answers.answer_tradeoff(table, limit, risk, utility, refused))
        leak = cache.remember(view, _answer_columns, threat)
        if leak:
            page.show_answer(leak)
        show_default_policy(view)
    axes = (risk, utility, attack, threat)
    chart = cache.remember(view, _plot_tradeoff, axes, limit, current_theme(), tuple(refused))
    page.show_chart(chart, "tradeoff")
    if not view.spec.defenses:
        st.caption("Only the original is here: add defenses on the Defend page to compare them.")
    matrix = cache.remember(view, _plot_transfer, risk, threat, current_theme())
    page.show_chart(matrix, "transfer", "Every attack on every release")
    page.show_next("report", "Hand it over: Report")


def _choose_axes(view: AuditView, utilities: list[str]) -> tuple[Threat, str, str | None, str]:
    threats = list_threats(view.results)
    columns = st.columns(4)
    threat = columns[0].selectbox(
        "Risk of", threats, format_func=AIMS.__getitem__, key="axis-threat", persist_state="session"
    )
    metrics = cache.remember(view, _list_metrics, "attack", threat)
    risk = columns[1].selectbox(
        "measured by",
        metrics,
        format_func=metric_title,
        key=f"axis-risk-{threat}",
        persist_state="session",
    )
    attacks = [None, *[m for m in cache.remember(view, _list_attacks, risk) if m != RELEASE]]
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
