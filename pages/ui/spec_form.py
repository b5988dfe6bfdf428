"""Controls of the spec's fields, built from their declarations: title, help, bounds and kind."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.audit.asked.declared import Declaration
from core.audit.asked.spec import find_field, list_models, list_spec_fields, title_field
from pages.ui.method_form import list_fields

PERCENT = "%.4g %%"


def show_form(form: str) -> dict[str, Any]:
    """Controls of all fields of a form, kept in the session under their names; their values."""
    return {
        name: ask(name, field.default, name, persist_state="session")
        for name, field in list_spec_fields().items()
        if Declaration.of(field).form == form
    }


def ask(
    name: str,
    value: Any,
    key: str,
    place: DeltaGenerator | None = None,
    *,
    options: Sequence[Any] | None = None,
    show: Callable[[Any], str] | None = None,
    reason: str = "",
    **more: Any,
) -> Any:
    """Control of a field where a form places it; label, help, bounds and kind as declared.

    value    the one shown first; of a tuple's several are chosen, "min" leaves it to the session
    options  values to choose from, such as columns of the graph; else those declared
    show     option → how it is shown
    reason   why it cannot be used now
    """
    info, draw = list_spec_fields()[name], place or st
    label, titles = read_label(name), Declaration.of(info).titles
    text = " ".join(filter(None, [info.description, reason]))
    more = {**more, "key": key, "help": text, "disabled": bool(reason)}
    if options is not None or titles:
        listed = list(titles if options is None else options)
        more["format_func"] = show or (lambda each: titles.get(each, each))
        if isinstance(value, tuple):
            kept = [each for each in value if each in listed]
            return tuple(draw.multiselect(label, listed, kept, **more))
        first = listed.index(value) if value in listed else 0
        return draw.selectbox(label, listed, first, **more)
    field = next(f for m in list_models() for f in list_fields(m) if f.name == name)
    if field.kind == "boolean":
        return draw.checkbox(label, value, **more)
    low, high = field.low, field.high
    if field.is_share and low is not None and high is not None:
        shown = round(100 * float(value), 6)  # kept, though it may lie between two steps
        ends = min(float(math.ceil(100 * low)), shown), max(float(math.floor(100 * high)), shown)
        percent = draw.slider(label, *ends, shown, 1.0, PERCENT, **more)
        return round(float(percent) / 100, 8)
    cast = int if field.kind == "integer" else float
    for end, bound in (("min_value", low), ("max_value", high)):
        more[end] = None if bound is None else cast(bound)
    return draw.number_input(label, value=value, **more)


def read_label(name: str) -> str:
    """Label of a control that a form draws itself, such as an upload."""
    return str(list_spec_fields()[name].title)


def read_help(name: str) -> str:
    """Help of such a control."""
    return str(list_spec_fields()[name].description)


def title_control(path: str) -> str:
    """Names fields in messages by the labels of their controls."""
    found = find_field(path)
    title = None if found is None else found[1].title
    return f"“{title}”" if title else title_field(path)
