"""The policy in use, its verdict, and the release that the analyst chose."""

from __future__ import annotations

import streamlit as st

from core.audit.results.view import AuditSummary, AuditView
from core.audit.store.states import State
from core.errors import AuditError, InputError
from core.findings.policy import Policy, check_policy, find_policy, list_policies
from core.findings.verdict import Verdict, judge
from core.findings.verdict_words import describe_decision, find_subject
from core.release import ORIGINAL
from pages.ui import cache, page, service
from pages.ui.text import escape

DEFAULT = "public"


def current_policy(view: AuditView | None) -> Policy:
    """The policy picked on the Release decision page, else the audit's, else the strictest."""
    picked = st.session_state.get("policy-picked")
    if picked is not None and (view is None or picked[0] == view.summary.id):
        return find_policy(picked[1])
    own = None if view is None else _find_own(view)
    return find_policy(DEFAULT) if own is None else own


def _find_own(view: AuditView) -> Policy | None:
    """The audit's policy; None without one, or with limits of an earlier version that nothing can
    be held against."""
    if view.spec.policy is None:
        return None
    try:
        return check_policy(view.spec.policy)
    except InputError:
        return None


def has_policy(view: AuditView) -> bool:
    """Whether a policy was chosen for this audit."""
    picked = st.session_state.get("policy-picked")
    return _find_own(view) is not None or (picked is not None and picked[0] == view.summary.id)


def pick_policy(view: AuditView, key: str) -> None:
    """Apply another shipped policy to this audit."""
    st.session_state["policy-picked"] = (view.summary.id, key)


def list_keys(view: AuditView) -> list[str]:
    """Keys of the shipped policies, and of the audit's own policy if it is a different one."""
    own = current_policy(view).key
    keys = [policy.key for policy in list_policies()]
    return keys if own in keys else [own, *keys]


def judge_view(view: AuditView) -> Verdict:
    """Verdict under the current policy."""
    return judge_by(view, current_policy(view))


def judge_by(view: AuditView, policy: Policy) -> Verdict:
    """Verdict under a policy, cached for each state of the audit."""
    return cache.remember(view, lambda: judge(view, policy))


def judge_earlier(view: AuditView) -> tuple[AuditSummary, Verdict] | None:
    """Previous finished audit of the same graph, with its verdict under the same policy."""
    for summary in service.open_service().list_audits():  # newest first
        is_earlier = summary.created < view.summary.created and summary.id != view.summary.id
        is_same = summary.graph_hash == view.summary.graph_hash and not summary.is_step
        if is_earlier and is_same and summary.state is State.DONE:
            return summary, judge_by(cache.load_view(summary.id), current_policy(view))
    return None


def show_default_policy(view: AuditView) -> None:
    """Note that no policy was chosen and the strictest one applies."""
    if has_policy(view):
        return
    title = escape(current_policy(view).title)
    st.info(
        f"No recipient was chosen, so the strictest policy applies: “{title}”. Choose another "
        "under “Policy” on the Release decision page. Shipped limits are a starting point, not "
        "law.",
        icon=":material/policy:",
    )


def choose_release(view: AuditView, release: str | None) -> None:
    """Store a manual choice, which takes precedence over the recommendation."""
    st.session_state["chosen-release"] = (view.summary.id, release)


def chosen_release(view: AuditView) -> str | None:
    """The release chosen for this audit, else the recommended one; None if there is neither."""
    chosen = st.session_state.get("chosen-release")
    if chosen is not None and chosen[0] == view.summary.id:
        release: str | None = chosen[1]
        return release
    return judge_view(view).recommended


def find_shown_release(view: AuditView) -> str | None:
    """The release that a page shows first: the chosen or recommended one, else the one whose
    limits the Release decision page explains."""
    chosen = chosen_release(view)
    if chosen is not None:
        return chosen
    subject = find_subject(judge_view(view))
    return None if subject is None else subject.release


def show_obstacles(verdict: Verdict) -> list[str]:
    """Note why releases cannot be published; return the ids of those that can."""
    for release in verdict.releases:
        if release.obstacle:
            st.caption(f"{release.made.title} {escape(release.obstacle, 200)}.")
    return [r.release for r in verdict.releases if not r.obstacle and r.release != ORIGINAL]


def describe_end(audit: AuditSummary) -> str:
    """The decision of an audit as its Release decision page has it, or how it ended."""
    if not audit.cells_done:
        return f"{audit.state.capitalize()}, no results."
    try:
        verdict = judge_view(cache.load_view(audit.id))
    except AuditError as error:
        return escape(error, 120)
    ending = "" if audit.state is State.DONE else f" The audit was {audit.state}."
    sentence = escape(describe_decision(verdict), 400)
    return f"{page.DECISION_ICONS[verdict.decision]} {sentence}{ending}"
