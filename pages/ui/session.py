"""State of one browser session, mirrored in the address so that it survives a reload.

Query parameters: `graph` (content hash), `audit` (id), and on the Risk page `node` (id) and
`threat` (key of the secret). Moving between pages drops the parameters but keeps the session; a
full load drops the session but keeps the parameters. `restore_session` restores either from the
other. What was chosen for a graph is kept with it in the store: a column is never guessed to be
published.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from core.errors import AuditError
from core.nouns import NOUNS, Noun, NounKey, propose_noun

if TYPE_CHECKING:
    from core.graph import Graph
    from pages.ui.threat_choice import ThreatChoice


def restore_session() -> None:
    """Restore the session from the address, or the address from the session."""
    state, address = st.session_state, st.query_params
    for name, open_stored in (("audit", open_audit), ("graph", open_graph)):
        stored = address.get(name)
        if stored and stored != state.get(name):
            try:
                open_stored(stored)
            except AuditError as error:
                state["notice"] = str(error)
    if "node" in address:
        state["node"] = address["node"]
    if "threat" in address and "risk-threat" not in state:
        state["risk-threat"] = address["threat"]
    write_address()


def write_address() -> None:
    for name in ("graph", "audit"):
        value = st.session_state.get(name)
        if value and st.query_params.get(name) != value:
            st.query_params[name] = value
        elif not value and name in st.query_params:
            del st.query_params[name]


def open_graph(graph_hash: str, threats: ThreatChoice | None = None) -> None:
    """Open a stored graph and close an audit of another graph.

    threats  what was chosen for it; None: as in this session, else as kept with the graph
    """
    from pages.ui import cache, service
    from pages.ui.threat_choice import ThreatChoice

    graph = cache.load_graph(graph_hash)
    state = st.session_state
    if state.get("graph") != graph_hash:
        state.pop("audit", None)
        state.pop("node", None)
    state["graph"] = graph_hash
    known = state.setdefault("threats", {})
    if threats is not None or graph_hash not in known:
        if threats is None:
            kept = ThreatChoice.read(service.open_service().find_choice(graph_hash))
            known[graph_hash] = kept or ThreatChoice.propose(graph)
        else:
            _keep(threats)
        state["threat_form"] = state.get("threat_form", 0) + 1


def open_audit(audit_id: str) -> None:
    """Open a stored audit with its graph and threats."""
    from pages.ui import cache
    from pages.ui.threat_choice import ThreatChoice

    spec = cache.load_view(audit_id).spec
    open_graph(spec.graph_hash, ThreatChoice.of_spec(spec))
    st.session_state["audit"] = audit_id


def has_graph() -> bool:
    """Whether a graph is open."""
    return st.session_state.get("graph") is not None


def close_audit() -> None:
    st.session_state.pop("audit", None)


def current_audit() -> str | None:
    return st.session_state.get("audit")


def current_graph() -> Graph:
    from pages.ui import cache

    return cache.load_graph(st.session_state["graph"])


def chosen_graph() -> Graph:
    """The open graph with the chosen columns as attributes, as an audit has them."""
    from pages.ui import cache

    return cache.load_chosen(st.session_state["graph"], current_threats().columns)


def current_threats() -> ThreatChoice:
    choice: ThreatChoice = st.session_state["threats"][st.session_state["graph"]]
    return choice


def find_noun_key() -> NounKey:
    """What the nodes of the open graph are called, as chosen or by its name."""
    graph = current_graph()
    return current_threats().noun or propose_noun(graph.name, graph.modes is not None)


def find_noun() -> Noun:
    """The nodes of the open graph in a sentence."""
    return NOUNS[find_noun_key()]


def set_threats(**changes: Any) -> None:
    threats = current_threats().update(**changes)
    if threats != current_threats():
        _keep(threats)


def _keep(threats: ThreatChoice) -> None:
    """Let a choice for the open graph hold, in this session and the next."""
    from pages.ui import service

    graph_hash = st.session_state["graph"]
    st.session_state["threats"][graph_hash] = threats
    service.open_service().save_choice(graph_hash, threats.write())


def open_node(node: str | None) -> None:
    """Open the panel of a node on the Risk page; None closes it."""
    if node is None:
        st.session_state.pop("node", None)
        st.query_params.pop("node", None)
    else:
        st.session_state["node"] = st.query_params["node"] = node
        write_threat()


def write_threat() -> None:
    """Write the secret of the Risk page to the address."""
    if "risk-threat" in st.session_state:
        st.query_params["threat"] = st.session_state["risk-threat"]


def choose_attacks(keys: list[str], num_repeats: int, adaptive: bool = False) -> None:
    """Select exactly these attacks on the Attack page, with or without adaptive attackers."""
    from core.methods import ATTACK_KINDS
    from core.registry import list_methods

    for kind in ATTACK_KINDS:
        for method in list_methods(kind):
            st.session_state[f"attack.{method.info.key}"] = method.info.key in keys
    st.session_state["num_repeats"] = num_repeats
    st.session_state["adaptive"] = adaptive
