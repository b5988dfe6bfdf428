"""Help page: first audit, glossary, formats, policies, methods, command line, deployment."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core.findings.glossary import HELP, load_glossary
from core.findings.numbers import format_number
from core.findings.policy import list_policies
from core.registry import list_methods
from pages.ui import page
from pages.ui.text import escape

TOPICS = {
    "first_audit": "First audit",
    "glossary": "Glossary",
    "formats": "Formats",
    "policies": "Policies",
    "methods": "Methods",
    "command_line": "Command line",
    "scripts": "Scripts",
    "deployment": "Deployment",
}
KINDS = {
    "link_attack": "Link inference",
    "attribute_attack": "Attribute inference",
    "identity_attack": "Re-identification",
    "defense": "Defenses",
}


def main() -> None:
    page.open_page("Help", "How to audit a graph, and what the terms mean.", needs_graph=False)
    topic = st.segmented_control(
        "Topic",
        list(TOPICS),
        default="first_audit",
        format_func=TOPICS.__getitem__,
        key="topic",
        required=True,
        bind="query-params",
        label_visibility="collapsed",
    )
    if topic == "glossary":
        _show_glossary()
        return
    st.markdown(_load_text(topic))
    if topic == "policies":
        _show_policies()
    elif topic == "methods":
        _show_methods()


def _load_text(topic: str) -> str:
    """Text of a help file without its title line."""
    text = (HELP / f"{topic}.md").read_text(encoding="utf-8")
    return text.partition("\n")[2]


def _show_glossary() -> None:
    query = st.text_input("Find a term", key="term").strip().lower()
    found = {t: text for t, text in load_glossary().items() if query in f"{t} {text}".lower()}
    st.markdown("\n\n".join(f"**{term}.** {text}" for term, text in found.items()))
    if not found:
        st.caption("No entry contains this text. Try a shorter term.")


def _show_policies() -> None:
    for policy in list_policies():
        st.header(policy.title, anchor=False)
        st.markdown(policy.summary)
        rows = [(limit.title, format_number(limit.limit), limit.source) for limit in policy.limits]
        st.table(pd.DataFrame(rows, columns=["Limit", "At most", "Source"]), hide_index=True)


def _show_methods() -> None:
    for kind, title in KINDS.items():
        st.header(title, anchor=False)
        for method in list_methods(kind):  # type: ignore[arg-type]
            info = method.info
            with st.expander(info.title):
                st.markdown(escape(info.summary, 400))
                st.code(info.source, language=None, wrap_lines=True)


main()
