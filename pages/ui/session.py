"""What one browser session has open, mirrored in the address so that a reload keeps it.

`?graph=` names the graph by its content, `?audit=` the audit, `?node=` the node that is open on
the Risk page, `?threat=` the secret that page is about. Moving between pages drops the address'
parameters but keeps the session; a full load drops the session but keeps the address:
`restore_session` makes either from the other.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, Literal

import streamlit as st

from core.audit.spec import AuditSpec, IdentityChoice, Joint, PublisherKnows
from core.errors import AuditError
from core.graph import Graph
from core.methods import ATTACK_KINDS
from core.registry import list_methods
from pages.ui import cache

LinkMode = Literal["share", "pairs", "none"]

SIMULATED = IdentityChoice.model_validate({})
"""What an attacker on identities holds where nothing is said of it."""


@dataclass(frozen=True, kw_only=True)
class ThreatChoice:
    """The threats as set on the Data page, and what leaves with the links; named and meant as in
    AuditSpec, but for these.

    mode   share: draw `hide_links` of the links; pairs: the analyst's own; none: no link threat
    way    how the analyst chooses them on the Data page
    identity  what an attacker holds who looks for people, where an attack does
    """

    private: str | None = None
    utility: str | None = None
    known: float = 0.1
    mode: LinkMode = "share"
    way: str = "share"
    hide_links: float = 0.1
    sensitive_links: tuple[tuple[str, str], ...] = ()
    more_private: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    publisher_knows: PublisherKnows = "public"
    attacker_known: tuple[float, ...] = ()
    joint: tuple[Joint, ...] = ()
    attacker_places: tuple[str, ...] = ()
    publish_columns: tuple[str, ...] | None = None
    generalize: tuple[str, ...] = ()
    leave_out: tuple[str, ...] = ()
    identity: IdentityChoice = SIMULATED
    shadow_graph: str | None = None

    @property
    def spec_fields(self) -> dict[str, Any]:
        """The fields of an AuditSpec that these threats fix."""
        found = {name: getattr(self, name) for name in _list_shared() if name != "identity"}
        found["hide_links"] = self.hide_links if self.mode == "share" else None
        found["sensitive_links"] = self.sensitive_links if self.mode == "pairs" else None
        if self.private is None:  # then nobody knows or infers anything of a column
            empty = ThreatChoice()
            found |= {name: getattr(empty, name) for name in _OF_PRIVATE}
        elif not self.more_private:
            found["joint"] = ()
        return found

    @property
    def has_link_threat(self) -> bool:
        return self.mode == "share" or (self.mode == "pairs" and bool(self.sensitive_links))

    @property
    def is_empty(self) -> bool:
        return self.private is None and not self.has_link_threat

    @staticmethod
    def of_spec(spec: AuditSpec) -> ThreatChoice:
        mode: LinkMode = "none"
        if spec.sensitive_links is not None:
            mode = "pairs"
        elif spec.hide_links is not None:
            mode = "share"
        found = {name: getattr(spec, name) for name in _list_shared()}
        found |= {
            "hide_links": spec.hide_links or 0.1,
            "sensitive_links": spec.sensitive_links or (),
            "identity": spec.identity or SIMULATED,
        }
        return ThreatChoice(**found, mode=mode, way="given" if mode == "pairs" else mode)

    @staticmethod
    def propose(graph: Graph) -> ThreatChoice:
        """A start that the analyst corrects: the first attribute private, the label useful."""
        names = list(graph.attributes)
        useful = "label" if "label" in names and len(names) > 1 else None
        private = next((name for name in names if name != useful), None)
        useful = useful or next((name for name in names if name != private), None)
        return ThreatChoice(private=private, utility=useful)


_OF_PRIVATE = ("more_private", "attacker_places", "joint", "attacker_known", "shadow_graph")
"""What has a meaning only with a private column."""


def _list_shared() -> list[str]:
    """The fields that AuditSpec has by the same name."""
    return [field.name for field in fields(ThreatChoice) if field.name in AuditSpec.model_fields]


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
    state["threats"][state["graph"]] = replace(current_threats(), **changes)


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
    """Tick exactly these attacks on the Attack page; `aware`: knowing the defense too."""
    for kind in ATTACK_KINDS:
        for method in list_methods(kind):
            st.session_state[f"attack.{method.info.key}"] = method.info.key in keys
    st.session_state["num_repeats"] = num_repeats
    st.session_state["adaptive"] = adaptive
