"""Defend page: what each defense protects, and its cost in usefulness."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.audit.asked.answers import Answers, Secret
from core.audit.asked.method_choice import MethodChoice
from core.audit.asked.presets import (
    PRESETS,
    Asked,
    add_data_independent,
    choose_attacks,
    find_data_independent,
    pair_data_independent,
)
from core.audit.asked.release_info import list_phrases, list_short_titles
from core.audit.results.view import AuditView
from core.audit.store.states import State
from core.figures import link_scores, releases, roc
from core.figures.change_bars import link_changes
from core.figures.chart import Chart
from core.findings.change import summarize_release
from core.findings.data_independent import (
    answer_data_independent,
    compute_data_independent_table,
    show_data_independent_table,
)
from core.findings.glossary import explain_term
from core.findings.guide import explain_obstacle
from core.findings.homophily import list_classes
from core.findings.link_changes import COMMUNITIES_LATER
from core.findings.palette import Theme
from core.findings.people_map import MAX_PEOPLE
from core.findings.release_table import compute_release_table
from core.findings.tables import find_level
from core.methods import Method
from core.partitioned.graph import PartitionedGraph
from core.partitioned.links import ONE_PROCESS
from core.registry import list_methods
from core.release import ORIGINAL
from core.seeding import Seed
from core.words import count_noun, join_words
from pages.ui import cache, page, session, sidebar
from pages.ui.benchmark_panel import show_benchmark
from pages.ui.chart import download_table, show_cached_chart, show_chart
from pages.ui.estimate import estimate_audit, estimate_method
from pages.ui.guarantee_card import show_guarantees
from pages.ui.map_data import count_changes, list_groupings
from pages.ui.method_form import list_fields, show_settings
from pages.ui.policy import current_policy, find_shown_release
from pages.ui.sweep_form import show_sweep
from pages.ui.text import escape, format_cell
from pages.ui.theme import current_theme

START_REPEATS = 5
MAX_COLUMNS = 8
"""Columns of the release table that fit into 1,024 pixels; the CSV file has all."""
GUARANTEES = {
    "empirical": (
        "No formal guarantee",
        "Tested against the attacks of the audit only. Other attacks may succeed.",
        "Defense",
    ),
    "edge DP": (
        "Edge-DP",
        "The release hardly depends on any single link. A trusted curator holds the whole graph.",
        "Edge-DP",
    ),
    "link-local DP": (
        "Link-local DP",
        "Each node randomises its own links before they are collected.",
        "Link-local DP",
    ),
    "node DP": (
        "Node-DP",
        "The release hardly depends on any single node and its links.",
        "Node-DP",
    ),
}
"""Group → title, what it protects, glossary term."""


def main() -> None:
    page.open_page("Defend", "What each defense protects, and its cost in usefulness.")
    audit_id = session.current_audit()
    view = cache.load_view(audit_id) if audit_id else None
    made = [] if view is None else [s.id for s in view.releases if s.id != ORIGINAL and s.facts]
    if view is not None:
        page.show_state(view)
        if made:
            _show_results(view, made)
            show_sweep(view)
        if view.summary.state.is_active:
            if not made:
                _list_awaited(view)
            sidebar.show_live_curves(view.summary.id)
    page.show_folded("Results on similar graphs", "benchmark-open", show_benchmark)
    page.show_folded(
        "Add defenses",
        "defenses-open",
        lambda: _show_form(view),
        expanded=not made and (view is None or not view.summary.state.is_active),
        icon=":material/tune:",
    )
    if made:
        page.show_next("risk", "See who is exposed")


def _list_awaited(view: AuditView) -> None:
    """What a running audit will show here; a form that cannot be used yet would be no answer."""
    titles = [escape(s.info.title) for s in view.releases if s.id != ORIGINAL]
    if titles:
        st.markdown(f"Not made yet: {join_words(titles)}. Each is shown here once it is made.")


def _show_results(view: AuditView, made: list[str]) -> None:
    start = find_shown_release(view)
    release = page.choose_release(view, "Release", made, "defend-release", start)
    policy = current_policy(view)
    page.show_summary(cache.remember(view, lambda: summarize_release(view, release, policy)))
    show_cached_chart(view, lambda theme: _plot_pair(view, release, theme), "before-after")
    contents = {
        "Releases": lambda: _show_table(view),
        "Training": lambda: _show_training(view, release),
        "Learned links": lambda: _show_learned(view, release),
        "ROC curves": lambda: _show_rocs(view),
        "Guarantee": lambda: show_guarantees(view, release),
    }
    if pair_data_independent(view.spec.defenses):
        contents["Baselines"] = lambda: _show_baselines(view)
    if view.summary.num_nodes <= MAX_PEOPLE:
        _show_changes(view, release)
    else:  # two graphs are read for it
        contents["Where links change"] = lambda: _show_changes(view, release)
    page.show_tabs("defend-tabs", contents)


def _plot_pair(view: AuditView, release: str, theme: Theme) -> Chart:
    names = list_short_titles(map(view.get_release, (ORIGINAL, release)))
    graph, column = cache.load_audit_graph(view), view.spec.threats.private
    return releases.before_after(
        view.load_sample(release),
        graph.node_ids,
        titles=(names[ORIGINAL], names[release]),
        theme=theme,
        attribute=graph.column(column) if column else None,
    )


def _show_changes(view: AuditView, release: str) -> None:
    made = view.get_release(release)
    if made.defense is not None and not made.defense.keeps_nodes:
        st.caption("No node of this release is one of the original, so links cannot be compared.")
        return
    if isinstance(view.load_graph(), PartitionedGraph):
        st.caption(f"Not counted by group: this {ONE_PROCESS}.")
    elif groupings := list_groupings(view):
        names = list_phrases(each.info for each in view.releases)
        show_cached_chart(
            view,
            lambda theme: link_changes(
                count_changes(view, release, groupings), names[release], list_classes(view), theme
            ),
            "link-changes",
        )
    else:
        st.caption(COMMUNITIES_LATER)


def _show_table(view: AuditView) -> None:
    table = cache.remember(view, lambda: compute_release_table(view.results, view.releases))
    with st.container(key="releases-table"):
        st.table(
            table.drop(columns="release").iloc[:, :MAX_COLUMNS].map(format_cell),
            hide_index=True,
            border="horizontal",
            alt="Releases with guarantee, risk and usefulness",
        )
    with st.container(horizontal=True, wrap=False):
        st.caption(
            f"Means over {count_noun(view.num_repeats, 'repeat')}, each with new splits and "
            "new noise. Brackets: 95 % intervals.",
            width="stretch",
        )
        download_table(table, "releases")
    page.show_missing(view)


def _show_training(view: AuditView, release: str) -> None:
    summary = next(s for s in view.releases if s.id == release)
    if not summary.curves:
        st.caption(f"{summary.info.title} has no training step.")
        return
    show_chart(releases.training_curves(summary.curves, current_theme()), f"curves-{release}")


def _show_learned(view: AuditView, release: str) -> None:
    """Score that the defense learned for each link."""
    theme = current_theme()
    cells = view.cells[(view.cells.kind == "publish") & (view.cells.release == release)]
    is_made = bool(((cells.seed == 0) & (cells.state == State.DONE)).any())
    scores = view.load_link_scores(release, 0) if is_made else None
    if scores is None:
        st.caption(f"{view.get_release(release).title} does not learn scores of links.")
        return
    rng = Seed(view.spec.root_seed).rng("sub-structures", release)
    chart = link_scores.link_scores(cache.load_release(view, ORIGINAL), scores, rng, theme)
    show_chart(chart, "learned-links")


def _show_rocs(view: AuditView) -> None:
    attacks = list(dict.fromkeys(attack for _, attack in view.rocs))
    if not attacks:
        st.caption("No attack with a ROC curve has finished yet.")
        return
    chosen = st.selectbox(
        "Attack",
        attacks,
        format_func=lambda attack: view.get_attack(attack).title,
        key="roc-attack",
        persist_state="session",
    )
    attack = view.get_attack(chosen)
    theme, everything = current_theme(), [summary.info for summary in view.releases]
    level = find_level(view.results, attack.threat)
    chart = roc.roc_by_release(view.rocs, attack, everything, theme, level)
    show_chart(chart, "roc-releases")


def _show_baselines(view: AuditView) -> None:
    """Synthesised releases beside their data-independent baselines."""
    table = cache.remember(
        view,
        lambda: compute_data_independent_table(
            view.results, pair_data_independent(view.spec.defenses)
        ),
    )
    if table.empty:
        st.caption("No baseline has finished yet.")
        return
    st.markdown("\n".join(f"- {sentence}" for sentence in answer_data_independent(table)))
    shown = show_data_independent_table(table)
    st.dataframe(shown, hide_index=True, alt="Synthesised releases and their baselines")
    download_table(shown, "baselines")


def _show_form(view: AuditView | None) -> None:
    top = st.container()  # drawn last: it depends on the choices below
    choices: list[MethodChoice] = []
    num_repeats = view.spec.num_repeats if view is not None else START_REPEATS
    groups: dict[str, list[type[Method]]] = {}
    for method in list_methods("defense"):
        groups.setdefault(method.info.group, []).append(method)
    for group in [*GUARANTEES, *(g for g in groups if g not in GUARANTEES)]:
        if group not in groups:
            continue
        title, protects, term = GUARANTEES.get(group, (group.capitalize(), "", "Defense"))
        st.header(title, anchor=False, help=explain_term(term))
        st.caption(protects)
        with st.grid(2, min_column_width=380, gap="small"):
            for method in groups[group]:
                with st.container(border=True):
                    choices += _show_card(method, num_repeats)
    if any(map(find_data_independent, choices)) and st.checkbox(
        "Add data-independent baselines of synthesis methods",
        True,
        key="add-twins",
        persist_state="session",
        help=explain_term("Data-independent baseline"),
    ):
        choices = add_data_independent(choices)
    kept = view.spec.defenses if view is not None else ()
    if kept and not st.checkbox(
        f"Keep the {count_noun(len(kept), 'release')} of this audit", True, key="keep-releases"
    ):
        kept = ()
    with top:
        _show_run(view, [*kept, *choices], bool(choices), num_repeats)


def _show_run(
    view: AuditView | None, defenses: list[MethodChoice], is_new: bool, num_repeats: int
) -> None:
    attacks = _choose_attacks(view)
    is_running = view is not None and view.summary.state.is_active
    fields: dict[str, Any] = {} if view is None else page.keep_fields(view)
    fields |= {"attacks": attacks, "defenses": defenses, "num_repeats": num_repeats}
    fields |= page.choose_identity(attacks)
    if is_running:
        st.caption(page.WAIT)
    if not is_new:
        st.caption("Select at least one defense.")
    elif time := estimate_audit(fields):
        st.caption(f"{count_noun(len(defenses), 'release')} to attack: {time} on this computer.")
    if st.button(
        "Make and attack the releases",
        type="primary",
        key="run",
        icon=":material/play_arrow:",
        disabled=not is_new or is_running,
    ):
        page.start_audit(fields)


def _show_card(method: type[Method], num_repeats: int) -> list[MethodChoice]:
    info = method.info
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
    choices = [MethodChoice(key=info.key)]
    if list_fields(method):
        choices = show_settings(method, f"defense.{info.key}", sweep=True)
    secrets = session.current_threats()
    asked: dict[Secret, bool] = {
        "links": secrets.has_links,
        "attribute": secrets.threats.private is not None,
    }
    answers = Answers(
        secrets=tuple(secret for secret in asked if asked[secret]),
        private=secrets.threats.private,
        utility=secrets.disclosure.utility,
    )
    reasons = [explain_obstacle(c, session.current_graph(), answers) for c in choices]
    for reason in filter(None, dict.fromkeys(reasons)):
        st.caption(f":material/block: Cannot run here: {escape(reason, 300)}.")
    return [c for c, reason in zip(choices, reasons, strict=True) if not reason]


def _choose_attacks(view: AuditView | None) -> tuple[MethodChoice, ...]:
    """Attacks of the open audit, or those of the quick preset."""
    if view is not None:
        return view.spec.attacks
    choice = session.current_threats()
    asked = Asked(choice.has_links, choice.threats.private is not None)
    attacks = choose_attacks(asked, [PRESETS[0].key])
    count = count_noun(len(attacks), "attack")
    st.caption(f"No attack has been run yet. The quick preset with {count} is used.")
    return tuple(attacks)


main()
