"""Compute core of the graph privacy audit; usable alone, never imports Streamlit.

The names below are the interface for scripts and notebooks: assets/help/scripts.md. Everything else
may change, but for what a method of one's own needs (tests/examples/own_defense).
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from core.data.conversions import from_networkx as from_networkx
    from core.data.conversions import from_pandas as from_pandas
    from core.data.conversions import from_pyg as from_pyg
    from core.errors import AuditError as AuditError
    from core.graph import Graph as Graph
    from core.library import Audit as Audit
    from core.library import judge as judge
    from core.library import load_graph as load_graph
    from core.library import publish as publish
    from core.library import run_audit as run_audit
    from core.registry import find_method as find_method
    from core.registry import list_methods as list_methods

__version__ = "0.1.0"

_PLACES = {
    "Audit": "library",
    "AuditError": "errors",
    "Graph": "graph",
    "find_method": "registry",
    "from_networkx": "data.conversions",
    "from_pandas": "data.conversions",
    "from_pyg": "data.conversions",
    "judge": "library",
    "list_methods": "registry",
    "load_graph": "library",
    "publish": "library",
    "run_audit": "library",
}
__all__ = list(_PLACES)


def __getattr__(name: str) -> Any:
    """A public name, imported when it is first asked for: commands import core all the time."""
    if name not in _PLACES:
        raise AttributeError(f"module 'core' has no attribute '{name}'")
    value = globals()[name] = getattr(import_module(f"core.{_PLACES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_PLACES})
