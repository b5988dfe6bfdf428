"""How long an audit or one method would take here, said before it is run."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.audit.estimate import TimeModel, TimeRange, estimate_time, make_task
from core.audit.spec import AuditSpec
from core.errors import AuditError
from core.findings.numbers import format_duration_range
from core.methods import Method
from pages.ui import page, service, session

KEEP_S = 60


def estimate_audit(fields: dict[str, Any]) -> str:
    """ "2 to 5 min" for an audit with these fields of a spec; "" where it cannot be planned."""
    try:
        time = _estimate(page.make_spec(fields).model_dump_json())
    except AuditError:
        return ""
    return format_duration_range(time.low, time.high) if time.high else "all of it is known already"


def estimate_method(method: type[Method], num_repeats: int) -> str:
    """ "5 to 15 s" for one method on the open graph, all repeats together."""
    graph = session.current_graph()
    kind = "publish" if method.kind == "defense" else "attack"
    tasks = [make_task(kind, method.info.key, graph.num_nodes, graph.num_edges)] * num_repeats
    time = estimate_time(load_time_model(), tasks, [], 1)
    return format_duration_range(time.low, time.high)


@st.cache_data(max_entries=64, ttl=KEEP_S, show_spinner=False)
def _estimate(spec: str) -> TimeRange:
    return service.open_service().estimate_time(AuditSpec.model_validate_json(spec))


@st.cache_resource(ttl=KEEP_S, show_spinner=False)
def load_time_model() -> TimeModel:
    """What past cells took here, as the model of one cell's time."""
    return service.open_service().load_time_model()
