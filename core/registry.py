"""Which methods exist: found by key, made from settings, described for scripts.

Stands above the methods, so that nothing below looks one up: what is made of other methods is
given their classes.
"""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from core.attacks.attribute import ATTRIBUTE_ATTACKS
from core.attacks.identity import IDENTITY_ATTACKS
from core.attacks.link import LINK_ATTACKS
from core.defenses import DEFENSES
from core.defenses.command import Command
from core.defenses.external import External
from core.errors import InputError
from core.methods import Kind, Method

UNLISTED: tuple[type[Method], ...] = (External, Command)
"""Methods that an audit may have and nobody is offered."""


def list_methods(kind: Kind | None = None) -> list[type[Method]]:
    """All methods in the order of their lists."""
    methods: list[type[Method]] = [*LINK_ATTACKS, *ATTRIBUTE_ATTACKS, *IDENTITY_ATTACKS, *DEFENSES]
    return [m for m in methods if kind is None or m.kind == kind]


def find_method(key: str, *kinds: Kind) -> type[Method]:
    """The method of this key, of one of these kinds; raises InputError."""
    methods = [m for m in list_methods() if not kinds or m.kind in kinds]
    for method in (*methods, *(m for m in UNLISTED if not kinds or m.kind in kinds)):
        if method.info.key == key:
            return method
    noun = " or ".join(kind.replace("_", " ") for kind in kinds) or "method"
    raise InputError(
        noun, "must be a known key", key, "known: " + ", ".join(m.info.key for m in methods)
    )


def make_method(key: str, config: dict[str, Any] | None = None, *kinds: Kind) -> Method:
    """The method `key` with the given settings; InputError names setting, rule and value."""
    method = find_method(key, *kinds)
    try:
        return method.model_validate(config or {})
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(map(str, first["loc"])) or "settings"
        fields = ", ".join(method.model_fields) or "none"
        raise InputError(
            f"{key}: parameter '{name}'",
            first["msg"].lower(),
            first.get("input"),
            f"parameters: {fields}",
        ) from None


def parse_method(text: str, *kinds: Kind) -> Method:
    """A method from its text on the command line, `KEY[:name=value,…]` or `command:LINE`."""
    key, _, rest = text.partition(":")
    config: dict[str, Any] = {}
    whole = find_method(key.strip(), *kinds).whole_text
    if whole:
        return make_method(key.strip(), {whole: rest}, *kinds)
    for item in filter(None, rest.split(",")):
        name, sign, value = item.partition("=")
        if not sign:
            raise InputError(f"{key}: parameter", "must be written name=value", item)
        config[name.strip()] = value.strip()
    return make_method(key.strip(), config, *kinds)


def describe_methods() -> list[dict[str, Any]]:
    """Every method with its parameters as JSON schema, for `core methods --json`."""
    return [
        {
            "kind": method.kind,
            "key": method.info.key,
            "title": method.info.title,
            "summary": method.info.summary,
            "source": method.info.source,
            "group": method.info.group,
            "cost": method.info.cost,
            "is_baseline": method.info.is_baseline,
            "parameters": method.model_json_schema(),
        }
        for method in list_methods()
    ]
