"""Formal guarantee of a release and the check of its claim, on the Defend page."""

from __future__ import annotations

import streamlit as st

from core.audit.results.view import AuditView, ClaimRun, ReleaseSummary
from core.errors import AuditError
from core.figures.claim import draw_claim
from core.findings.guarantees import (
    explain_claim,
    explain_guarantee,
    explain_signal,
    explain_target,
    list_guarantee_rows,
)
from core.findings.numbers import format_number
from core.release import Guarantee
from pages.ui import job, login, page, service
from pages.ui.chart import show_chart
from pages.ui.text import escape, show_seconds
from pages.ui.theme import current_theme

TRIALS = {500: "500, quick", 2000: "2,000", 10_000: "10,000, thorough"}


def show_guarantees(view: AuditView, release: str) -> None:
    """Guarantee of one release, with the check of its claim beside it."""
    summary = next(s for s in view.releases if s.id == release)
    if not summary.guarantee.is_private:
        show_card(summary.guarantee, view, summary)
        return
    left, right = st.columns([1, 1], gap="medium")
    with left:
        show_card(summary.guarantee, view, summary)
    with right:
        _show_check(view, release)


def show_card(guarantee: Guarantee, view: AuditView, summary: ReleaseSummary | None = None) -> None:
    """Card with the guarantee, its meaning and its notes."""
    with st.container(border=True):
        if guarantee.is_private:
            st.badge(guarantee.label, icon=":material/verified_user:", color="blue")
        else:
            st.badge(guarantee.label, icon=":material/science:", color="gray")
        if guarantee.is_private:
            rows = list_guarantee_rows(guarantee)
            st.markdown("  \n".join(f"**{name}:** {escape(value, 400)}" for name, value in rows))
        nodes, links = view.summary.num_nodes, view.summary.num_edges
        density = links / max(nodes * (nodes - 1) / 2, 1)
        st.markdown(escape(explain_guarantee(guarantee, nodes, density), 900))
        facts = {} if summary is None else summary.facts
        for text in filter(None, (explain_signal(facts), explain_target(facts), guarantee.note)):
            st.caption(escape(text, 400))


def describe_checks(view: AuditView, release: str) -> str:
    """Outcome of the checks of a release's claim, in one line."""
    done = [run for run in view.claims if run.release == release and run.check is not None]
    if not done:
        return "This claim has not been checked. You can check it on the Defend page."
    verdicts = (run.check.verdict for run in done if run.check is not None)
    return escape(" ".join(dict.fromkeys(verdicts)), 600)


def _show_check(view: AuditView, release: str) -> None:
    st.markdown(
        "**Check this claim**",
        help="The defense runs many times on two small neighbouring graphs. An attacker guesses "
        "which graph a release came from. Its success rate gives a lower bound on ε, with 95 % "
        "confidence.",
    )
    runs = service.open_service().claims.list(view.summary.id)
    claims = [run for run in runs if run.release == release]
    running = next((run for run in claims if run.is_active), None)
    if running is not None:
        _watch(view.summary.id, running.id)
    elif login.check_change(view.summary.id, view.summary.person, "check its claims"):
        _show_start(view.summary.id, release)
    done = [run for run in claims if run.check is not None]
    if done:
        _show_outcome(max(done, key=lambda run: run.trials), len(done))
    for run in claims:
        if not run.is_active and run.check is None:
            st.caption(
                f"The check with {run.trials:,} trials did not finish: "
                f"{escape(run.reason or run.state, 200)}"
            )


def _show_start(audit_id: str, release: str) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        trials = st.selectbox(
            "Trials",
            list(TRIALS),
            1,
            format_func=TRIALS.__getitem__,
            key="claim-trials",
            persist_state="session",
            help="Larger values of ε need more trials.",
        )
        pressed = st.button("Check the claim", key="claim-start", icon=":material/gavel:")
    if pressed:
        try:
            service.open_service().claims.start(audit_id, release, trials)
        except AuditError as error:
            page.show_error(error)
            return
        st.rerun()


def _watch(audit_id: str, claim_id: str) -> None:
    claims = service.open_service().claims
    job.watch_job(
        lambda: next((run for run in claims.list(audit_id) if run.id == claim_id), None),
        lambda run: f"{run.trials:,} trials: {job.describe_message(run.message)}",
        "Cancel the check",
        "claim-cancel",
        lambda: claims.cancel(claim_id),
    )


def _show_outcome(run: ClaimRun, num_done: int) -> None:
    check = run.check
    assert check is not None
    text = escape(explain_claim(run), 900)
    if check.is_refuted:
        st.error(text, icon=":material/gpp_bad:")
    claimed, measured = st.columns(2)
    claimed.metric("Claimed ε", f"{check.claimed:g}")
    measured.metric(
        "Measured ε ≥",
        format_number(check.lower_bound),
        help="Lower bound with 95 % confidence. A bound above the claim refutes it.",
    )
    if not check.is_refuted:
        st.markdown(text)
    show_chart(draw_claim(check, current_theme()), f"claim-{run.id}")
    others = f", the longest of {num_done} checks" if num_done > 1 else ""
    st.caption(f"{check.trials:,} of {run.trials:,} trials in {show_seconds(run.seconds)}{others}.")
