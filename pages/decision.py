"""Release decision page: which release, if any, may be given to the recipient."""

from __future__ import annotations

import streamlit as st

from core.audit.asked.method_choice import MethodChoice
from core.audit.asked.presets import Asked, choose_attacks
from core.audit.asked.release_info import list_short_titles
from core.audit.results.view import AuditView
from core.figures.chart import Chart
from core.figures.limit_matrix import limit_matrix
from core.figures.limit_panels import compare_releases
from core.findings.channels import count_channels, tabulate_channels
from core.findings.comparing import answer_changes, compute_comparison
from core.findings.decisions import format_day
from core.findings.facts import STATE_TITLES
from core.findings.glossary import explain_term
from core.findings.guide import Proposal, propose_changes
from core.findings.limit_scale import LimitScale
from core.findings.numbers import format_limited
from core.findings.page_summary import PageSummary, summarize_decision
from core.findings.palette import Theme
from core.findings.policy import Policy, list_policies
from core.findings.recipient import find_recipient
from core.findings.stopping import explain_repeats
from core.findings.verdict import Check, ReleaseVerdict, Verdict
from core.findings.verdict_words import (
    DECISION_MEANINGS,
    DECISION_TITLES,
    compute_limit_table,
    explain_others,
    find_subject,
    list_deciding,
    title_deciding,
)
from core.release import ORIGINAL
from core.words import begin_sentence
from pages.ui import cache, page, session
from pages.ui.cards import STATE_ICONS
from pages.ui.chart import show_cached_chart
from pages.ui.decision_record import show_history, show_record
from pages.ui.estimate import estimate_audit, load_time_model
from pages.ui.guide_form import show_guide
from pages.ui.policy import (
    choose_release,
    chosen_release,
    current_policy,
    judge_by,
    judge_earlier,
    judge_view,
    list_keys,
    pick_policy,
    show_default_policy,
    show_obstacles,
)
from pages.ui.search_panel import show_search
from pages.ui.text import escape, format_cell


def main() -> None:
    page.open_page("Release decision", "Which release, if any, may be given to the recipient.")
    audit_id = session.current_audit()
    if audit_id is None:
        spec = show_guide()
        if spec is not None:
            st.header("Or find a release that passes", anchor=False)
            show_search(spec)
        return
    view = cache.load_view(audit_id)
    page.show_state(view)
    if (view.results.status == "done").any():
        _show_decision(view)
    elif view.summary.state.is_active:
        st.info("The decision appears here when the first parts have finished.")
    start = (view.spec.policy or {}).get("key")
    page.show_folded(
        "Start a new audit with other answers",
        "start-over",
        lambda: show_guide(start),
        icon=":material/quiz:",
    )


def _show_decision(view: AuditView) -> None:
    verdict = judge_view(view)
    summary = summarize_decision(verdict)
    _show_banner(view, verdict, summary.sentence)
    if verdict.policy_warning:
        st.warning(escape(verdict.policy_warning, 600))
    for text in cache.load_warnings(view.summary.id, view):
        st.warning(escape(text, 600))
    _show_matrix(view, verdict)
    subject = find_subject(verdict)
    if subject is not None:
        _show_deciding(subject, summary)
    show_default_policy(view)
    if not verdict.may_leave:
        _show_search(view)
    _show_choice(view, verdict)
    _show_changes(view, verdict)
    if verdict.may_leave:
        _show_search(view)
    _show_evidence(view, verdict)
    page.show_next("report", page.label_report(verdict))


def _show_banner(view: AuditView, verdict: Verdict, sentence: str) -> None:
    """Decision, recipient and policy."""
    policy = current_policy(view)
    icon = page.DECISION_ICONS[verdict.decision]
    with st.container(border=True, key="banner"):
        page.show_answer(f"{icon} {escape(sentence, 400)}")
        recipient = find_recipient(view.spec, policy)
        head = "" if recipient in ("", policy.title) else f"Recipient: {escape(recipient, 80)}. "
        st.caption(f"{head}Policy: {escape(policy.title, 80)}, version {policy.version}.")
        if view.summary.state.is_active:
            st.caption("The audit is still running. Untested limits count as not met.")
        elif told := explain_repeats(view, policy):
            st.caption(escape(told, 500))
        keys = list_keys(view)
        titles = {p.key: p.title for p in (*list_policies(), policy)}
        key = st.segmented_control(
            "Policy",
            keys,
            default=policy.key,
            format_func=titles.__getitem__,
            key=f"policy-{view.summary.id}",
            required=True,
            help=explain_term("Policy"),
        )
        if key is not None and key != policy.key:
            pick_policy(view, key)
            st.rerun()


def _show_deciding(release: ReleaseVerdict, summary: PageSummary) -> None:
    """Deciding limits of a release, each with a bar that compares the figure with the limit."""
    st.header(escape(title_deciding(release), 200), anchor=False)
    checks = list_deciding(release)
    scale = LimitScale.of(checks)
    for check, card in zip(checks, summary.cards, strict=True):
        left, right = st.columns([3, 2], vertical_alignment="center")
        state = f"{STATE_ICONS[check.state]} **{STATE_TITLES[check.state].capitalize()}**"
        is_empty = check.state == "not_tested" and not check.evidence.is_unresolved
        value = "" if is_empty else f"{card.value}, "
        left.markdown(f"{state}. {escape(card.title, 120)}: {value}{card.compared_with}")
        right.html(_draw_bar(check, scale))
    st.caption(f"Bar: measured value, from {scale.describe()} on a logarithmic scale. Line: limit.")
    for text in release.warnings:
        st.warning(f"{escape(begin_sentence(text), 300)}.")
    page.show_exact(summary.exact)
    page.show_folded(
        f"What leaves: {count_channels(release.channels)}",
        "channels-open",
        lambda: _show_channels(release, "limits-channels"),
        icon=":material/output:",
    )


def _show_channels(release: ReleaseVerdict, key: str) -> None:
    """What became of each part of a release, and the attacks that find people by it."""
    with st.container(key=key):
        table = tabulate_channels(release.channels).map(format_cell)
        st.table(table, hide_index=True, border="horizontal", alt="Channels of the release")


def _draw_bar(check: Check, scale: LimitScale) -> str:
    """HTML bar of the measured value, with a line at the limit; holds no user text."""
    multiple, _ = format_limited(check.severity, 1.0)
    times = "" if check.evidence.value is None else f"{multiple} times the limit, "
    words = f"{times}{STATE_TITLES[check.state]}"
    return (
        f'<div class="limit-bar" role="img" aria-label="{words}">'
        f'<span class="{check.state}" style="width:{scale.place(check.severity):.1%}"></span>'
        f'<i style="left:{scale.place(1.0):.1%}"></i></div>'
    )


def _show_matrix(view: AuditView, verdict: Verdict) -> None:
    """Limits (rows) against releases (columns), by how far each figure is from its limit."""
    st.header("Every release against every limit", anchor=False)
    policy = current_policy(view)
    show_cached_chart(view, lambda theme: _draw_matrix(view, policy, theme), "limits-matrix")
    for name, why in verdict.not_made.items():
        st.caption(f"{view.get_release(name).title} could not be made: {escape(why, 300)}")


def _draw_matrix(view: AuditView, policy: Policy, theme: Theme) -> Chart:
    verdict = judge_by(view, policy)
    names = list_short_titles(release.made for release in verdict.releases)
    return limit_matrix(verdict, names, theme)


def _show_choice(view: AuditView, verdict: Verdict) -> None:
    """Choice of the release for report and publishing, with reasons against the others."""
    ids = [r.release for r in verdict.releases if r.release != ORIGINAL]
    if not ids:
        return
    st.header("Choose a release", anchor=False)
    policy = current_policy(view)
    reasons = cache.remember(view, lambda: explain_others(judge_by(view, policy), view.results))
    if reasons:
        rest = "the others are not" if verdict.recommended else "none is"
        st.caption(f"Why {rest} recommended:")
        named = [(view.get_release(release).title, reason) for release, reason in reasons]
        st.markdown("\n".join(f"- **{title}**: {escape(why, 300)}" for title, why in named))
    ids = show_obstacles(verdict)
    chosen = chosen_release(view)
    names = {None: "none yet"} | {r: view.get_release(r).title for r in ids}
    options = [None, *ids]
    # A new policy or recommendation resets the proposal; a manual choice is kept.
    key = f"choose-{view.summary.id}-{current_policy(view).key}-{verdict.recommended}"
    picked = st.selectbox(
        "Chosen release",
        options,
        options.index(chosen) if chosen in options else 0,
        format_func=names.__getitem__,
        key=key,
        help="The report and the publishing run use this release.",
        on_change=lambda: choose_release(view, st.session_state[key]),
    )
    release = None if picked is None else verdict.find(picked)
    if release is not None and release.decision != "publish":
        st.warning(
            f"{DECISION_TITLES[release.decision]}: {DECISION_MEANINGS[release.decision]}.",
            icon=page.DECISION_ICONS[release.decision],
        )
    show_record(view, picked)


def _show_changes(view: AuditView, verdict: Verdict) -> None:
    """Audits that could change the decision, each with a button that starts it."""
    graph = cache.load_graph(view.spec.graph_hash)
    proposals = propose_changes(view, verdict, graph, load_time_model())
    if not proposals or view.summary.state.is_active:
        return
    planned = [(proposal, *_plan_proposal(view, proposal)) for proposal in proposals]
    # A proposal without a time cannot run with this audit's threats.
    timed = [(*plan, time) for plan in planned if (time := estimate_audit(plan[2]))]
    if timed:
        st.header("What could change the decision", anchor=False)
    for proposal, label, fields, time in timed:
        left, right = st.columns([3, 5], vertical_alignment="center")
        if left.button(
            label, key=f"change-{proposal.key}", icon=":material/play_arrow:", width="stretch"
        ):
            page.start_audit(fields)
        right.caption(f"{escape(proposal.reason, 300)} The audit takes {time}.")


def _show_search(view: AuditView) -> None:
    """Search for a release of the audited graph that the current policy lets leave."""
    if view.summary.state.is_active or view.spec.external_release is not None:
        return
    st.header("Find a release that passes", anchor=False)
    policy = current_policy(view).model_dump(mode="json")
    show_search(view.spec.update(policy=policy))


def _plan_proposal(view: AuditView, proposal: Proposal) -> tuple[str, dict[str, object]]:
    """Label of the button and fields of the audit that it starts."""
    fields = page.keep_fields(view)
    preset = proposal.of
    if isinstance(preset, MethodChoice):
        fields["defenses"] = [*view.spec.defenses, preset]
        return f"Try {preset.make_defense().title}", fields
    added = choose_attacks(Asked.of_spec(view.spec), [preset.key])
    keys = {choice.key for choice in added}
    fields["attacks"] = [*(c for c in view.spec.attacks if c.key not in keys), *added]
    fields["num_repeats"] = max(preset.num_repeats, view.spec.num_repeats)
    fields["adaptive"] = view.spec.knowledge.adaptive or preset.adaptive
    return f"Run the {preset.title.lower()} audit", fields


def _show_evidence(view: AuditView, verdict: Verdict) -> None:
    contents = {
        "Limits in figures": lambda: _show_comparison(view, verdict),
        "Each release": lambda: _show_limits(view, verdict),
        "Earlier decisions": lambda: show_history(view),
    }
    page.show_tabs("decision-tabs", contents)


def _show_comparison(view: AuditView, verdict: Verdict) -> None:
    """Releases against the limits, and the changes since the last audit of the graph."""
    earlier = judge_earlier(view)
    when = "" if earlier is None else f"the audit of {format_day(earlier[0].created)}"
    table = compute_comparison(verdict, None if earlier is None else earlier[1])
    if table.empty:
        return
    made = [release.made for release in verdict.releases]
    show_cached_chart(view, lambda theme: compare_releases(table, made, theme, when), "comparison")
    if earlier is not None:
        st.markdown(escape(answer_changes(table, when), 2000))


def _show_limits(view: AuditView, verdict: Verdict) -> None:
    """Each limit of a release with its figure, and the refuted or untested claims."""
    ids = [release.release for release in verdict.releases]
    release = verdict.find(page.choose_release(view, "Release", ids, "limits-release"))
    assert release is not None
    table = compute_limit_table(release).map(format_cell)
    with st.container(key="limits-table"):
        st.table(table, hide_index=True, border="horizontal", alt="Limits and measured values")
    st.caption("“Measured” is the strongest attack. An empty cell was not tested.")
    points = (*release.refuted, *release.open_points)
    st.markdown("\n".join(f"- {escape(text, 300)}" for text in points))
    st.markdown(f"**What leaves:** {count_channels(release.channels)}.")
    _show_channels(release, "limits-channels-one")


main()
