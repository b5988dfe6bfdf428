"""The two threats on the Data page: what must stay private, and from whom."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core.audit.knowledge import JointHow, PublisherKnows
from core.data import node_pairs
from core.errors import AuditError
from core.findings.numbers import format_percent
from core.graph import Graph
from core.words import count_noun
from pages.ui import page, session, upload
from pages.ui.share import ask_share
from pages.ui.text import escape

WAYS = {
    "share": "a random share",
    "file": "from a file",
    "nodes": "all links at chosen nodes",
    "classes": "all links between two classes",
    "given": "those of the open audit",
    "none": "none",
}
Pair = tuple[str, str]
OTHERS = (0.01, 0.1, 0.3, 0.5)
PUBLISHER: dict[PublisherKnows, str] = {
    "public": "the values that the assumed attacker knows",
    "column": "the whole column",
    "none": "nothing",
}
PLACES = ("degree:0.1", "community:0.1", "degree:0.3", "community:0.3")
JOINT: dict[JointHow, str] = {
    "inferred": "infer all of them",
    "known": "know the others of everybody",
}
MAX_FEATURES = 200
"""Above that, feature columns are not offered as private."""


def show_threats(graph: Graph) -> None:
    """Widgets for both threats; what they say is kept in the session at once."""
    st.header("What must stay secret", anchor=False)
    left, right = st.columns(2, gap="large")
    with left:
        _show_attribute_threat(graph)
    with right:
        _show_link_threat(graph)
    if session.current_threats().is_empty:
        st.warning("Nothing is secret yet: choose a private column or sensitive links.")


def _show_attribute_threat(graph: Graph) -> None:
    st.markdown("**A private attribute**")
    choice, key = session.current_threats(), form_key()
    columns = [None, *graph.attributes, *_list_feature_names(graph)]
    titles = {None: "none"}
    private = st.selectbox(
        "Private column",
        columns,
        _index(columns, choice.threats.private),
        key=f"private-{key}",
        format_func=lambda c: titles.get(c, c),
        help="The adversary wants to infer it. It is not part of what the adversary sees.",
    )
    known = ask_share(
        "Share of people whose value the adversary knows",
        0.01,
        0.9,
        choice.threats.known,
        0.01,
        f"known-{key}",
        private is None,
    )
    rest = [c for c in columns if c is None or c != private]
    utility = st.selectbox(
        "Useful column",
        rest,
        _index(rest, choice.disclosure.utility),
        key=f"utility-{key}",
        format_func=lambda c: titles.get(c, c),
        help="What the recipient wants to predict: it measures how useful a release still is.",
    )
    session.set_threats(private=private, known=known, utility=utility)
    if private is not None:
        _show_knowledge([c for c in columns if c not in (None, private, utility)], key)


def _show_knowledge(columns: Sequence[str | None], key: str) -> None:
    """Further private columns, groups, and who else knows what."""
    choice = session.current_threats()
    known = choice.knowledge.auxiliary
    shares = [k.share for k in known if k.spread == "stratified"]
    other_places = [k.place for k in known if k.spread != "stratified"]
    with st.expander("More columns, and who knows what"):
        more = st.multiselect(
            "Further private columns",
            columns,
            [c for c in choice.threats.more_private if c in columns],
            key=f"more-private-{key}",
            help="Attacked on the same releases.",
        )
        joint = st.multiselect(
            "Attackers who combine the private columns",
            list(JOINT),
            [way for way in choice.knowledge.joint if more],
            format_func=JOINT.__getitem__,
            key=f"joint-{key}",
            disabled=not more,
            help="What is inferred or known of one column may tell of another.",
        )
        rest = [c for c in columns if c not in more]
        groups = st.multiselect(
            "Compare people by",
            rest,
            [c for c in choice.groups if c in rest],
            key=f"groups-{key}",
            help="Does an attacker gain more on some people than on others?",
        )
        others = st.multiselect(
            "Further attackers, who know people of their own",
            sorted({*OTHERS, *shares}),
            shares,
            format_func=format_percent,
            key=f"others-{key}",
            help="A defense that used some values may be no protection from who knows others.",
        )
        places = st.multiselect(
            "… or people of some places",
            sorted({*PLACES, *other_places}),
            other_places,
            format_func=_format_place,
            key=f"places-{key}",
            help="Who knows the most linked people, or everybody of a circle, may find more, or "
            "less, than one who knows as many at random.",
        )
        ways = list(PUBLISHER)
        knows = st.selectbox(
            "What a defense uses of the private column",
            ways,
            ways.index(choice.publisher_knows),
            format_func=lambda way: PUBLISHER[way],
            key=f"publisher-{key}",
            help="A defense that is told a part guesses the rest, and attackers who know other "
            "people may find what it guessed wrongly.",
        )
    session.set_threats(
        more_private=tuple(more),
        joint=tuple(joint) if more else (),
        groups=tuple(groups),
        auxiliary_known=(*others, *places),
        publisher_knows=knows,
    )


def _format_place(text: str) -> str:
    spread, _, share = text.partition(":")
    who = "people with many links rather" if spread == "degree" else "some communities"
    return f"{format_percent(float(share))}, {who}"


def _show_link_threat(graph: Graph) -> None:
    st.markdown("**Sensitive links**")
    choice, key = session.current_threats(), form_key()
    ways = [way for way in WAYS if way != "given" or choice.way == "given"]
    way = st.selectbox(
        "Which links",
        ways,
        ways.index(choice.way),
        format_func=WAYS.__getitem__,
        key=f"way-{key}",
        help="They are taken out of the graph before anything is defended or released, and the "
        "adversary tries to find them.",
    )
    if way == "none":
        session.set_threats(way=way, hide_links=None, sensitive_links=None)
        return
    if way == "share":
        start = choice.threats.hide_links or session.DEFAULT_SHARE
        share = ask_share("Share of the links", 0.01, 0.5, start, 0.01, f"hide-{key}")
        session.set_threats(way=way, hide_links=share, sensitive_links=None)
        return
    ask = {"file": _ask_file, "nodes": _ask_nodes, "classes": _ask_classes}.get(way)
    try:
        pairs = choice.threats.sensitive_links or () if ask is None else ask(graph, key)
    except AuditError as error:
        page.show_error(error)
        pairs = ()
    session.set_threats(way=way, hide_links=None, sensitive_links=tuple(pairs))
    if pairs:
        first = ", ".join(f"{escape(a, 20)} and {escape(b, 20)}" for a, b in pairs[:3])
        st.caption(
            f"{count_noun(len(pairs), 'sensitive link')}, such as {first}. "
            "They are taken out before anything is defended; only a defense that flips "
            "pairs blindly, to deny any link, may draw one of them by chance."
        )


def _ask_file(graph: Graph, key: str) -> Sequence[Pair]:
    file = st.file_uploader(
        "Pairs of ids, one a line", type=["csv", "tsv", "txt", "gz"], key=f"pairs-{key}"
    )
    if file is None:  # a file is not kept when the page is left; what it said is
        choice = session.current_threats()
        return choice.threats.sensitive_links or () if choice.way == "file" else ()
    return node_pairs.load_node_pairs(upload.store_upload(file), graph)


def _ask_nodes(graph: Graph, key: str) -> Sequence[Pair]:
    text = st.text_area(
        "Node ids, separated by commas or line breaks", key=f"nodes-{key}", persist_state="session"
    )
    nodes = list(filter(None, (part.strip() for part in text.replace("\n", ",").split(","))))
    return node_pairs.find_links_at(graph, nodes) if nodes else ()


def _ask_classes(graph: Graph, key: str) -> Sequence[Pair]:
    if not graph.attributes:
        st.caption("This graph has no attribute whose classes could be chosen.")
        return ()
    column = st.selectbox(
        "Attribute", list(graph.attributes), key=f"pair-column-{key}", persist_state="session"
    )
    classes = graph.attribute(column).classes
    left, right = st.columns(2)
    first = left.selectbox(
        "Between", classes, key=f"pair-first-{key}-{column}", persist_state="session"
    )
    second = right.selectbox(
        "and",
        classes,
        min(1, len(classes) - 1),
        key=f"pair-second-{key}-{column}",
        persist_state="session",
    )
    return node_pairs.find_links_between(graph, column, first, second)


def _list_feature_names(graph: Graph) -> list[str]:
    """Features that may be chosen as private: all of a table, none of a bag of words."""
    names = [name for name in graph.feature_names if name not in graph.attributes]
    return names if len(names) <= MAX_FEATURES else []


def _index(options: list[str | None], value: str | None) -> int:
    return options.index(value) if value in options else 0


def form_key() -> str:
    """Widgets are new for each graph, and when an audit sets the threats."""
    return f"{st.session_state['graph'][:8]}-{st.session_state.get('threat_form', 0)}"
