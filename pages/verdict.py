"""Verdict: may it leave?"""

from __future__ import annotations

import re

import pandas as pd
import streamlit as st

from core.audit.view import AuditView
from core.figures.chart import Chart
from core.figures.comparing import compare_releases
from core.findings.comparing import answer_changes, compute_comparison, tabulate_comparison
from core.findings.decisions import format_day
from core.findings.labels import release_title
from core.findings.page_summary import describe_decision
from core.findings.palette import Theme
from core.findings.policy import find_policy, list_policies
from core.findings.verdict import ReleaseVerdict, Verdict
from core.findings.verdict_words import (
    DECISION_MEANINGS,
    DECISION_TITLES,
    compute_limit_table,
    explain_others,
)
from core.release import ORIGINAL
from pages.ui import cache, page, session
from pages.ui.decisions import show_history, show_record
from pages.ui.guide_form import show_guide
from pages.ui.policy import (
    choose_release,
    chosen_release,
    current_policy,
    judge_earlier,
    judge_view,
    list_keys,
    pick_policy,
    show_default_policy,
)
from pages.ui.text import escape
from pages.ui.theme import current_theme

ICONS = {
    "publish": ":material/check_circle:",
    "review": ":material/help:",
    "do_not_publish": ":material/block:",
}
MAX_REASONS = 6


def main() -> None:
    page.open_page("Release decision", "Which release, if any, may go to whom.")
    audit_id = session.current_audit()
    if audit_id is None:
        show_guide()
        return
    view = cache.load_view(audit_id)
    page.show_state(view)
    if (view.results.status == "done").any():
        _show_verdict(view)
    elif view.summary.state.is_active:
        st.info("The verdict appears here as soon as the first parts are finished.")
    with st.expander("Ask the questions again", icon=":material/quiz:"):
        show_guide()


def _show_verdict(view: AuditView) -> None:
    verdict = judge_view(view)
    page.show_answer(describe_decision(verdict))
    if view.summary.state.is_active:
        st.caption("The audit is still running: what is not tried yet cannot be cleared.")
    _choose_policy(view)
    show_default_policy(view)
    _show_choice(view, verdict)
    _show_comparison(view, verdict)
    reasons = dict(explain_others(verdict, view.results))
    ranked = sorted(verdict.releases, key=lambda r: (r.release != verdict.recommended,))
    for release in ranked:
        _show_release(release, verdict, reasons.get(release.release, ""))
    show_history(view)
    with st.container(horizontal=True):
        st.page_link(page.PAGES / "risk.py", label="Who is exposed", icon=":material/person:")
        st.page_link(page.PAGES / "map.py", label="Where they are", icon=":material/map:")
        st.page_link(page.PAGES / "report.py", label="Hand it over", icon=":material/description:")


def _plot_comparison(
    _view: AuditView, table: pd.DataFrame, releases: tuple[str, ...], theme: Theme, when: str
) -> Chart:
    return compare_releases(table, releases, theme, when)


def _show_comparison(view: AuditView, verdict: Verdict) -> None:
    """Every release against every limit in one picture, and what has changed since last time."""
    earlier = judge_earlier(view)
    table = compute_comparison(verdict, None if earlier is None else earlier[1])
    if table.empty:
        return
    when = ""
    if earlier is not None:
        when = f"the audit of {format_day(earlier[0].created)}"
    ids = [release.release for release in verdict.releases]
    chart = cache.remember(view, _plot_comparison, table, tuple(ids), current_theme(), when)
    page.show_chart(chart, "comparison", "All releases, limit by limit")
    if earlier is not None:
        st.markdown(escape(answer_changes(table, when), 2000))
    with st.expander("The same as a table"):
        _show_table(
            tabulate_comparison(table), "limits-compared", "Every limit, and each release under it"
        )


def _choose_policy(view: AuditView) -> None:
    keys = list_keys(view)
    own = current_policy(view)
    titles = {policy.key: policy.title for policy in (*list_policies(), own)}
    key = st.segmented_control(
        "Judged for",
        keys,
        default=own.key,
        format_func=titles.__getitem__,
        key=f"policy-{view.summary.id}",
        required=True,
    )
    if key is not None and key != own.key:
        pick_policy(view, key)
        st.rerun()
    policy = find_policy(key) if key in {p.key for p in list_policies()} else own
    st.caption(f"{escape(policy.summary, 400)} Policy version {policy.version}.")


def _show_choice(view: AuditView, verdict: Verdict) -> None:
    """The release that Report and publishing go on with."""
    ids = [r.release for r in verdict.releases if r.release != ORIGINAL]
    if not ids:
        st.caption("No defense was tried: ask the questions below, or add some on the Defend page.")
        return
    chosen = chosen_release(view)
    names = {None: "none yet"} | {r: release_title(r) for r in ids}
    options = [None, *ids]
    # A new policy or recommendation proposes anew; what was picked by hand stays.
    key = f"choose-{view.summary.id}-{current_policy(view).key}-{verdict.recommended}"
    picked = st.selectbox(
        "Choose this release",
        options,
        options.index(chosen) if chosen in options else 0,
        format_func=names.__getitem__,
        key=key,
        help="Report and publishing go on with it. They warn where the policy asks for a "
        "review, and refuse where the policy does.",
        on_change=lambda: choose_release(view, st.session_state[key]),
    )
    found = None if picked is None else verdict.find(picked)
    if found is not None and found.decision != "publish":
        st.warning(
            f"{release_title(found.release)}: {DECISION_TITLES[found.decision].lower()}; "
            f"{DECISION_MEANINGS[found.decision]}.",
            icon=ICONS[found.decision],
        )
    show_record(view, picked)


def _show_release(release: ReleaseVerdict, verdict: Verdict, reason: str) -> None:
    is_best = release.release == verdict.recommended
    title = f"{release_title(release.release)}: {DECISION_TITLES[release.decision].lower()}"
    with st.expander(
        f"**{title}**" + (" (recommended)" if is_best else ""),
        expanded=is_best or len(verdict.releases) <= 3,
        icon=ICONS[release.decision],
    ):
        if reason:
            st.markdown(escape(f"Why not this one: {reason}.", 400))
        table = compute_limit_table(release).rename(columns={"": "State", "Limit": "At most"})
        _show_table(table, f"limits-{release.release}", "Limits, and what was measured")
        st.caption(
            "Measured is the worst over all attacks, and its interval ends at the highest upper "
            "end of any; an empty cell was not tested."
        )
        _list_missing(release)


def _list_missing(release: ReleaseVerdict) -> None:
    """What the table of limits does not say: refuted promises, and what was not tried."""
    told = [*release.refuted, *release.untried]
    if told:
        shown = [escape(text, 300) for text in told[:MAX_REASONS]]
        if len(told) > MAX_REASONS:
            shown.append(f"{len(told) - MAX_REASONS} more")
        st.markdown("\n".join(f"- {text}" for text in shown))


def _keep_interval(text: str) -> str:
    """A narrow cell breaks before an interval, not within it."""
    return text.replace(", ", ",\u00a0") if "[" in text else text


def _show_table(table: pd.DataFrame, key: str, alt: str) -> None:
    """A table whose cells wrap, so that no column hides at the right."""
    with st.container(key=re.sub(r"\W", "-", key)):
        shown = table.astype(str).map(lambda text: _keep_interval(escape(text, 200)))
        st.table(shown, hide_index=True, border="horizontal", alt=alt)


main()
