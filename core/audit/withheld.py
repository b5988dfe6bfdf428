"""The points of a study that withholds the columns in turn."""

from __future__ import annotations

from typing import Any

from core.audit.spec import AuditSpec
from core.audit.threat_sampling import list_published, prepare_graph
from core.graph import Graph

MAX_COLUMNS = 24
"""Above that many features they are withheld all together, as the words of a text are."""

EVERYTHING = "every column"


def list_withheld(spec: AuditSpec, graph: Graph) -> list[str]:
    """What is withheld at each point after the first, at which nothing is; the last is all."""
    names, features = _list_columns(spec, graph)
    groups = [*names, *([_name_features(features)] if features else [])]
    return [*groups, EVERYTHING] if len(groups) > 1 else groups


def choose_withheld(spec: AuditSpec, graph: Graph, number: int) -> dict[str, Any]:
    """Fields of the spec of a point: 0 is nothing withheld, then as `list_withheld` says."""
    names, features = _list_columns(spec, graph)
    every = [*names, *features]
    wanted = ["", *list_withheld(spec, graph)][number]
    kept = [name for name in every if name != wanted]
    if wanted == EVERYTHING:
        kept = []
    elif features and wanted == _name_features(features):
        kept = list(names)
    rules = [text for text in spec.generalize if text.rpartition(":")[0] in kept]
    return {"publish_columns": tuple(kept), "generalize": tuple(rules)}


def _list_columns(spec: AuditSpec, graph: Graph) -> tuple[list[str], list[str]]:
    """Columns that leave: those that are withheld alone, and features only all together."""
    graph = prepare_graph(spec, graph)
    shown = list_published(spec, graph)
    leaving = list(graph.feature_names if shown is None else shown)
    features = [name for name in leaving if name not in graph.attributes]
    if len(features) <= MAX_COLUMNS:
        return leaving, []
    return [name for name in leaving if name in graph.attributes], features


def _name_features(features: list[str]) -> str:
    return f"all {len(features):,} features"
