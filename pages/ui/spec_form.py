"""Controls of the spec's fields, built from their declarations: title, help, bounds and kind."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from core.audit.asked.declared import Declaration
from core.audit.asked.spec import AuditSpec, find_field, title_field
from core.audit.asked.spec_parts import PARTS, IdentityChoice
from pages.ui.method_form import list_fields, show_field


def show_form(form: str) -> dict[str, Any]:
    """Controls of all fields of a form, kept in the session under their names; their values."""
    shown: dict[str, Any] = {}
    for model in _list_models():
        for field in list_fields(model):
            declared = Declaration.of(model.model_fields[field.name])
            if declared.form == form:
                shown[field.name] = show_field(field, field.name, declared.titles)
    return shown


def read_label(name: str) -> str:
    """Label of a control that a form draws itself, such as one of the graph's columns."""
    return str(_find(name).title)


def read_help(name: str) -> str:
    """Help of such a control."""
    return str(_find(name).description)


def read_titles(name: str) -> dict[str, str]:
    """Values of such a control and how it shows them."""
    return dict(Declaration.of(_find(name)).titles)


def _list_models() -> list[type[BaseModel]]:
    return [*PARTS.values(), IdentityChoice, AuditSpec]


def _find(name: str) -> FieldInfo:
    for model in _list_models():
        if name in model.model_fields:
            return model.model_fields[name]
    raise KeyError(name)


def title_control(path: str) -> str:
    """Names fields in messages by the labels of their controls."""
    found = find_field(path)
    title = None if found is None else found[1].title
    return f"“{title}”" if title else title_field(path)
