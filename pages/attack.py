"""Attack page: what an attacker can infer from the original graph."""

from __future__ import annotations

import streamlit as st

from core.audit.asked.scenarios import THREAT_TITLES, Threat
from core.audit.results.view import AuditView
from core.figures import attack_bars, roc
from core.figures.theme import HALF_LETTERS, TITLE_LETTERS
from core.findings import control, tables
from core.findings.knowing_more import explain_stronger, tabulate_inside
from core.findings.strongest import choose_measure, summarize_attacks
from core.release import ORIGINAL
from pages.ui import cache, page, session
from pages.ui.attack_form import show_attack_form
from pages.ui.chart import show_cached_chart
from pages.ui.policy import current_policy
from pages.ui.study_panel import show_studies
from pages.ui.text import escape


def main() -> None:
    page.open_page("Attack", "What an attacker can infer from the original graph.")
    audit_id = session.current_audit()
    view = cache.load_view(audit_id) if audit_id else None
    if view is None:
        show_attack_form(None)
        return
    page.show_state(view)
    if not view.results.empty:
        _show_results(view)
    page.show_folded(
        "Run other attacks",
        "attacks-open",
        lambda: show_attack_form(view),
        expanded=view.results.empty,
        icon=":material/tune:",
    )
    page.show_next("defend", "Choose defenses")


def _show_results(view: AuditView) -> None:
    threats, policy = tables.list_threats(view.results), current_policy(view)
    summary = cache.remember(view, lambda: summarize_attacks(view, ORIGINAL, policy))
    page.show_summary(summary, exact_below=True)
    threat = page.choose_one("Threat", threats, THREAT_TITLES, "attack-threat")
    metrics = tables.list_metrics(view.results, "attack", threat)
    measure = choose_measure(view.results, threat)
    first = "" if measure is None else measure.metric
    with st.container(key="wide-attack"):
        left, right = st.columns(2, gap="medium")
        with left:
            _show_ranking(view, threat, first)
        with right:
            _show_curves(view, threat)
    page.show_exact(summary.exact)
    more = {"AUC": lambda: _show_ranking(view, threat, "auc", TITLE_LETTERS)}
    contents = {
        **(more if "auc" in metrics and first != "auc" else {}),
        "Stronger attackers": lambda: _show_knowledge(view, threat),
        "Other conditions": lambda: show_studies(view),
    }
    page.show_tabs(f"attack-tabs-{len(contents)}", contents)
    if len(view.control):
        label = "Control nodes: the effect of being in a release"
        page.show_folded(label, "control-open", lambda: _show_control(view))
    page.show_missing(view, [ORIGINAL])


def _show_control(view: AuditView) -> None:
    table = cache.remember(view, lambda: control.tabulate_control(view.results, view.control))
    st.dataframe(table, hide_index=True, key="control-people", alt="Figures on control nodes")
    st.caption(control.NOTE)


def _show_ranking(
    view: AuditView, threat: Threat, metric: str, letters: int = HALF_LETTERS
) -> None:
    show_cached_chart(
        view,
        lambda theme: attack_bars.attack_ranking(view.results, threat, metric, theme, letters),
        f"ranking-{threat}-{metric}",
    )


def _show_curves(view: AuditView, threat: Threat) -> None:
    keys = [key for key in view.rocs if key[0] == ORIGINAL]
    known = [view.get_attack(attack) for _, attack in keys]
    doubles = cache.remember(view, lambda: tables.find_doubles(view.results))
    attacks = [one for one in known if one.threat == threat and one.id not in doubles]
    if not attacks:
        st.caption("No ROC curve: these attacks name nodes and do not rank pairs.")
        return
    level, original = tables.find_level(view.results, threat), view.get_release(ORIGINAL)
    show_cached_chart(
        view,
        lambda theme: roc.roc_by_attack(view.rocs, original, attacks, theme, level),
        f"roc-{threat}",
    )


def _show_knowledge(view: AuditView, threat: Threat) -> None:
    """Adaptive attackers, released links, combined columns and the odds of a named pair."""
    sentences = cache.remember(view, lambda: explain_stronger(view, threat))
    table = cache.remember(view, lambda: tabulate_inside(view.results))
    if not sentences:
        st.caption(
            "Only standard attackers were run. Add adaptive attackers, released links or "
            "composition under “Run other attacks”."
        )
    st.markdown("\n".join(f"- {escape(sentence, 1000)}" for sentence in sentences))
    if len(table):
        st.dataframe(table, hide_index=True, key="links-inside", alt="Attacks on released links")


main()
