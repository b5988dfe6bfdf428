"""Form for attacks: presets with their time, the run button and the single methods."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from core.audit.asked.method_choice import MethodChoice
from core.audit.asked.presets import (
    PRESETS,
    Asked,
    Preset,
    add_joined,
    add_released,
    choose_attacks,
    list_released_attacks,
)
from core.audit.results.view import AuditView
from core.findings.glossary import explain_term
from core.methods import Method
from core.registry import list_methods
from core.words import begin_sentence, count_noun
from pages.ui import page, service, session
from pages.ui.estimate import estimate_audit, estimate_method
from pages.ui.method_form import list_fields, show_settings
from pages.ui.spec_form import ask, show_form

GROUPS = (
    (
        "link_attack",
        "Find withheld links",
        "The attacker sees the release and ranks pairs of nodes that may be withheld links.",
        "No sensitive links are set. Choose them on the Data page.",
    ),
    (
        "attribute_attack",
        "Infer the private attribute",
        "The attacker knows the value of some nodes and infers it for the others.",
        "No private column is set. Choose one on the Data page.",
    ),
    (
        "identity_attack",
        "Re-identify nodes",
        "The attacker knows how nodes are linked, or holds a second graph of them. It matches "
        "them to the pseudonyms of the release.",
        "",
    ),
)
START_REPEATS = 5


def show_attack_form(view: AuditView | None) -> None:
    """Presets and run button, with the list of methods folded below."""
    service.warm_up()
    choice = session.current_threats()
    usable = {
        "link_attack": choice.has_links,
        "attribute_attack": bool(choice.threats.private),
        "identity_attack": True,
    }
    top = st.container()
    st.session_state.setdefault(
        "num_repeats", view.spec.num_repeats if view is not None else START_REPEATS
    )
    if view is not None:
        st.session_state.setdefault("evaluation", view.spec.threats.evaluation)
    with st.expander("Choose single attacks", icon=":material/checklist:"):
        choices, knowledge = _show_methods(usable)
    with top:
        _show_presets(usable)
        _show_run(view, choices, knowledge)


def _show_presets(usable: Mapping[str, bool]) -> None:
    """One card per preset: its attacks, its time and whether it is selected."""
    for preset, column in zip(PRESETS, st.columns(len(PRESETS), gap="small"), strict=True):
        asked = Asked(usable["link_attack"], usable["attribute_attack"])
        attacks = choose_attacks(asked, [preset.key])
        keys = list(dict.fromkeys(choice.key for choice in attacks))
        is_chosen = _is_chosen(preset, keys)
        with column.container(border=True, height="stretch", key=f"card-{preset.key}"):
            st.markdown(f"**{preset.title}**" + (" :material/check: selected" if is_chosen else ""))
            count = count_noun(len(attacks), "attack")
            st.caption(f"{begin_sentence(preset.describe(preset.adaptive))}. {count} in all.")
            time = estimate_audit(
                {
                    "attacks": attacks,
                    "num_repeats": preset.num_repeats,
                    "adaptive": preset.adaptive,
                    "identity": None,
                }
            )
            st.markdown(
                begin_sentence(time) if time else "No secret is set. Set one on the Data page."
            )
            st.button(
                f"Choose {preset.title.lower()}",
                key=f"preset-{preset.key}",
                on_click=session.choose_attacks,
                args=(keys, preset.num_repeats, preset.adaptive),
                width="stretch",
                disabled=not time,
            )


def _is_chosen(preset: Preset, keys: list[str]) -> bool:
    state = st.session_state
    ticked = {
        method.info.key
        for kind, *_ in GROUPS
        for method in list_methods(kind)  # type: ignore[arg-type]
        if state.get(f"attack.{method.info.key}")
    }
    same = (state.get("num_repeats"), bool(state.get("adaptive"))) == (
        preset.num_repeats,
        preset.adaptive,
    )
    return same and ticked == set(keys)


def _show_run(
    view: AuditView | None, choices: list[MethodChoice], knowledge: dict[str, Any]
) -> None:
    run, left, right = st.columns([2, 1.2, 2.4], vertical_alignment="bottom")
    repeats = ask("num_repeats", "min", "num_repeats", left, persist_state="session")
    defenses: tuple[MethodChoice, ...] = ()
    if view is not None and view.spec.defenses:
        names = count_noun(len(view.spec.defenses), "defense")
        if right.checkbox(f"Include the {names}", True, key="keep_defenses"):
            defenses = view.spec.defenses
    is_empty = all(choice.make().info.is_baseline for choice in choices)
    is_running = view is not None and view.summary.state.is_active
    fields = {"attacks": choices, "defenses": defenses, "num_repeats": int(repeats)}
    fields = {**fields, **page.choose_identity(choices), **knowledge}
    pressed = run.button(
        "Run the attacks",
        type="primary",
        key="run",
        icon=":material/play_arrow:",
        disabled=is_empty or is_running,
        width="stretch",
    )
    if is_running:
        st.caption(page.WAIT)
    if is_empty:
        st.caption("Select at least one attack.")
    else:
        chosen = count_noun(len(choices), "attack")
        time = estimate_audit(fields)
        st.caption(f"{chosen} chosen" + (f": {time} on this computer." if time else "."))
        if session.current_threats().knowledge.shadow_graph and not any(
            map(page.uses_shadow_graph, choices)
        ):
            st.caption("No selected attack uses the shadow graph. Neighbourhood classifier does.")
    if pressed:
        page.start_audit(fields)


def _show_methods(usable: Mapping[str, bool]) -> tuple[list[MethodChoice], dict[str, Any]]:
    """Single methods; returns the selected ones and the auxiliary knowledge."""
    choices: list[MethodChoice] = []
    inside = list_released_attacks()
    st.button(
        "Clear selection",
        key="preset-none",
        type="tertiary",
        on_click=session.choose_attacks,
        args=([], st.session_state["num_repeats"]),
    )
    for kind, title, summary, missing in GROUPS:
        st.header(title, anchor=False)
        st.caption(summary if usable[kind] else missing)
        for method in list_methods(kind):  # type: ignore[arg-type]
            if method not in inside or "link" in getattr(method, "threats", ()):
                choices += _show_attack(method, usable[kind])
    knowledge = _show_knowledge()
    asked = ("released_links", "composition", "hold_every_defense")
    if choices and any(knowledge[name] for name in asked):
        choices = add_released(choices)
    return add_joined(choices), knowledge


def _show_knowledge() -> dict[str, Any]:
    """Ask for auxiliary knowledge of attackers, as fields of the spec."""
    st.header("Auxiliary knowledge", anchor=False, help=explain_term("Auxiliary knowledge"))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        return show_form("attack_form")


def _show_attack(method: type[Method], usable: bool) -> list[MethodChoice]:
    info = method.info
    box, text, cost, settings = st.columns([3, 5, 1.4, 1.3], vertical_alignment="center")
    key = f"attack.{info.key}"
    st.session_state.setdefault(key, usable and (info.is_baseline or info.cost == "instant"))
    chosen = box.checkbox(
        info.title, key=key, disabled=not usable, persist_state="session", help=info.source
    )
    text.caption(info.summary)
    cost.caption(estimate_method(method, int(st.session_state["num_repeats"])))
    if not list_fields(method):
        return [MethodChoice(key=info.key)] if chosen and usable else []
    if not (chosen and usable):  # hidden inputs would slow the page down
        reason = "Select the attack to change its settings."
        settings.popover("Settings", type="tertiary", disabled=True, help=reason)
        return []
    with settings.popover("Settings", type="tertiary"):
        return show_settings(method, f"attack.{info.key}")
