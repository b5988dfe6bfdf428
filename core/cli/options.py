"""Options of the command line from the fields of a spec, and the fields that they give.

A field's name, type, bounds and description are declared once; `json_schema_extra` may add
`metavar`, another name as `option`, fewer `choices`, or `option` False where a command fills the
field in another way.
"""

from __future__ import annotations

import argparse
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

MANY = ",…"
"""In a metavar: several values joined by commas."""


def add_options(
    parser: argparse.ArgumentParser, *models: type[BaseModel], only: tuple[str, ...] = ()
) -> None:
    """An option for each field of the models, or of those named; its default is the spec's."""
    for model in models:
        for name, field in model.model_fields.items():
            extra = field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}
            is_part = isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel)
            is_open = extra.get("option") is not False and not is_part
            if is_open and (not only or name in only):
                flag = extra.get("option") or f"--{name.replace('_', '-')}"
                parser.add_argument(str(flag), dest=name, **_describe_option(field, extra))


def read_options(options: argparse.Namespace, *models: type[BaseModel]) -> dict[str, Any]:
    """The fields of the models that options gave, flat."""
    fields: dict[str, Any] = {}
    for model in models:
        for name, field in model.model_fields.items():
            extra = field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}
            value = getattr(options, name, None)
            if value is None or extra.get("option") is False:
                continue
            if isinstance(value, list) and MANY in str(extra.get("metavar", "")):
                parts = [part.strip() for text in value for part in text.split(",")]
                value = [part for part in dict.fromkeys(parts) if part not in ("", "none")]
            fields[name] = value
    return fields


def _describe_option(field: FieldInfo, extra: dict[str, Any]) -> dict[str, Any]:
    """Keywords of `add_argument`: what the type, the bounds and the default say."""
    text = (field.description or "").rstrip(".")
    text = text[:1].lower() + text[1:] if not text[:4].isupper() else text
    if isinstance(field.default, int | float) and not isinstance(field.default, bool):
        text += f" ({field.default:g})"
    keywords: dict[str, Any] = {"help": text.replace("%", "%%")}
    kind, is_many = _find_type(field.annotation)
    if kind is bool:
        return {**keywords, "action": "store_true", "default": None}
    if is_many:
        keywords["action"] = "append"
    choices = extra.get("choices") or (get_args(kind) if get_origin(kind) is Literal else None)
    if choices:
        return {**keywords, "choices": tuple(choices)}
    if kind in (int, float):
        keywords["type"] = kind
    usual = {int: "N", float: "SHARE"}.get(kind, "TEXT")
    return {**keywords, "metavar": extra.get("metavar", usual)}


def _find_type(annotation: Any) -> tuple[Any, bool]:
    """The type of one value, and whether there are several; None is how a field is left out."""
    if get_origin(annotation) in (Union, UnionType):
        annotation = next(part for part in get_args(annotation) if part is not NoneType)
    if get_origin(annotation) is tuple:
        return _find_type(get_args(annotation)[0])[0], True
    return annotation, False
