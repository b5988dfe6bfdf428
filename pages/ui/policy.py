"""The policy that the pages judge by, and the release that the analyst chose under it."""

from __future__ import annotations

import streamlit as st

from core.audit.view import AuditView
from core.findings.policy import Policy, check_policy, find_policy, list_policies
from core.findings.verdict import Verdict, judge
from pages.ui import cache

DEFAULT = "public"


def current_policy(view: AuditView | None) -> Policy:
    """What was picked on the Verdict page, else the audit's own, else the strictest."""
    picked = st.session_state.get("policy-picked")
    if picked is not None and (view is None or picked[0] == view.summary.id):
        return find_policy(picked[1])
    if view is not None and view.spec.policy is not None:
        return check_policy(view.spec.policy)
    return find_policy(DEFAULT)


def has_policy(view: AuditView) -> bool:
    """Whether somebody named the policy that this audit is judged by."""
    picked = st.session_state.get("policy-picked")
    return view.spec.policy is not None or (picked is not None and picked[0] == view.summary.id)


def pick_policy(view: AuditView, key: str) -> None:
    """Judge this audit by another shipped policy."""
    st.session_state["policy-picked"] = (view.summary.id, key)


def list_keys(view: AuditView) -> list[str]:
    """Keys of the shipped policies, and of the audit's own where it is another one."""
    own = current_policy(view).key
    keys = [policy.key for policy in list_policies()]
    return keys if own in keys else [own, *keys]


def judge_view(view: AuditView) -> Verdict:
    """The verdict under the current policy, computed once a state of the audit."""
    return cache.remember(view, _judge, current_policy(view).model_dump_json())


def _judge(view: AuditView, policy: str) -> Verdict:
    return judge(view, Policy.model_validate_json(policy))


def choose_release(view: AuditView, release: str | None) -> None:
    """Carry the decision to Report and publishing."""
    st.session_state["chosen-release"] = (view.summary.id, release)


def chosen_release(view: AuditView) -> str | None:
    """What the analyst chose for this audit, else what is recommended; None: nothing."""
    chosen = st.session_state.get("chosen-release")
    if chosen is not None and chosen[0] == view.summary.id:
        release: str | None = chosen[1]
        return release
    return judge_view(view).recommended
