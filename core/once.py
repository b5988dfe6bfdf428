"""What several parts ask for of one source, found once."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

S = TypeVar("S")
T = TypeVar("T")
P = ParamSpec("P")
_found: dict[int, dict[Hashable, Any]] = {}


def find_once(find: Callable[Concatenate[S, P], T]) -> Callable[Concatenate[S, P], T]:
    """`find(source, …)`, called once for each source, such as a table of results or the spec of an
    audit, which nobody changes. The further arguments are hashable.
    """

    @wraps(find)
    def look_up(source: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        known = _found.get(id(source))
        if known is None:
            known = _found[id(source)] = {}
            weakref.finalize(source, _found.pop, id(source), None)
        key = (find, args, tuple(sorted(kwargs.items())))
        if key not in known:
            known[key] = find(source, *args, **kwargs)
        found: T = known[key]
        return found

    return look_up
