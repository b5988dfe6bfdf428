"""Registry of methods: found by key, made from settings, described for scripts.

Installed packages add methods by entry points of the group `graph_audit.methods`: the name is the
method's key, the object its class. They run as part of this program, without a sandbox.

Stands above the methods, so that nothing below looks one up: methods that combine others are given
their classes.
"""

from __future__ import annotations

import logging
from functools import cache
from importlib.metadata import entry_points
from inspect import isabstract
from typing import Any

from core.attacks.attribute import ATTRIBUTE_ATTACKS
from core.attacks.identity import IDENTITY_ATTACKS
from core.attacks.link import LINK_ATTACKS
from core.defenses import DEFENSES
from core.defenses.command import Command
from core.defenses.external import External
from core.errors import InputError, describe_unexpected, propose_nearest, validate
from core.methods import (
    KINDS,
    AttributeAttack,
    Defense,
    IdentityAttack,
    Kind,
    LinkAttack,
    Method,
    MethodInfo,
)

log = logging.getLogger(__name__)

GROUP = "graph_audit.methods"

UNLISTED: tuple[type[Method], ...] = (External, Command)
"""Methods that audits may contain but that are not offered."""


def _list_built_in() -> list[type[Method]]:
    return [*LINK_ATTACKS, *ATTRIBUTE_ATTACKS, *IDENTITY_ATTACKS, *DEFENSES]


@cache
def load_plug_ins() -> tuple[tuple[type[Method], ...], dict[str, InputError]]:
    """Methods of installed packages, and by key why others cannot be used."""
    found: list[type[Method]] = []
    broken: dict[str, InputError] = {}
    for point in entry_points(group=GROUP):
        try:
            found.append(_check_plug_in(point.name, point.load()))
        except (Exception, SystemExit) as error:  # whatever a package's code raises
            reason = error if isinstance(error, InputError) else None
            broken[point.name] = reason or InputError(
                f"plug-in '{point.name}'",
                "must be importable",
                describe_unexpected(error),
                f"repair or uninstall the package of {point.value}",
            )
            log.warning("%s", broken[point.name])
    return tuple(found), broken


def _check_plug_in(key: str, method: Any) -> type[Method]:
    """The class, if it is a method with this unused key; else raises InputError."""
    what, remedy = f"plug-in '{key}'", "see tests/examples/own_defense"
    bases = (LinkAttack, AttributeAttack, IdentityAttack, Defense)
    if not (isinstance(method, type) and issubclass(method, bases)) or isabstract(method):
        raise InputError(what, "must be a class of attack or defense", repr(method), remedy)
    if not isinstance(getattr(method, "info", None), MethodInfo) or method.info.key != key:
        raise InputError(what, "must have info with its name as key", repr(method), remedy)
    if key in {other.info.key for other in (*_list_built_in(), *UNLISTED)}:
        raise InputError(what, "must not have the key of another method", key, "rename it")
    method()
    return method


def list_methods(kind: Kind | None = None) -> list[type[Method]]:
    """All methods in the order of their lists, those of installed packages last.

    >>> from core import list_methods
    >>> [method.info.key for method in list_methods("link_attack")][:3]
    ['common_neighbors', 'adamic_adar', 'resource_allocation']
    """
    if kind is not None:
        _check_kinds(kind)
    methods = [*_list_built_in(), *load_plug_ins()[0]]
    return [m for m in methods if kind is None or m.kind == kind]


def find_method(key: str, *kinds: Kind) -> type[Method]:
    """The method of this key, of one of these kinds; raises InputError.

    >>> from core import find_method
    >>> find_method("edge_rand")(epsilon=2).changed
    {'epsilon': 2.0}
    """
    _check_kinds(*kinds)
    if not isinstance(key, str):
        raise InputError("method", "must be named by its key, a text", repr(key))
    named = _group_by_key((*list_methods(), *UNLISTED)).get(key, [])
    for method in named:
        if not kinds or method.kind in kinds:
            return method
    broken = load_plug_ins()[1].get(key)
    if broken is not None:
        raise broken
    noun = " or ".join(kind.replace("_", " ") for kind in kinds) or "method"
    if named:
        rule = f"must not be of the kind {named[0].kind.replace('_', ' ')}"
        raise InputError(noun, rule, key, "`core methods` and list_methods() tell the kinds")
    known = [m.info.key for m in list_methods() if not kinds or m.kind in kinds]
    near = propose_nearest(key, known)
    raise InputError(noun, "must be a known key", key, near or f"known: {', '.join(known)}")


@cache
def _group_by_key(methods: tuple[type[Method], ...]) -> dict[str, list[type[Method]]]:
    """Key → methods of this key: audits look up each of theirs many times."""
    found: dict[str, list[type[Method]]] = {}
    for method in methods:
        found.setdefault(method.info.key, []).append(method)
    return found


def _check_kinds(*kinds: str) -> None:
    for kind in kinds:
        if kind not in KINDS:
            raise InputError("kind of method", "must be one of " + ", ".join(KINDS), kind)


def make_method(key: str, config: dict[str, Any] | None = None, *kinds: Kind) -> Method:
    """The method `key` with the given settings; InputError names setting, rule and value."""
    method = find_method(key, *kinds)
    remedy = f"parameters: {', '.join(method.model_fields) or 'none'}"
    return validate(method, config or {}, method.title_setting, remedy)


def parse_method(text: str, *kinds: Kind) -> Method:
    """A method from its text on the command line, `KEY[:name=value,…]` or `command:LINE`.

    >>> from core.registry import parse_method
    >>> parse_method("edge_rand:epsilon=4", "defense").changed
    {'epsilon': 4.0}
    """
    key, _, rest = text.partition(":")
    config: dict[str, Any] = {}
    whole = find_method(key.strip(), *kinds).whole_text
    if whole:
        return make_method(key.strip(), {whole: rest}, *kinds)
    for item in filter(None, rest.split(",")):
        name, sign, value = item.partition("=")
        if not sign:
            raise InputError(f"{key}: parameter", "must be written name=value", item)
        if name.strip() in config:
            raise InputError(f"{key}: parameter", "must be given once", item, "choose one value")
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
