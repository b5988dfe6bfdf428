"""Attack: what could an adversary learn from the graph as it is?"""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.audit.presets import PRESETS, list_included_attacks
from core.audit.spec import MethodChoice
from core.audit.view import AuditView
from core.data.splits import Evaluation
from core.figures import ranking, roc
from core.findings import answers, knowing_more, tables
from core.findings.labels import attack_threat, is_null
from core.methods import Method
from core.registry import list_methods
from core.release import ORIGINAL
from pages.ui import cache, page, session
from pages.ui.method_form import list_fields, show_settings
from pages.ui.study_panel import show_studies
from pages.ui.text import count_noun
from pages.ui.theme import current_theme

GROUPS = (
    (
        "link_attack",
        "Find hidden links",
        "The adversary sees the release and names pairs that it believes to be hidden links.",
        "No sensitive links are set: choose some on the Data page.",
    ),
    (
        "attribute_attack",
        "Infer the private attribute",
        "The adversary knows the value of some people and infers that of the others.",
        "No private column is set: choose one on the Data page.",
    ),
    (
        "identity_attack",
        "Find people",
        "The adversary knows how people are linked, or holds a second graph of them with 90 % of "
        "the links, and looks for them among the pseudonyms.",
        "",
    ),
)
EVALUATIONS: dict[Evaluation, str] = {
    "uniform": "any other pairs",
    "degree_matched": "pairs whose ends have as many links",
    "distance_2": "pairs that share a contact",
}
TITLES = {
    "link": "Hidden links",
    "included": "Links inside",
    "attribute": "Private attribute",
    "identity": "Identity",
}


def main() -> None:
    page.open_page("Attack", "What could an adversary learn from the graph as it is?")
    audit_id = session.current_audit()
    view = cache.load_view(audit_id) if audit_id else None
    if view is not None and not view.results.empty:
        _show_results(view)
    elif view is not None:
        page.show_state(view)
    else:
        st.caption("Choose attacks and run them; results fill in as they finish.")
    with st.expander("Attacks", expanded=view is None, icon=":material/tune:"):
        _show_form(view)
    if view is not None:
        show_studies(view)
        page.show_next("defend", "What can be done about it: Defend")


def _show_form(view: AuditView | None) -> None:
    threats = session.current_threats()
    usable = {"link_attack": threats.has_link_threat, "attribute_attack": bool(threats.private)}
    usable["identity_attack"] = True
    _show_presets(usable)
    choices: list[MethodChoice] = []
    for kind, title, promise, missing in GROUPS:
        st.subheader(title, anchor=False)
        st.caption(promise if usable[kind] else missing)
        inside = list_included_attacks()
        for method in list_methods(kind):  # type: ignore[arg-type]
            if method in inside:
                continue
            choices += _show_attack(method, usable[kind])
    knowledge = _show_knowledge(view)
    if choices and (knowledge["included_links"] or knowledge["releases_held"]):
        choices += [MethodChoice(key=m.info.key) for m in list_included_attacks()]
    left, right = st.columns([1, 2], vertical_alignment="bottom")
    st.session_state.setdefault("num_repeats", view.spec.num_repeats if view is not None else 5)
    repeats = left.number_input(
        "Repeats",
        1,
        100,
        key="num_repeats",
        persist_state="session",
        help="Each repeat draws new splits and new noise; intervals come from all of them.",
    )
    defenses: tuple[MethodChoice, ...] = ()
    if view is not None and view.spec.defenses:
        names = count_noun(len(view.spec.defenses), "defense")
        if right.checkbox(f"Attack the {names} of this audit as well", True, key="keep_defenses"):
            defenses = view.spec.defenses
    is_empty = all(is_null(choice.id) for choice in choices)  # null attackers are a yardstick
    if is_empty:
        st.caption("Select at least one attack.")
    is_running = view is not None and view.summary.state.is_active
    if st.button(
        "Run the attacks",
        type="primary",
        key="run",
        icon=":material/play_arrow:",
        disabled=is_empty or is_running,
    ):
        plan = {"attacks": choices, "defenses": defenses, "num_repeats": int(repeats)}
        page.start_audit({**plan, **page.keep_choices(view, choices), **knowledge})


def _show_knowledge(view: AuditView | None) -> dict[str, Any]:
    """Attackers who know more than a release, and what they are judged by, as fields of the
    spec; at first as the open audit has them."""
    if view is not None:
        for name in ("aware", "included_links", "evaluation"):
            st.session_state.setdefault(name, getattr(view.spec, name))
        st.session_state.setdefault("releases_held", view.spec.releases_held or 1)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        aware = st.checkbox(
            "Knowing the defense too",
            key="aware",
            persist_state="session",
            help="Each attack is run a second time by somebody who replays the defense on the "
            "release with secrets of their own, and learns from it.",
        )
        inside = st.checkbox(
            "Links inside",
            key="included_links",
            persist_state="session",
            help="Which links of a release are real, and which real ones went in?",
        )
        held = st.number_input(
            "Releases held",
            1,
            100,
            key="releases_held",
            persist_state="session",
            help="Links inside, for somebody who holds so many releases of the same graph.",
        )
        evaluation = st.selectbox(
            "Tell hidden links from",
            list(EVALUATIONS),
            format_func=EVALUATIONS.__getitem__,
            key="evaluation",
            persist_state="session",
            help="Random pairs are easy to tell from links; people of as many links, or pairs "
            "that share a contact, are harder. At distance two, hidden links are judged only "
            "where their ends share a contact as well.",
        )
    return {
        "aware": aware,
        "included_links": inside,
        "releases_held": int(held) if held > 1 else None,
        "evaluation": evaluation,
    }


def _show_presets(usable: dict[str, bool]) -> None:
    with st.container(horizontal=True):
        for preset in PRESETS:
            keys = preset.choose_attacks(usable["link_attack"], usable["attribute_attack"])
            st.button(
                preset.title,
                key=f"preset-{preset.key}",
                help=preset.summary,
                on_click=session.choose_attacks,
                args=(keys, preset.num_repeats, preset.aware),
            )
        st.button(
            "None",
            key="preset-none",
            type="tertiary",
            on_click=session.choose_attacks,
            args=([], st.session_state.get("num_repeats", 5)),
        )


def _show_attack(method: type[Method], usable: bool) -> list[MethodChoice]:
    info = method.info
    box, text, cost, settings = st.columns([3, 5.4, 1, 1.3], vertical_alignment="center")
    key = f"attack.{info.key}"
    st.session_state.setdefault(key, usable and (info.is_null or info.cost == "instant"))
    chosen = box.checkbox(
        info.title, key=key, disabled=not usable, persist_state="session", help=info.source
    )
    text.caption(info.summary)
    cost.caption(info.cost)
    if not list_fields(method):
        return [MethodChoice(key=info.key)] if chosen and usable else []
    with settings.popover("Settings", type="tertiary", disabled=not usable):
        found = show_settings(method, f"attack.{info.key}")
    return found if chosen and usable else []


def _show_results(view: AuditView) -> None:
    threats = tables.list_threats(view.results)
    page.show_answer(" ".join(answers.answer_attack(view.results, threat) for threat in threats))
    page.show_state(view)
    theme = current_theme()
    for threat in threats:
        st.subheader(TITLES[threat], anchor=False)
        left, right = st.columns([3, 2], gap="medium")
        with left:
            page.show_chart(
                ranking.attack_ranking(view.results, threat, theme=theme), f"ranking-{threat}"
            )
        with right:
            attacks = [
                method
                for release, method in view.rocs
                if release == ORIGINAL and attack_threat(method) == threat
            ]
            if attacks:  # there is no such curve of finding people
                chart = roc.roc_by_attack(view.rocs, ORIGINAL, attacks, theme)
                page.show_chart(chart, f"roc-{threat}")
        if threat == "link" and (odds := answers.answer_odds(view.results)):
            st.markdown(odds)
    _show_knowing_more(view)
    page.show_missing(view, [ORIGINAL])


def _show_knowing_more(view: AuditView) -> None:
    """Attackers on links inside a release, and those who know the defense."""
    aware = knowing_more.answer_aware(view.results)
    table = knowing_more.tabulate_inside(view.results)
    if aware:
        st.subheader("Knowing the defense", anchor=False)
        st.markdown("\n".join(f"- {sentence}" for sentence in aware))
    if len(table):
        st.subheader(TITLES["included"], anchor=False)
        sentences = knowing_more.answer_inside(view.results)
        st.markdown("\n".join(f"- {sentence}" for sentence in sentences))
        st.dataframe(table, hide_index=True, key="links-inside")


main()
