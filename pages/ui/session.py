"""What one browser session has open, mirrored in the address so that a reload keeps it.

`?graph=` names the graph by its content, `?audit=` the audit, `?node=` the node that is open on
the Risk page, `?threat=` the secret that page is about. Moving between pages drops the address'
parameters but keeps the session; a full load drops the session but keeps the address:
`restore_session` makes either from the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import streamlit as st

from core.audit.knowledge import KnowledgeSpec, PublisherKnows
from core.audit.spec import (
    PARTS,
    AuditSpec,
    DisclosureSpec,
    IdentityChoice,
    ThreatSpec,
    nest_fields,
)
from core.errors import AuditError
from core.graph import Graph
from core.methods import ATTACK_KINDS
from core.registry import list_methods
from pages.ui import cache

DEFAULT_SHARE = 0.1
"""Of the links that are withheld where nothing is said of it."""


@dataclass(frozen=True, kw_only=True)
class ThreatChoice:
    """What is set on the Data page, in the parts that audits and publishing runs share.

    way    how the analyst chooses the sensitive links on the Data page
    """

    threats: ThreatSpec
    disclosure: DisclosureSpec
    knowledge: KnowledgeSpec
    publisher_knows: PublisherKnows = "public"
    groups: tuple[str, ...] = ()
    way: str = "share"

    @property
    def spec_fields(self) -> dict[str, Any]:
        """The fields of an AuditSpec that these threats fix; who looks for people is not yet."""
        names = ("threats", "disclosure", "knowledge", "publisher_knows", "groups")
        fields = {name: getattr(self, name) for name in names}
        threats = self.threats.model_copy(update={"identity": None})
        knows = self.knowledge
        if threats.private is None:
            threats = threats.model_copy(update={"more_private": ()})
            knows = knows.model_copy(update={"auxiliary_known": (), "shadow_graph": None})
        if not threats.more_private:
            knows = knows.model_copy(update={"joint": ()})
        return {**fields, "threats": threats, "knowledge": knows}

    @property
    def identity(self) -> IdentityChoice:
        """What an attacker holds who looks for people, where an attack does."""
        return self.threats.identity or IdentityChoice.model_validate({})

    @property
    def is_empty(self) -> bool:
        return self.threats.private is None and not self.has_links

    @property
    def has_links(self) -> bool:
        """Whether links are withheld, and some are named where the analyst names them."""
        return self.threats.has_links and self.threats.sensitive_links != ()

    @staticmethod
    def of_spec(spec: AuditSpec) -> ThreatChoice:
        way = "given" if spec.threats.sensitive_links is not None else "share"
        return ThreatChoice(
            # no control names people whose values are known
            threats=spec.threats.model_copy(update={"known_people": None}),
            disclosure=spec.disclosure,
            knowledge=spec.knowledge,
            publisher_knows=spec.publisher_knows,
            groups=spec.groups,
            way=way if spec.threats.has_links else "none",
        )

    @staticmethod
    def of_fields(**fields: Any) -> ThreatChoice:
        """A choice of its fields, as options name them."""
        nested: dict[str, Any] = {name: {} for name in PARTS} | nest_fields(fields)
        made = {name: model.model_validate(nested[name]) for name, model in PARTS.items()}
        return ThreatChoice(**{**nested, **made})

    @staticmethod
    def propose(graph: Graph) -> ThreatChoice:
        """A start that the analyst corrects: the first attribute private, the label useful."""
        names = list(graph.attributes)
        useful = "label" if "label" in names and len(names) > 1 else None
        private = next((name for name in names if name != useful), None)
        rest = useful or next((n for n in names if n != private), None)
        return ThreatChoice.of_fields(private=private, utility=rest, hide_links=DEFAULT_SHARE)

    def update(self, **fields: Any) -> ThreatChoice:
        """The same with other values of some fields, as options name them."""
        return ThreatChoice.of_fields(**{**vars(self), **fields})


def restore_session() -> None:
    """Make session and address agree. Nothing is opened that neither of them names."""
    state, address = st.session_state, st.query_params
    audit_id = address.get("audit") or state.get("audit")
    if audit_id and audit_id != state.get("audit"):
        try:
            open_audit(audit_id)
        except AuditError as error:
            state["notice"] = str(error)
    graph_hash = address.get("graph") or state.get("graph")
    if graph_hash and graph_hash != state.get("graph"):
        try:
            open_graph(graph_hash)
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
    """Make a stored graph the current one; closes an audit of another graph."""
    graph = cache.load_graph(graph_hash)
    state = st.session_state
    if state.get("graph") != graph_hash:
        state.pop("audit", None)
        state.pop("node", None)
    state["graph"] = graph_hash
    known = state.setdefault("threats", {})
    if threats is not None or graph_hash not in known:
        known[graph_hash] = threats or ThreatChoice.propose(graph)
        state["threat_form"] = state.get("threat_form", 0) + 1


def open_audit(audit_id: str) -> None:
    """Make a stored audit, its graph and its threats the current ones."""
    spec = cache.load_view(audit_id).spec
    open_graph(spec.graph_hash, ThreatChoice.of_spec(spec))
    st.session_state["audit"] = audit_id


def has_graph() -> bool:
    """Whether a graph is open; pages that need one say so where none is."""
    return st.session_state.get("graph") is not None


def close_audit() -> None:
    st.session_state.pop("audit", None)


def current_audit() -> str | None:
    return st.session_state.get("audit")


def current_graph() -> Graph:
    return cache.load_graph(st.session_state["graph"])


def current_threats() -> ThreatChoice:
    choice: ThreatChoice = st.session_state["threats"][st.session_state["graph"]]
    return choice


def set_threats(**changes: Any) -> None:
    state = st.session_state
    state["threats"][state["graph"]] = current_threats().update(**changes)


def open_node(node: str | None) -> None:
    """The node whose panel is open on the Risk page."""
    if node is None:
        st.session_state.pop("node", None)
        st.query_params.pop("node", None)
    else:
        st.session_state["node"] = st.query_params["node"] = node
        write_threat()


def write_threat() -> None:
    """The address names the secret that the Risk page is about."""
    if "risk-threat" in st.session_state:
        st.query_params["threat"] = st.session_state["risk-threat"]


def choose_attacks(keys: list[str], num_repeats: int, adaptive: bool = False) -> None:
    """Tick exactly these attacks on the Attack page; `adaptive`: the adaptive ones too."""
    for kind in ATTACK_KINDS:
        for method in list_methods(kind):
            st.session_state[f"attack.{method.info.key}"] = method.info.key in keys
    st.session_state["num_repeats"] = num_repeats
    st.session_state["adaptive"] = adaptive
