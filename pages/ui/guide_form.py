"""Guided set-up of an audit: four questions, proposed defenses and the run button."""

from __future__ import annotations

import streamlit as st

from core.audit.asked.answers import Answers, Recipient, choose_seeds, find_obstacle, make_fields
from core.audit.asked.presets import PRESETS, Preset
from core.audit.asked.spec import AuditSpec
from core.findings.guide import (
    ABOUT,
    KNOWLEDGE,
    SECRETS,
    USES,
    can_clear,
    choose_defenses,
    describe_preset,
    describe_recipient,
    explain_preset,
)
from core.findings.policy import find_policy
from core.findings.recipient import RECIPIENTS
from core.graph import Graph
from core.words import begin_sentence
from pages.ui import page, service, session
from pages.ui.estimate import ends_within, estimate_audit, estimate_method, load_time_model
from pages.ui.spec_form import ask
from pages.ui.text import escape

FIRST_LOOK_S = 300
"""Expected seconds up to which the audit that can clear a release is the one proposed first."""


def show_guide(start: str | None = None) -> AuditSpec | None:
    """The guide; returns what its answers ask for, without defenses, or None where no audit of
    them can start. The recipient is asked first: policy, attacks and defenses follow from it.

    start  key of the policy of the audit that is open, which may be a recipient's
    """
    graph = session.current_graph()
    service.warm_up()
    known = list(RECIPIENTS)
    place = next((i for i, key in enumerate(known) if key == start), None)
    recipient = st.radio(
        "Who receives it?", known, place,
        format_func=RECIPIENTS.__getitem__, key="guide-recipient", persist_state="session",
    )  # fmt: skip
    if recipient is None:
        st.caption("Limits, attacks and proposed defenses depend on the recipient.")
        return None
    st.caption(find_policy(recipient).summary)
    answers = _ask(graph, recipient)
    obstacle = find_obstacle(answers, graph)
    kept = _show_defenses(answers, graph, obstacle)
    _show_presets(answers, kept, obstacle)
    if obstacle:
        return None
    return page.make_spec(make_fields(answers, PRESETS[0], []) | describe_recipient(answers))


def _ask(graph: Graph, recipient: Recipient) -> Answers:
    choice, columns = session.current_threats(), graph.columns.list_choices()
    columns = list(dict.fromkeys([*columns, *filter(None, choice.columns)]))
    with st.container(key="wide-guide"):
        left, right = st.columns(2, gap="large")
    offered = [key for key in SECRETS if key != "attribute" or columns]
    offered = [key for key in offered if key != "links" or graph.num_edges]
    start = [key for key in ("links", "attribute", "identity") if key in offered]
    if choice.threats.private is None:
        start = [key for key in start if key != "attribute"] or start
    elif not choice.has_links:
        start = [key for key in start if key != "links"]
    key = f"{graph.content_hash[:8]}-{choice.threats.private}"
    secrets = right.multiselect(
        "What must not be learned?", offered, start,
        format_func=SECRETS.__getitem__, key=f"guide-secrets-{key}", persist_state="session",
    )  # fmt: skip
    known = [key for key in KNOWLEDGE if ABOUT.get(key, "") in ("", *secrets)]
    knowledge = left.multiselect(
        "What do they already know?", known, [key for key in known if key in ("values", "method")],
        format_func=KNOWLEDGE.__getitem__, key=f"guide-knowledge-{'-'.join(known)}",
        persist_state="session",
    )  # fmt: skip
    with right:
        private = _ask_column(
            "Which column is private?", columns, choice.threats.private, "attribute" in secrets
        )
    fits = [key for key in USES if key != "column" or len(columns) > (private is not None)]
    uses = right.multiselect(
        "What do they need it for?", fits, ["statistics"], format_func=USES.__getitem__,
        key=f"guide-uses-{len(fits)}", persist_state="session",
    )  # fmt: skip
    with right:
        utility = _ask_column(
            "Which column do they predict?", columns, choice.disclosure.utility, "column" in uses,
            private,
        )  # fmt: skip
    basis = right.text_input(
        "Legal basis, printed in the report", key="guide-basis", persist_state="session"
    )
    return Answers(
        recipient, tuple(secrets), tuple(knowledge), tuple(uses), private, utility, basis,
        choice.threats.sensitive_links or (), choose_seeds(graph),
    )  # fmt: skip


def _ask_column(
    label: str, columns: list[str], start: str | None, is_asked: bool, other: str | None = None
) -> str | None:
    """The chosen column; a new choice on Data, `start`, takes the place of an earlier answer.
    None is proposed without one: the private column is judged by it, the other one published."""
    names = [name for name in columns if name != other]
    if not is_asked:
        return start if start in names else None
    return st.selectbox(
        label, names, names.index(start) if start in names else None, placeholder="choose",
        key=f"guide-{label}-{st.session_state['graph'][:8]}-{start}", persist_state="session",
    )  # fmt: skip


def _show_defenses(answers: Answers, graph: Graph, obstacle: str) -> list[str]:
    """Checkboxes of defenses that can run here and could meet the policy."""
    if obstacle:  # told beside the run button
        return []
    st.header("Defenses worth trying", anchor=False)
    proposed = choose_defenses(answers, graph, model=load_time_model())
    if not proposed:
        st.caption("No defense can run on this graph with these answers.")
    kept = []
    with st.grid(2, min_column_width=380, gap="small"):
        for advice in proposed:
            with st.container(border=True):
                title = advice.choice.make_defense().title
                if st.checkbox(f"**{title}**", True, key=f"guide-try-{advice.defense}"):
                    kept.append(advice.defense)
                time = estimate_method(type(advice.choice.make_defense()), num_repeats=1)
                reason = escape(begin_sentence(advice.reason), 300)
                st.caption(f"{reason}. {begin_sentence(time)} per release.")
    return kept


def _show_presets(answers: Answers, defenses: list[str], obstacle: str) -> None:
    """Choice of the preset and the run button."""
    keys = [preset.key for preset in PRESETS]
    presets = {preset.key: preset for preset in PRESETS}
    start = _choose_start(answers, defenses)
    key = st.radio(
        "How thorough?",
        keys,
        keys.index(start.key),
        format_func=lambda k: describe_preset(presets[k], answers, defenses),
        captions=[_explain(p, answers, defenses) for p in PRESETS],
        key=f"guide-preset-{answers.recipient}",
        persist_state="session",
    )
    stop_early = _saves_repeats(presets[key], answers) and ask(
        "stop_early", True, f"guide-stop-early-{key}", persist_state="session"
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        pressed = st.button(
            "Run the audit", type="primary", key="guide-run", icon=":material/play_arrow:",
            disabled=bool(obstacle),
        )  # fmt: skip
        st.caption(obstacle)
    if pressed:
        _start(answers, presets[key], defenses, stop_early)


def _choose_start(answers: Answers, defenses: list[str]) -> Preset:
    """The first preset that can clear a release and ends in time, else the quickest."""
    policy = find_policy(answers.recipient)
    able = [
        preset
        for preset in PRESETS
        if can_clear(preset, policy)
        and ends_within(make_fields(answers, preset, defenses), FIRST_LOOK_S)
    ]
    return next(iter(able), PRESETS[0])


def _saves_repeats(preset: Preset, answers: Answers) -> bool:
    """Whether the preset runs more repeats than the policy asks for."""
    return preset.num_repeats > find_policy(answers.recipient).repeats


def _explain(preset: Preset, answers: Answers, defenses: list[str]) -> str:
    """What the preset can decide, and its time on this machine."""
    time = estimate_audit(make_fields(answers, preset, defenses))
    text = explain_preset(preset, answers)
    less = ", less if it stops early" if _saves_repeats(preset, answers) else ""
    return f"{text} {begin_sentence(time)}{less}." if time else text


def _start(answers: Answers, preset: Preset, defenses: list[str], stop_early: bool) -> None:
    fields = make_fields(answers, preset, defenses) | describe_recipient(answers)
    fields["stop_early"] = stop_early
    way = session.current_threats().way if fields["sensitive_links"] else ""
    session.set_threats(
        **{name: fields[name] for name in ("private", "utility", "hide_links", "sensitive_links")},
        way=way or ("share" if fields["hide_links"] else "none"),
    )
    st.session_state["threat_form"] = st.session_state.get("threat_form", 0) + 1
    page.start_audit(fields)
