"""Widgets for the settings of a method, built from its declared fields."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import streamlit as st
from pydantic import BaseModel

from core.audit.asked.method_choice import MethodChoice
from core.errors import InputError
from core.methods import Method
from core.registry import make_method
from pages.ui.text import escape

MAX_SWEEP = 12


@dataclass(frozen=True)
class FieldForm:
    """Description of one setting, from the JSON schema of its method."""

    name: str
    title: str
    help: str
    kind: str  # "integer", "number", "boolean", "choice", "text"
    default: Any
    low: float | None = None
    high: float | None = None
    choices: tuple[Any, ...] = ()
    optional: bool = False

    @property
    def is_number(self) -> bool:
        return self.kind in ("integer", "number")

    @property
    def is_share(self) -> bool:
        """Whether the bounds are 0 and 1, inclusive or exclusive."""
        return self.kind == "number" and self.low in (0, 1e-6) and self.high in (1, 1 - 1e-6)


@cache
def list_fields(method: type[BaseModel]) -> tuple[FieldForm, ...]:
    """Settings of a method, or fields of a spec, in declaration order."""
    schema = method.model_json_schema()
    shared = schema.get("$defs", {})
    parts = schema.get("properties", {})
    return tuple(_read_field(name, part, shared) for name, part in parts.items())


def _read_field(name: str, part: dict[str, Any], shared: dict[str, Any]) -> FieldForm:
    core, optional = _resolve(part, shared)
    low, high = core.get("minimum"), core.get("maximum")
    is_integer = core.get("type") == "integer"
    step = 1 if is_integer else 1e-6
    if "exclusiveMinimum" in core:
        low = core["exclusiveMinimum"] + step
    if "exclusiveMaximum" in core:
        high = core["exclusiveMaximum"] - step
    choices = tuple(core.get("enum", ()))
    kind = "choice" if choices else core.get("type", "text")
    if kind not in ("integer", "number", "boolean", "choice"):
        kind = "text"
    title = part.get("title") or name.replace("_", " ").capitalize()
    return FieldForm(
        name,
        title,
        part.get("description", ""),
        kind,
        part.get("default"),
        low,
        high,
        choices,
        optional,
    )


def _resolve(part: dict[str, Any], shared: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    """Schema with type and bounds, and whether the setting is optional."""
    if "$ref" in part:
        return _resolve({**shared[part["$ref"].rsplit("/", 1)[-1]]}, shared)
    options = part.get("anyOf", [])
    typed = [option for option in options if option.get("type") != "null"]
    if typed:
        inner, _ = _resolve(typed[0], shared)
        return {**part, **inner}, len(typed) < len(options)
    return part, False


def show_settings(method: type[Method], key: str, sweep: bool = False) -> list[MethodChoice]:
    """Widgets for all settings; return one choice, or one per value of a sweep.

    An invalid value is reported in place, and no choice is returned.
    """
    fields = list_fields(method)
    config = {field.name: _show_field(field, f"{key}.{field.name}") for field in fields}
    configs = [config]
    numbers = [field for field in fields if field.is_number]
    if sweep and numbers:
        configs = _show_sweep(numbers, config, key)
    try:
        return [MethodChoice.of(make_method(method.info.key, item)) for item in configs]
    except InputError as error:
        st.error(escape(error, 300))
        return []


def _show_field(field: FieldForm, key: str) -> Any:
    """Control of one setting, kept in the session; its value."""
    keep: dict[str, Any] = {"key": key, "help": field.help or None, "persist_state": "session"}
    if field.kind == "boolean":
        return st.checkbox(field.title, bool(field.default), **keep)
    if field.kind == "choice":
        index = field.choices.index(field.default) if field.default in field.choices else 0
        return st.selectbox(
            field.title,
            field.choices,
            index,
            format_func=lambda value: str(value).replace("_", " "),
            **keep,
        )
    if field.is_number:
        return _show_number(field, keep)
    text = st.text_input(field.title, "" if field.default is None else str(field.default), **keep)
    return text.strip() or None if field.optional else text


def _show_number(field: FieldForm, keep: dict[str, Any]) -> float | int | None:
    cast = int if field.kind == "integer" else float
    value = None if field.default is None else cast(field.default)
    bounds: dict[str, Any] = {
        "min_value": None if field.low is None else cast(field.low),
        "max_value": None if field.high is None else cast(field.high),
    }
    options: dict[str, Any] = {"step": 1}
    if field.kind == "number":
        options = {"step": _find_step(field), "format": "%g"}
    entered: float | int | None = st.number_input(
        field.title, value=value, **options, **bounds, **keep
    )
    return entered


def _find_step(field: FieldForm) -> float:
    """Step of the input, about a tenth of the default: 0.3 → 0.05, 6 → 0.5, 1e-3 → 1e-4."""
    default = abs(float(field.default or 0))
    if field.is_share and (field.default is None or default >= 0.05):
        return 0.05
    if default == 0:
        return 0.1
    magnitude = 10.0 ** len(str(int(default))) / 20 if default >= 1 else default / 10
    return float(f"{magnitude:.1g}")


def _show_sweep(numbers: list[FieldForm], config: dict[str, Any], key: str) -> list[dict[str, Any]]:
    if not st.toggle(
        "Try several values",
        key=f"{key}.sweep",
        persist_state="session",
        help="Makes one release for each value.",
    ):
        return [config]
    field = numbers[0]
    if len(numbers) > 1:
        field = st.selectbox(
            "Setting",
            numbers,
            format_func=lambda item: item.title,
            key=f"{key}.swept",
            persist_state="session",
        )
    text = st.text_input(
        f"Values of {field.title.lower()}, separated by commas",
        ", ".join(f"{value:g}" for value in propose_values(field)),
        key=f"{key}.{field.name}.values",
        persist_state="session",
    )
    values = []
    for item in filter(None, (part.strip() for part in text.split(","))):
        try:
            values.append(int(item) if field.kind == "integer" else float(item))
        except ValueError:
            st.error(f"{escape(item)} is not a number.")
            return []
    if len(values) > MAX_SWEEP:
        st.error(f"Enter at most {MAX_SWEEP} values; this list has {len(values)}.")
        return []
    return [{**config, field.name: value} for value in dict.fromkeys(values)]


def propose_values(field: FieldForm) -> list[float]:
    """Up to five values around the default, within the bounds."""
    if field.is_share and (field.default is None or float(field.default) >= 0.05):
        values = [0.1, 0.3, 0.5, 0.7, 0.9]
    else:
        default = float(field.default or 1)
        values = [default * factor for factor in (0.25, 0.5, 1, 2, 4)]
    if field.kind == "integer":
        values = [float(round(value)) for value in values]
    inside = [
        value
        for value in values
        if (field.low is None or value >= field.low) and (field.high is None or value <= field.high)
    ]
    return list(dict.fromkeys(inside))
