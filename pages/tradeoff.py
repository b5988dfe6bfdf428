"""Trade-off page: usefulness against risk of each release."""

from __future__ import annotations

import streamlit as st

from core.audit.asked.scenarios import THREAT_TITLES, Threat
from core.audit.results.view import AuditView
from core.figures import tradeoff_points, transfer
from core.findings.columns import answer_columns
from core.findings.curves import answer_strengths, list_curves
from core.findings.glossary import explain_term
from core.findings.labels import metric_title
from core.findings.page_summary import PageSummary
from core.findings.tables import list_metrics, list_threats, select_results
from core.findings.tradeoff import (
    answer_tradeoff,
    choose_axes,
    choose_threat,
    compute_tradeoff,
    summarize_tradeoff,
)
from core.findings.verdict import Verdict
from core.findings.verdict_words import list_uncleared
from core.results import RELEASE
from core.words import begin_sentence
from pages.ui import cache, page
from pages.ui.chart import show_cached_chart
from pages.ui.policy import current_policy, judge_by, judge_view, show_default_policy
from pages.ui.sweep_form import show_sweep
from pages.ui.text import escape

WORST = "strongest attack"


def main() -> None:
    page.open_page("Trade-off", "Usefulness against risk of each release.")
    view = page.require_view("Run an audit to compare its releases.")
    utilities = cache.remember(view, lambda: list_metrics(view.results, "release"))
    if not utilities:
        st.info("No usefulness measure has finished yet. Results appear here while the audit runs.")
        return
    policy = current_policy(view)
    verdict = judge_view(view)
    summary, first = cache.remember(view, lambda _policy: _summarize(view), policy)
    page.show_summary(summary)
    show_default_policy(view)
    threat, risk, attack, utility = _choose_axes(view, utilities, first)
    limit = policy.find_limit(threat, risk)
    answer = cache.remember(
        view,
        lambda policy: answer_strengths(
            view.results, judge_by(view, policy), threat, risk, utility, attack
        ),
        policy,
    )
    if answer:
        st.markdown(f"**{escape(answer, 800)}**")
    show_cached_chart(
        view,
        lambda theme, policy: tradeoff_points.tradeoff(
            view.results, risk, utility, attack, threat, limit, theme, judge_by(view, policy)
        ),
        "tradeoff",
        of=(policy,),
    )
    if not view.spec.defenses:
        st.caption("Only the original was audited. Add defenses on the Defend page.")
    show_sweep(view)
    contents = {
        "Every attack on every release": lambda: show_cached_chart(
            view,
            lambda theme: transfer.transfer_matrix(view.results, risk, threat, theme),
            "transfer",
        ),
        "Summary": lambda: _show_summary(view, (threat, risk, attack, utility), verdict),
    }
    page.show_tabs("tradeoff-tabs", contents)
    page.show_next("report", page.label_report(verdict))


def _summarize(view: AuditView) -> tuple[PageSummary, Threat | None]:
    """What the page says first, and the threat that it shows first."""
    verdict = judge_view(view)
    return summarize_tradeoff(view, verdict), choose_threat(view.results, verdict)


def _show_summary(
    view: AuditView, axes: tuple[Threat, str, str | None, str], verdict: Verdict
) -> None:
    threat, risk, attack, utility = axes
    limit = verdict.policy.find_limit(threat, risk)
    table = compute_tradeoff(view.results, risk, utility, attack, threat, verdict)
    most = 1.0 if limit is None else limit
    answer = answer_tradeoff(table, most, risk, utility, list_uncleared(verdict))
    st.markdown(escape(answer, 2000))
    if limit is not None and (curves := list_curves(table)):
        st.markdown(f"The limit of {limit:g} is met by:")
        lines = [curve.describe_passing(limit, utility) for curve in curves]
        st.markdown("\n".join(f"- {escape(line, 300)}" for line in lines))
    if text := cache.remember(view, lambda: answer_columns(view.results, threat)):
        st.markdown(text)


def _choose_axes(
    view: AuditView, utilities: list[str], first: Threat | None
) -> tuple[Threat, str, str | None, str]:
    """Ask for threat, risk measure, attack (None: the strongest) and usefulness measure.

    first  the threat that is shown until another is chosen
    """
    columns = st.columns([5, 5, 5, 7])
    threats = cache.remember(view, lambda: list_threats(view.results))
    threat: Threat = columns[0].selectbox(
        "Threat",
        threats,
        threats.index(first) if first else 0,
        format_func=lambda threat: begin_sentence(THREAT_TITLES[threat]),
        key="axis-threat",
        persist_state="session",
    )
    metrics, axes = cache.remember(
        view,
        lambda: (list_metrics(view.results, "attack", threat), choose_axes(view.results, threat)),
    )
    risk = columns[1].selectbox(
        "Risk measure",
        metrics,
        metrics.index(axes[0]) if axes else 0,
        format_func=metric_title,
        key=f"axis-risk-{threat}",
        persist_state="session",
        help=explain_term("TPR at 1 % FPR"),
    )
    attacks = cache.remember(
        view,
        lambda: [
            m for m in dict.fromkeys(select_results(view.results, risk).method) if m != RELEASE
        ],
    )
    attack = columns[2].selectbox(
        "Attack",
        [None, *attacks],
        format_func=lambda m: WORST if m is None else view.get_attack(m).title,
        key=f"axis-attack-{threat}",
        persist_state="session",
    )
    utility = columns[3].selectbox(
        "Usefulness measure",
        utilities,
        utilities.index(axes[1]) if axes else 0,
        format_func=metric_title,
        key="axis-utility",
        persist_state="session",
        help=explain_term("Usefulness"),
    )
    return threat, risk, attack, utility


main()
