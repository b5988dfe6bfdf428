"""The guided questions: the analyst's words, one button."""

from __future__ import annotations

import streamlit as st

from core.audit.presets import PRESETS, Preset
from core.findings.guide import (
    KNOWLEDGE,
    RECIPIENTS,
    SECRETS,
    USES,
    Answers,
    choose_defenses,
    explain_preset,
    make_fields,
)
from core.findings.labels import method_title
from core.graph import Graph
from pages.ui import page, service, session
from pages.ui.estimate import estimate_audit
from pages.ui.text import escape

START_PRESET = "standard"


def show_guide() -> None:
    graph = session.current_graph()
    service.warm_up()
    st.caption(
        f"Four questions on {escape(graph.name, 60)}, then one button. Everything can be changed "
        "later on the other pages."
    )
    answers = _ask(graph)
    kept = _show_defenses(answers, graph)
    _show_presets(answers, kept)


def _ask(graph: Graph) -> Answers:
    threats = session.current_threats()
    with st.container(key="wide-guide"):
        left, right = st.columns(2, gap="large")
    recipient = left.radio(
        "Who receives it?", list(RECIPIENTS), format_func=RECIPIENTS.__getitem__,
        key="guide-recipient", persist_state="session",
    )  # fmt: skip
    knowledge = left.multiselect(
        "What do they know already?", list(KNOWLEDGE), ["values", "method"],
        format_func=KNOWLEDGE.__getitem__, key="guide-knowledge", persist_state="session",
    )  # fmt: skip
    start = ["links", "attribute"] if threats.private else ["links"]
    secrets = right.multiselect(
        "What must not be learned?", list(SECRETS), start,
        format_func=SECRETS.__getitem__, key=f"guide-secrets-{graph.content_hash[:8]}",
        persist_state="session",
    )  # fmt: skip
    private = _ask_column(
        "Which column is private?", graph, threats.private, "attribute" in secrets
    )
    uses = right.multiselect(
        "What do they need it for?", list(USES), ["statistics"], format_func=USES.__getitem__,
        key="guide-uses", persist_state="session",
    )  # fmt: skip
    utility = _ask_column(
        "Which column do they predict?", graph, threats.utility, "column" in uses, private
    )
    basis = left.text_input(
        "Legal basis, for the report", key="guide-basis", persist_state="session"
    )
    return Answers(
        recipient, tuple(secrets), tuple(knowledge), tuple(uses), private, utility, basis
    )


def _ask_column(
    label: str, graph: Graph, start: str | None, is_asked: bool, other: str | None = None
) -> str | None:
    names = [name for name in graph.attributes if name != other]
    if not is_asked:
        return start if start in names else None
    if not names:
        st.caption("This graph has no column: choose another secret, or upload one.")
        return None
    return st.selectbox(
        label, names, names.index(start) if start in names else 0,
        key=f"guide-{label}-{graph.content_hash[:8]}", persist_state="session",
    )  # fmt: skip


def _show_defenses(answers: Answers, graph: Graph) -> list[str]:
    """At most four, with the reason; all are tried unless unticked."""
    proposed = choose_defenses(answers, graph)
    if not proposed:
        st.caption("Say what must not be learned.")
        return []
    st.markdown("**Defenses worth trying**")
    return [
        advice.defense
        for advice in proposed
        if st.checkbox(
            f"{method_title(advice.defense)}: {advice.reason}",
            True,
            key=f"guide-try-{advice.defense}",
        )
    ]


def _show_presets(answers: Answers, defenses: list[str]) -> None:
    """How thorough; the button runs everything."""
    keys = [preset.key for preset in PRESETS]
    presets = {preset.key: preset for preset in PRESETS}
    key = st.radio(
        "How thorough?",
        keys,
        keys.index(START_PRESET),
        format_func=lambda k: f"{presets[k].title}: {presets[k].summary}",
        captions=[_explain(p, answers, defenses) for p in PRESETS],
        key="guide-preset",
        persist_state="session",
    )
    is_ready = bool(answers.secrets) and (
        "attribute" not in answers.secrets or answers.private is not None
    )
    if st.button(
        "Run the audit", type="primary", key="guide-run", icon=":material/play_arrow:",
        disabled=not is_ready,
    ):  # fmt: skip
        _start(answers, presets[key], defenses)


def _explain(preset: Preset, answers: Answers, defenses: list[str]) -> str:
    """What it can decide, and how long it takes here."""
    time = estimate_audit(make_fields(answers, preset, defenses))
    said = explain_preset(preset, answers.recipient)
    return f"{said} {time[0].upper()}{time[1:]}." if time else said


def _start(answers: Answers, preset: Preset, defenses: list[str]) -> None:
    fields = make_fields(answers, preset, defenses)
    session.set_threats(
        private=fields["private"],
        utility=fields["utility"],
        mode="share" if fields["hide_links"] else "none",
        way="share" if fields["hide_links"] else "none",
    )
    st.session_state["threat_form"] = st.session_state.get("threat_form", 0) + 1
    page.start_audit(fields)
