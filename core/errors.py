"""Errors that are shown to the user.

AuditError
├── InputError          a file, column, option or setting breaks a rule
│   ├── FormatError     a file does not follow its format
│   ├── UnsupportedError  a method cannot run on this graph or threat
│   └── DamagedError    a stored file differs from what was written
├── AccessError         the person has no permission
├── OfflineError        a dataset must be downloaded and cannot be
├── ResourceError       the result would exceed the memory or time allowed
└── RunCancelled        the user cancelled the run
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, TypeVar

from core.words import cut_text

if TYPE_CHECKING:
    from pydantic import BaseModel

M = TypeVar("M", bound="BaseModel")


class AuditError(Exception):
    """Root of all errors shown to the user on one line.

    >>> from core import AuditError, find_method
    >>> try:
    ...     find_method("edge_ran")
    ... except AuditError as error:
    ...     print(error)
    method must be a known key; got edge_ran; did you mean 'edge_rand'?
    """


class InputError(AuditError):
    """An input breaks a rule; the message names input, rule, value and remedy on one line."""

    def __init__(self, what: str, rule: str, value: object = None, remedy: str = "") -> None:
        self.what, self.rule, self.value, self.remedy = what, rule, value, remedy
        parts = [f"{what} {rule}"]
        if value is not None:
            parts.append(f"got {_shorten(value)}")
        if remedy:
            parts.append(remedy)
        super().__init__("; ".join(parts))

    def __reduce__(self) -> tuple[Any, ...]:  # exceptions cross process borders
        return (type(self), (self.what, self.rule, self.value, self.remedy))


class FormatError(InputError):
    """A file does not follow its format."""


class UnsupportedError(InputError):
    """A method cannot run on this graph, release or threat."""


class DamagedError(InputError):
    """A stored file differs from what was written."""


class ResourceError(InputError):
    """The result would exceed the memory or time allowed; raised before allocating it."""


class AccessError(AuditError):
    """The person has no permission; the message names who has, on one line."""


class OfflineError(AuditError):
    """A dataset is neither in the local root nor downloadable."""


class RunCancelled(AuditError):
    """The user cancelled the run."""

    def __init__(self, message: str = "cancelled by the user") -> None:
        super().__init__(message)


def _shorten(value: object, limit: int = 80) -> str:
    """One printable line of at most `limit` characters; control characters are escaped."""
    text = value if isinstance(value, str) else repr(value)
    text = "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
    return cut_text(text, limit)


def propose_nearest(word: str, known: Iterable[str]) -> str:
    """ "did you mean 'edge_rand'?", or "" if nothing known is like the word."""
    by_case = {name.casefold(): name for name in known}
    near = get_close_matches(word.casefold(), by_case, 1, cutoff=0.7)
    return f"did you mean '{by_case[near[0]]}'?" if near else ""


def describe_unexpected(error: BaseException) -> str:
    """One short line on an unexpected error: its type and its text."""
    return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"


def validate(model: type[M], fields: Any, name: Callable[[str], str], remedy: str = "") -> M:
    """The model of these fields; InputError states the first invalid one by `name` of its path."""
    from pydantic import ValidationError

    try:
        return model.model_validate(fields)
    except ValidationError as error:
        first = error.errors()[0]
        what, rule = name(".".join(map(str, first["loc"]))), first["msg"]
        rule = rule.removeprefix("Value error, ").replace("Input should be", "must be", 1)
        if first["type"] == "extra_forbidden":
            rule = "is not known"
            remedy = propose_nearest(str(first["loc"][-1]), model.model_fields) or remedy
        elif str(first.get("input")).strip().lower().lstrip("+-") == "nan":
            rule = "must be a number"
        given = first.get("input")
        if isinstance(given, Mapping):  # of a rule on several fields
            given = None
        raise InputError(what, rule[0].lower() + rule[1:], given, remedy) from None


def check_support(label: str, reason: str | None) -> None:
    """Raise UnsupportedError with the reason why a method cannot run, if there is one."""
    if reason:
        raise UnsupportedError(label, f"cannot run here: {reason}")
