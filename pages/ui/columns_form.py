"""Published columns on the Data page: as they are, generalised or withheld."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.audit.asked.spec import AuditSpec
from core.data.link_release import is_link_column, list_link_columns
from core.data.text_input import load_text
from core.errors import AuditError
from core.findings import leaving
from core.graph import Graph
from core.node_table import MANY
from core.words import count_noun, format_percent
from pages.ui import cache, page, session
from pages.ui.spec_form import read_help, read_label
from pages.ui.text import escape
from pages.ui.threat_form import form_key
from pages.ui.upload import store_upload

WAYS = {"utility": "utility column", "chosen": "chosen columns", "none": "none"}
EVERY = "every column of people"
MAX_AT_ONCE = 30
"""Columns that may take a rule at once: each is listed to be removed."""
MAX_KNOWN = 4
"""Columns that are proposed as quasi-identifiers."""


def show_columns(graph: Graph) -> None:
    """Widgets for the published columns; an invalid choice is reported and not applied."""
    st.header("Published columns", anchor=False)
    choice = session.current_threats()
    secret = {choice.threats.private, *choice.threats.more_private}
    names = [name for name in leaving.list_choices(graph)[0] if name not in secret]
    if not names:
        st.caption("There are no columns besides the private ones. Only links are published.")
    try:
        fields: dict[str, Any] = {"publish_columns": None, "generalize": ()}
        if names:
            fields = _choose(names, graph)
        fields["leave_out"] = _choose_people()
        spec = _make_spec(fields)
        _show_preview(spec)
    except AuditError as error:
        page.show_error(error)
        st.caption("The previous choice still applies.")
        return
    session.set_threats(**fields)


def _choose(names: list[str], graph: Graph) -> dict[str, Any]:
    choice, key = session.current_threats(), form_key()
    chosen = choice.disclosure.publish_columns
    start = "chosen" if chosen else "none"
    if chosen is None:
        start = "utility"
    way = st.segmented_control(
        read_label("publish_columns"),
        list(WAYS),
        default=start,
        format_func=WAYS.__getitem__,
        key=f"leaving-{key}",
        required=True,
    )
    if way == "none":
        return {"publish_columns": (), "generalize": ()}
    if way == "utility":
        if not choice.disclosure.generalize:  # else the sentence below tells what leaves
            held = "the utility column alone" if choice.disclosure.utility else "no columns"
            st.caption(f"Files hold {held}. {leaving.SEEN}")
        if graph.link_table is not None and graph.link_table.columns:
            st.caption("Columns of links leave only if they are chosen; weights leave.")
    publish = _choose_names(names, graph) if way == "chosen" else None
    usual = leaving.list_choices(graph)[1]
    unasked = [name for name in names if name in usual]
    rules = _choose_rules(unasked if publish is None else list(publish), publish)
    return {"publish_columns": publish, "generalize": rules}


def _choose_names(names: list[str], graph: Graph) -> tuple[str, ...]:
    """Ask for the published columns; many features are offered as one choice."""
    key, chosen = form_key(), session.current_threats().disclosure.publish_columns
    features = graph.columns.together
    every = f"all {len(features):,} features"
    words = set(features)
    offered = [n for n in names if n not in words] + ([every] if features else [])
    usual = leaving.list_choices(graph)[1]
    start = [n for n in offered if n in (*usual, every)]
    if chosen is not None:
        has_features = bool(features) and words <= set(chosen)
        start = [n for n in offered if n in chosen or (n == every and has_features)]
    kept = st.multiselect(
        "Published columns; all others are withheld", offered, start, key=f"published-{key}"
    )
    named = [n for name in kept for n in (features if name == every else [name])]
    return leaving.complete_choice(named, graph)


def _choose_rules(names: list[str], publish: tuple[str, ...] | None) -> tuple[str, ...]:
    """Ask for generalisation rules, added and removed one by one."""
    key, state = form_key(), st.session_state
    known = session.current_threats().disclosure.generalize
    rules = tuple(rule for rule in known if rule.rpartition(":")[0] in names)
    first, second, third, last = st.columns([3, 3, 2, 2], vertical_alignment="bottom")
    people = [name for name in names if not is_link_column(name)]
    offered = [*names[:MANY], *([EVERY] if 1 < len(people) <= MAX_AT_ONCE else [])]
    column = first.selectbox(read_label("generalize"), offered, key=f"rule-column-{key}")
    kind = second.selectbox(
        "Rule",
        list(leaving.RULES),
        format_func=lambda name: leaving.RULES[name][1],
        key=f"rule-kind-{key}",
    )
    what = leaving.RULES[kind][0]
    number = third.text_input(
        what or "no number needed", "10", key=f"rule-number-{key}", disabled=not what
    )
    if last.button("Add", key="rule-add", icon=":material/add:", disabled=not names):
        ruled = people if column == EVERY else [column]
        more = (*rules, *(leaving.write_rule(name, kind, number) for name in ruled))
        _make_spec({"publish_columns": publish, "generalize": more})
        session.set_threats(publish_columns=publish, generalize=more)
        state["rules_added"] = state.get("rules_added", 0) + 1  # resets the pills below
        st.rerun()
    if not rules:
        return ()
    kept = st.pills(
        "Generalised columns (click a rule to remove it)",
        rules,
        selection_mode="multi",
        default=rules,
        format_func=_describe_rule,
        key=f"rules-{key}-{state.get('rules_added', 0)}",
    )
    return tuple(kept)


def _describe_rule(text: str) -> str:
    return escape(f"{text.rpartition(':')[0]}: {leaving.describe_rule(text)}", 80)


def _choose_people() -> tuple[str, ...]:
    """Ask for the ids of people to exclude, for example because they objected."""
    choice, key = session.current_threats(), form_key()
    num_out = len(choice.disclosure.leave_out)
    with st.expander("Exclude nodes" + (f" ({num_out:,})" if num_out else "")):
        text = st.text_area(
            read_label("leave_out"),
            "\n".join(choice.disclosure.leave_out),
            key=f"left-out-{key}",
            help=read_help("leave_out"),
        )
        file = st.file_uploader("Or a file of ids", type=["csv", "txt"], key=f"objected-{key}")
    listed = text.splitlines()
    if file is not None:
        listed += load_text(store_upload(file)).splitlines()
    return tuple(dict.fromkeys(line.strip() for line in listed if line.strip()))


def _make_spec(fields: dict[str, Any]) -> AuditSpec:
    """Spec with these columns; raises InputError if they do not fit the graph."""
    choice = session.current_threats()
    named = {
        **choice.threats.model_dump(include={"private", "more_private"}),
        "utility": choice.disclosure.utility,
    }
    graph_hash = st.session_state["graph"]
    spec = AuditSpec.model_validate({"graph_hash": graph_hash, **named, **fields})
    cache.preview_leaving(spec)
    return spec


def _show_preview(spec: AuditSpec) -> None:
    before, after = cache.preview_leaving(spec)
    published = list(after.columns)
    named = [*published, *list_link_columns(after)]
    if spec.disclosure.publish_columns is not None or spec.disclosure.generalize:
        st.markdown(escape(leaving.describe_columns(named, spec.disclosure.generalize), 1000))
    if spec.disclosure.leave_out:
        num_out = count_noun(len(spec.disclosure.leave_out), "node is", "nodes are")
        st.caption(f"{num_out} excluded; {before.num_nodes:,} remain.")
    if not before.columns:
        return
    page.show_folded(
        "Columns before and after",
        "leaving-open",
        lambda: st.dataframe(cache.tabulate_leaving(spec), hide_index=True, key="leaving-table"),
    )
    if published:
        page.show_folded(
            "Quasi-identifiers: who is unique by columns that others may know",
            "alone-open",
            lambda: _show_alone(spec, published),
            expanded=bool(spec.disclosure.generalize),
        )


def _show_alone(spec: AuditSpec, published: list[str]) -> None:
    """People who are unique by quasi-identifiers, with and without their degree."""
    offered = published[:MANY]
    known = st.multiselect(
        "Columns that others may know",
        offered,
        offered[:MAX_KNOWN],
        key=f"known-columns-{form_key()}-{len(published)}",
    )
    if known:
        alone = cache.tabulate_alone(spec, tuple(known))
        st.markdown(leaving.describe_uniqueness(alone, [escape(n) for n in known]))
        shares = {name: alone[name].map(format_percent) for name in alone.columns[2:]}
        st.dataframe(alone.assign(**shares), hide_index=True, key="alone-table")
