"""Attack: what could an adversary learn from the graph as it is?"""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core.audit.scenarios import Threat
from core.audit.view import AuditView
from core.figures import ranking, roc
from core.figures.chart import Chart
from core.findings import answers, knowing_more, tables
from core.findings.labels import attack_threat
from core.findings.palette import Theme
from core.findings.private_columns import answer_private_columns
from core.release import ORIGINAL
from pages.ui import cache, page, session
from pages.ui.attack_form import show_attack_form
from pages.ui.study_panel import show_studies
from pages.ui.text import escape
from pages.ui.theme import current_theme

MAX_CURVES = 4
TITLES = {
    "link": "Withheld links",
    "included": "Released links",
    "attribute": "Private attribute",
    "identity": "Identity",
}


def main() -> None:
    page.open_page("Attack", "What an adversary can infer from the graph as it is.")
    audit_id = session.current_audit()
    view = cache.load_view(audit_id) if audit_id else None
    if view is not None and not view.results.empty:
        _show_results(view)
    elif view is not None:
        page.show_state(view)
    else:
        st.caption("Choose how thorough, and run; results fill in as they finish.")
    if view is not None:
        st.header("Run other attacks", anchor=False)
    show_attack_form(view)
    if view is not None:
        show_studies(view)
        page.show_next("defend", "What can be done about it: Defend")


def _answer(view: AuditView) -> str:
    threats = tables.list_threats(view.results)
    return "\n\n".join(answers.answer_attack(view.results, threat) for threat in threats)


def _plot_ranking(view: AuditView, threat: Threat, theme: Theme) -> Chart:
    return ranking.attack_ranking(view.results, threat, theme=theme)


def _plot_rocs(view: AuditView, attacks: tuple[str, ...], theme: Theme) -> Chart:
    return roc.roc_by_attack(view.rocs, ORIGINAL, list(attacks), theme, max_curves=MAX_CURVES)


def _answer_odds(view: AuditView) -> str:
    return answers.answer_odds(view.results)


def _show_results(view: AuditView) -> None:
    threats = tables.list_threats(view.results)
    page.show_answer(cache.remember(view, _answer))
    page.show_state(view)
    theme = current_theme()
    for threat in threats:
        st.header(TITLES[threat], anchor=False)
        with st.container(key=f"wide-{threat}"):
            left, right = st.columns([3, 2], gap="medium")
        with left:
            page.show_chart(cache.remember(view, _plot_ranking, threat, theme), f"ranking-{threat}")
        with right:
            attacks = [
                method
                for release, method in view.rocs
                if release == ORIGINAL and attack_threat(method) == threat
            ]
            if attacks:  # there is no such curve of finding people
                chart = cache.remember(view, _plot_rocs, tuple(attacks), theme)
                page.show_chart(chart, f"roc-{threat}")
        if threat == "attribute":
            for sentence in cache.remember(view, answer_private_columns):
                st.markdown(escape(sentence, 1000))
        if threat == "link" and (odds := cache.remember(view, _answer_odds)):
            st.markdown(odds)
    _show_knowing_more(view)
    page.show_missing(view, [ORIGINAL])


def _answer_adaptive(view: AuditView) -> list[str]:
    return knowing_more.answer_adaptive(view.results)


def _tabulate_inside(view: AuditView) -> pd.DataFrame:
    return knowing_more.tabulate_inside(view.results)


def _show_knowing_more(view: AuditView) -> None:
    """Attackers on released links a release, and those who know the defense."""
    adaptive = cache.remember(view, _answer_adaptive)
    table = cache.remember(view, _tabulate_inside)
    if adaptive:
        st.header("Knowing the defense", anchor=False)
        st.markdown("\n".join(f"- {sentence}" for sentence in adaptive))
    if len(table):
        st.header(TITLES["included"], anchor=False)
        sentences = knowing_more.answer_inside(view.results)
        st.markdown("\n".join(f"- {sentence}" for sentence in sentences))
        st.dataframe(table, hide_index=True, key="links-inside", alt="Attacks on released links")


main()
