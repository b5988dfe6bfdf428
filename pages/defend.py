"""Defend: what can I do, and what does it cost?"""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from core.audit.data_independent import (
    add_data_independent,
    find_data_independent,
    pair_data_independent,
)
from core.audit.presets import PRESETS
from core.audit.spec import MethodChoice
from core.audit.view import AuditView
from core.figures import releases, roc
from core.figures.chart import Chart
from core.findings import answers, release_table
from core.findings.data_independent import (
    answer_data_independent,
    compute_data_independent_table,
    show_data_independent_table,
)
from core.findings.labels import method_title, release_title, short_titles
from core.findings.palette import Theme
from core.findings.tables import list_threats
from core.methods import Method
from core.registry import list_methods
from core.release import ORIGINAL
from core.words import count_noun
from pages.ui import cache, page, session, sidebar
from pages.ui.estimate import estimate_audit, estimate_method
from pages.ui.guarantee_card import show_guarantees
from pages.ui.learned_links import list_learned, show_learned_links
from pages.ui.method_form import list_fields, show_settings
from pages.ui.text import escape
from pages.ui.theme import current_theme

START_REPEATS = 5
PROMISES = {
    "empirical": (
        "Empirical",
        "Lowers the attacks that were tried. Promises nothing about attacks that were not.",
    ),
    "edge DP": (
        "Edge differential privacy",
        "Whoever sees the release can hardly tell whether any one link was there. Use it where "
        "you hold the graph and links are the secret.",
    ),
    "link-local DP": (
        "Link-local differential privacy",
        "Each person randomises their own list of links before anybody sees it. Use it where "
        "nobody, not even you, should hold the true graph.",
    ),
    "node DP": (
        "Node differential privacy",
        "Whoever sees the release can hardly tell what links any one person has. The strongest "
        "promise, at the highest cost.",
    ),
}


def main() -> None:
    page.open_page("Defend", "What each defense protects, and what it costs in usefulness.")
    audit_id = session.current_audit()
    view = cache.load_view(audit_id) if audit_id else None
    has_releases = view is not None and bool(view.spec.defenses)
    if view is not None and has_releases:
        _show_results(view)
    else:
        st.caption("Choose defenses; each makes a release that the attacks are tried on.")
        if view is not None:
            page.show_state(view)
    with st.expander("Defenses", expanded=not has_releases, icon=":material/tune:"):
        _show_form(view)
    if has_releases:
        page.show_next("risk", "Who is exposed: Risk")


def _show_form(view: AuditView | None) -> None:
    top = st.container()  # drawn last, on what is ticked below
    choices: list[MethodChoice] = []
    num_repeats = _count_repeats()
    groups: dict[str, list[type[Method]]] = {}
    for method in list_methods("defense"):
        groups.setdefault(method.info.group, []).append(method)
    for group in [*PROMISES, *(g for g in groups if g not in PROMISES)]:
        if group not in groups:
            continue
        title, promise = PROMISES.get(group, (group.capitalize(), ""))
        st.header(title, anchor=False)
        st.caption(promise)
        columns = st.columns(2, gap="small")
        for index, method in enumerate(groups[group]):
            with columns[index % 2]:
                choices += _show_card(method, num_repeats)
    if any(map(find_data_independent, choices)) and st.checkbox(
        "Add the data-independent baselines of syntheses",
        True,
        key="add-twins",
        persist_state="session",
        help="The same method without the links, but for their number: only what a synthesis "
        "does better than its twin came from the data.",
    ):
        choices = add_data_independent(choices)
    kept = view.spec.defenses if view is not None else ()
    if kept and not st.checkbox(
        f"Keep the {count_noun(len(kept), 'release')} of this audit", True, key="keep-releases"
    ):
        kept = ()
    with top:
        _show_run(view, [*kept, *choices], bool(choices))


def _show_run(view: AuditView | None, defenses: list[MethodChoice], is_new: bool) -> None:
    attacks = _choose_attacks(view)
    is_running = view is not None and view.summary.state.is_active
    fields = {
        "attacks": attacks,
        **_keep_knowledge(view),
        "defenses": defenses,
        "num_repeats": _count_repeats(),
        **page.choose_identity(attacks),
    }
    if is_running:
        st.caption(page.WAIT)
    if not is_new:
        st.caption("Select at least one defense.")
    elif time := estimate_audit(fields):
        st.caption(f"{count_noun(len(defenses), 'release')} attacked: {time} on this computer.")
    if st.button(
        "Make the releases and attack them",
        type="primary",
        key="run",
        icon=":material/play_arrow:",
        disabled=not is_new or is_running,
    ):
        page.start_audit(fields)


def _count_repeats() -> int:
    """Those of the open audit."""
    audit_id = session.current_audit()
    return cache.load_view(audit_id).spec.num_repeats if audit_id else START_REPEATS


def _show_card(method: type[Method], num_repeats: int) -> list[MethodChoice]:
    info = method.info
    with st.container(border=True):
        with st.container(horizontal=True, vertical_alignment="center"):
            chosen = st.checkbox(
                f"**{info.title}**",
                key=f"defense.{info.key}",
                persist_state="session",
                help=info.source,
                width="stretch",
            )
            st.caption(estimate_method(method, num_repeats).replace(" ", "\u00a0"), width="content")
        st.caption(info.summary)
        if not chosen:
            return []
        if not list_fields(method):
            return [MethodChoice(key=info.key)]
        choices = show_settings(method, f"defense.{info.key}", sweep=True)
        for remark in dict.fromkeys(choice.make("defense").remark for choice in choices):
            if remark:
                st.caption(remark)
        return choices


def _keep_knowledge(view: AuditView | None) -> dict[str, Any]:
    """What the attackers of the open audit know, for its next run."""
    names = ("aware", "released_links", "releases_held", "hold_every_defense", "evaluation")
    return {} if view is None else {name: getattr(view.spec, name) for name in names}


def _choose_attacks(view: AuditView | None) -> tuple[MethodChoice, ...]:
    """The attacks of the open audit, or those of the standard preset."""
    if view is not None:
        return view.spec.attacks
    threats = session.current_threats()
    keys = PRESETS[0].choose_attacks(threats.has_link_threat, threats.private is not None)
    st.caption(f"No attacks were run yet: the quick look ({len(keys)} attacks) will be.")
    return tuple(MethodChoice(key=key) for key in keys)


def _answer(view: AuditView) -> str:
    threats = list_threats(view.results)
    sentences = (answers.answer_defense(view.results, threat) for threat in threats)
    return "\n\n".join(filter(None, sentences))


def _tabulate(view: AuditView) -> pd.DataFrame:
    return release_table.compute_release_table(view.results, view.releases)


def _compare_data_independent(view: AuditView) -> pd.DataFrame:
    return compute_data_independent_table(view.results, pair_data_independent(view.spec.defenses))


def _find_best(view: AuditView) -> str | None:
    return answers.find_best_defense(view.results)


def _plot_rocs(view: AuditView, attack: str, theme: Theme) -> Chart:
    everything = [summary.id for summary in view.releases]
    return roc.roc_by_release(view.rocs, attack, None, everything, theme)


def _plot_pair(view: AuditView, first: str, second: str, theme: Theme) -> Chart:
    names = short_titles((first, second))
    return releases.before_after(
        cache.load_release(view, first),
        cache.load_release(view, second),
        titles=(names[first], names[second]),
        theme=theme,
    )


def _show_results(view: AuditView) -> None:
    answer = cache.remember(view, _answer)
    if answer:
        page.show_answer(answer)
    page.show_state(view)
    table = cache.remember(view, _tabulate)
    with st.container(key="releases-table"):
        st.table(
            table.drop(columns="release").map(_keep_interval),
            hide_index=True,
            border="horizontal",
            alt="The releases: what was promised, risked and kept useful",
        )
    with st.container(horizontal=True, wrap=False):
        st.caption(
            f"Means over {count_noun(view.spec.num_repeats, 'repeat')}, each with a new split and "
            "new noise; 95 % intervals in brackets. The worst case is the best attack, null "
            "attackers included.",
            width="stretch",
        )
        page.download_table(table, "releases")
    page.show_missing(view)
    if view.summary.state.is_active:
        sidebar.show_live_curves(view.summary.id)
    _show_details(view)
    _show_data_independent(view)
    show_guarantees(view)


def _keep_interval(text: str) -> str:
    """A narrow cell breaks before an interval, not within it."""
    return (
        escape(text, 120)
        .replace(", ", ",\u00a0" if "[" in text else ", ")
        .replace(" = ", "\u00a0=\u00a0")
    )


def _show_data_independent(view: AuditView) -> None:
    table = cache.remember(view, _compare_data_independent)
    if table.empty:
        return
    st.header("Did the data make the difference?", anchor=False)
    for sentence in answer_data_independent(table):
        st.markdown(sentence)
    shown = show_data_independent_table(table)
    st.dataframe(
        shown,
        hide_index=True,
        column_config={"Release": st.column_config.TextColumn(width="small")},
    )
    with st.container(horizontal=True, wrap=False):
        st.caption(
            "A data-independent baseline is the same method run without the links, but for their "
            "number: only what exceeds it came from the data.",
            width="stretch",
        )
        page.download_table(shown, "twins")


def _show_details(view: AuditView) -> None:
    done = [summary for summary in view.releases if summary.id != ORIGINAL and summary.facts]
    if not done:
        return
    names = ["Before and after", "Training", "Learned links", "ROC"]
    before_after, curves, learned, rocs = st.tabs(names)
    with before_after:
        _show_before_after(view, [ORIGINAL, *(summary.id for summary in done)])
    with curves:
        trained = [summary for summary in done if summary.curves]
        if not trained:
            st.caption("None of these defenses trains anything.")
        for summary in trained:
            chart = releases.training_curves(summary.curves, current_theme())
            page.show_chart(chart, f"curves-{summary.id}", release_title(summary.id))
    with learned:
        show_learned_links(view, list_learned(view, [summary.id for summary in done]))
    with rocs:
        attacks = list(dict.fromkeys(attack for _, attack in view.rocs))
        if attacks:
            attack = st.selectbox(
                "Attack",
                attacks,
                format_func=method_title,
                key="roc-attack",
                persist_state="session",
            )
            chart = cache.remember(view, _plot_rocs, attack, current_theme())
            page.show_chart(chart, "roc-releases")


def _show_before_after(view: AuditView, ids: list[str]) -> None:
    best = cache.remember(view, _find_best)
    left, right = st.columns(2)
    first = left.selectbox(
        "Before", ids, 0, format_func=release_title, key="compare-first", persist_state="session"
    )
    start = ids.index(best) if best in ids else 1
    second = right.selectbox(
        "After",
        ids,
        start,
        format_func=release_title,
        key="compare-second",
        persist_state="session",
    )
    chart = cache.remember(view, _plot_pair, first, second, current_theme())
    page.show_chart(chart, "before-after")


main()
