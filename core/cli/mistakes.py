"""Mistakes in a command line, the most basic one first: an unknown word before an option that is
missing."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable

from core.cli.arguments import load_input
from core.errors import AuditError, InputError, propose_nearest

_CHOICE = re.compile(r"argument ([^:]+): invalid choice: '(.*)' \(choose from (.*)\)", re.DOTALL)
_NUMBER = re.compile(r"argument ([^:]+): invalid (int|float) value: '(.*)'", re.DOTALL)
_COUNT = re.compile(r"argument ([^:]+): expected (.*) argument.*")


def explain_parsing(message: str, help_command: str) -> InputError:
    """What argparse says, as an error that names the nearest valid word."""
    see = f"see: {help_command}"
    if found := _NUMBER.fullmatch(message):
        rule = "must be a whole number" if found[2] == "int" else "must be a number"
        return InputError(found[1], rule, found[3], see)
    if found := _COUNT.fullmatch(message):
        return InputError(found[1], f"needs {found[2]} value", remedy=see)
    found = _CHOICE.fullmatch(message)
    if found is None:
        return InputError("command", message, remedy=see)
    known = [word.strip(" '") for word in found[3].split(",")]
    near = propose_nearest(found[2], known)
    rule = f"must be one of {', '.join(known)}"
    return InputError(found[1], rule, found[2], near or see)


def explain_unknown(words: list[str], options: Iterable[str], help_command: str) -> InputError:
    """Words of a command line that no option takes."""
    flag = words[0].partition("=")[0]
    near = propose_nearest(flag, options) if flag.startswith("-") else ""
    rule = "has no such option" if flag.startswith("-") else "takes no such word"
    return InputError("command", rule, words[0], near or f"see: {help_command}")


def find_first_mistake(options: argparse.Namespace, error: AuditError) -> AuditError:
    """The error, or if it tells that something is needed, a more basic one: an unknown method, a
    graph that cannot be read, a column that it has not."""
    if not isinstance(error, InputError) or not error.rule.startswith("needs"):
        return error
    try:
        _check_methods(options)
        if getattr(options, "graph", None):
            graph = load_input(options, lambda text: None).graph
            named = (options.private, *options.more_private, options.utility)
            graph.columns.check(filter(None, named))
    except InputError as first:
        return error if first.rule.startswith("needs") else first
    except AttributeError:  # a command without these options
        pass
    return error


def _check_methods(options: argparse.Namespace) -> None:
    """Raise InputError for the first method whose key or settings are wrong."""
    from core.audit.asked.method_choice import MethodChoice
    from core.audit.asked.presets import PRESETS
    from core.methods import ATTACK_KINDS

    others = {"all", *(preset.key for preset in PRESETS)}
    for name, kinds in (("defense", ("defense",)), ("attack", ATTACK_KINDS)):
        given = getattr(options, name, None) or []
        for text in [given] if isinstance(given, str) else given:
            if text not in others and not text.startswith("command:"):
                MethodChoice.parse(text, *kinds)
