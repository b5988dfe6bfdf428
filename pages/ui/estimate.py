"""Estimated run time of an audit or a single method on this machine."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.audit.asked.spec import AuditSpec
from core.audit.store.costs import Shape
from core.audit.store.estimate import TimeModel, TimeRange, estimate_time, make_task
from core.errors import AuditError
from core.findings.numbers import format_duration_range
from core.methods import Method
from pages.ui import page, service, session

KEEP_S = 60


def estimate_audit(fields: dict[str, Any]) -> str:
    """Time of an audit with these spec fields, such as "2 to 5 min"; "" if it is invalid."""
    time = _estimate_fields(fields)
    if time is None:
        return ""
    return format_duration_range(time.low, time.high) if time.high else "all results are stored"


def ends_within(fields: dict[str, Any], seconds: float) -> bool:
    """Whether an audit with these spec fields is expected to end in time, at its longest."""
    time = _estimate_fields(fields)
    return time is not None and time.high <= seconds


def _estimate_fields(fields: dict[str, Any]) -> TimeRange | None:
    """None for an invalid spec."""
    try:
        return _estimate(page.make_spec(fields).model_dump_json())
    except AuditError:
        return None


def estimate_method(method: type[Method], num_repeats: int) -> str:
    """Time of one method on the open graph over all repeats, such as "5 to 15 s"."""
    graph = session.current_graph()
    kind = "publish" if method.kind == "defense" else "attack"
    tasks = [make_task(kind, method.info.key, Shape.of(graph))] * num_repeats
    time = estimate_time(load_time_model(), tasks, [], 1)
    return format_duration_range(time.low, time.high)


@st.cache_data(max_entries=64, ttl=KEEP_S, show_spinner=False)
def _estimate(spec: str) -> TimeRange:
    return service.open_service().estimate_time(AuditSpec.model_validate_json(spec))


@st.cache_resource(ttl=KEEP_S, show_spinner=False)
def load_time_model() -> TimeModel:
    """Model of the time of one cell, fitted to past cells on this machine."""
    return service.open_service().load_time_model()
