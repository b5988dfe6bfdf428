"""Studies: one condition of the attack varied, one ordinary audit of the original per point.

Points carry the study's id in their provenance and are otherwise independent audits.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from core.audit.asked.method_choice import MethodChoice
from core.audit.asked.spec import AuditSpec
from core.audit.asked.spec_parts import nest_fields
from core.audit.computing.prepared import list_published, prepare_graph
from core.audit.results.view import AuditSummary
from core.data.link_release import is_link_column
from core.data.release_columns import Rule
from core.errors import InputError
from core.graph import Graph
from core.seeding import Seed
from core.words import format_percent

MAX_COLUMNS = 24
"""Number of features above which they are withheld all together."""

EVERYTHING = "every column"

MAX_COMMUNITIES = 12
"""Number of largest communities that a smaller graph is assembled from."""


@dataclass(frozen=True)
class StudyKind:
    """key; the varied condition, in words and as an axis title; the shares that are tried.

    Without shares its points are named: the items withheld one after the other.
    """

    key: str
    title: str
    summary: str
    axis: str
    shares: tuple[float, ...]


STUDIES = (
    StudyKind(
        "known",
        "What the attacker knows",
        "The same attacks by attackers who know the private value of few or of many people.",
        "Share of people whose value the attacker knows",
        (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5),
    ),
    StudyKind(
        "features",
        "Masked features",
        "A random share of the feature values is blanked: the column's mean, 0 in sparse tables.",
        "Share of the feature values that are blanked",
        (0.0, 0.2, 0.4, 0.6, 0.8),
    ),
    StudyKind(
        "size",
        "Size of the graph",
        "Whole Louvain communities are left out, until about so many people remain.",
        "Share of the people that remain",
        (0.2, 0.4, 0.7, 1.0),
    ),
    StudyKind(
        "columns",
        "Columns withheld in turn",
        "The same attacks where nothing, each column in turn, and every column is withheld.",
        "Withheld",
        (),
    ),
)


@dataclass(frozen=True)
class Study:
    """A started study: its points as (share, audit), lowest share first.

    names  the item withheld at each point, if that is varied
    """

    id: str
    kind: StudyKind
    points: tuple[tuple[float, AuditSummary], ...]

    @property
    def names(self) -> dict[float, str]:
        marks = [(share, audit.study or {}) for share, audit in self.points]
        return {share: mark["name"] for share, mark in marks if "name" in mark}

    @property
    def is_active(self) -> bool:
        return any(audit.state.is_active for _, audit in self.points)

    @property
    def cells_done(self) -> int:
        return sum(audit.cells_done for _, audit in self.points)

    @property
    def fraction(self) -> float:
        return self.cells_done / max(self.cells_total, 1)

    @property
    def cells_total(self) -> int:
        return sum(audit.cells_total for _, audit in self.points)


def find_kind(key: str) -> StudyKind:
    """Kind of study by key; raises InputError."""
    for kind in STUDIES:
        if kind.key == key:
            return kind
    raise InputError(
        "study", "must be a known key", key, "known: " + ", ".join(kind.key for kind in STUDIES)
    )


def find_obstacle(key: str, spec: AuditSpec, graph: Graph) -> str | None:
    """Reason why a study of this audit is impossible; None if it is possible."""
    if key == "known" and spec.threats.private is None:
        return "needs a private column"
    if key == "known" and not _list_attribute_attacks(spec):
        return "needs an attribute attack"
    if key == "features" and prepare_graph(spec, graph).features is None:
        return "this graph has no features"
    if key == "size" and _keep_links(spec, graph) == () and spec.threats.private is None:
        return "needs a private column or links that are drawn"
    if key == "columns" and not list_withheld(spec, graph):
        return "no column leaves that an attacker could read"
    return None


def make_point(key: str, share: float, spec: AuditSpec, graph: Graph) -> tuple[AuditSpec, Graph]:
    """Spec and graph of one point, without usefulness or defenses.

    Raises InputError if the point is impossible.
    """
    fields: dict[str, Any] = {"defenses": [], "utility": None, "test_links": 0.0}
    seed = Seed(spec.root_seed).child("study", key, share)
    whole, graph = graph, prepare_graph(spec, graph)
    if key == "known":
        fields |= {
            "known": share,
            "hide_links": None,
            "sensitive_links": None,
            "attacks": _list_attribute_attacks(spec),
        }
    elif key == "features":
        graph = mask_features(graph, share, seed)
    elif key == "size":
        graph = sample_communities(graph, share, seed)
        fields["sensitive_links"] = _keep_links(spec, graph) or None
    elif key == "columns":
        fields |= choose_withheld(spec, whole, int(share))
        graph = whole  # the spec itself says what is left out of it
    fields["graph_hash"] = graph.content_hash
    return AuditSpec.check_spec(nest_fields({**spec.model_dump(), **fields})), graph


class Audits(Protocol):
    """Verbs of the audit service that studies need, with permissions or without."""

    def load_graph(self, graph_hash: str) -> Graph:
        """A stored graph."""

    def save_graph(self, graph: Graph, *, made_of: str | None) -> str:
        """Store a variant of the graph `made_of`; returns its hash."""

    def start_audit(self, spec: AuditSpec, name: str, marks: dict[str, Any]) -> str:
        """Start an audit with `marks` in its provenance; returns its id."""

    def list_audits(self) -> list[AuditSummary]:
        """The history, newest first."""

    def cancel_audit(self, audit_id: str) -> None:
        """Cancel an audit."""


def start_study(service: Audits, key: str, spec: AuditSpec) -> str:
    """Start one audit per point with the attacks and repeats of `spec`; returns an id.

    Impossible points are omitted, such as a subgraph with one class only. Raises InputError if none
    is left or `find_obstacle` gives a reason.
    """
    kind, graph = find_kind(key), service.load_graph(spec.graph_hash)
    obstacle = find_obstacle(key, spec, graph)
    if obstacle:
        raise InputError("study", obstacle)
    study_id, started, reason = secrets.token_hex(5), 0, ""
    for share, name in list_points(kind, spec, graph):
        mark = {"id": study_id, "key": key, "share": share, "graph_hash": spec.graph_hash}
        if not kind.shares:
            mark["name"] = name
        try:
            point, variant = make_point(key, share, spec, graph)
            service.save_graph(variant, made_of=spec.graph_hash)
            service.start_audit(point, f"{kind.title}: {name}", {"study": mark})
            started += 1
        except InputError as error:
            reason = str(error)
    if not started:
        raise InputError("study", "must have a point that can be made", remedy=reason)
    return study_id


def list_points(kind: StudyKind, spec: AuditSpec, graph: Graph) -> list[tuple[float, str]]:
    """Points of a study, by number and by name."""
    if kind.shares:
        return [(share, format_percent(share)) for share in kind.shares]
    return list(enumerate(["nothing", *list_withheld(spec, graph)]))


def list_studies(service: Audits, graph_hash: str) -> list[Study]:
    """The studies of a graph, newest first."""
    points: dict[str, list[tuple[float, AuditSummary]]] = {}
    for audit in service.list_audits():
        if audit.study is not None and audit.study["graph_hash"] == graph_hash:
            points.setdefault(audit.study["id"], []).append((audit.study["share"], audit))
    return [
        Study(
            study_id,
            find_kind(found[0][1].study["key"]),  # type: ignore[index]
            tuple(sorted(found, key=lambda point: point[0])),
        )
        for study_id, found in points.items()
    ]


def cancel_study(service: Audits, study: Study) -> None:
    """Cancel all its audits."""
    for _, audit in study.points:
        service.cancel_audit(audit.id)


def mask_features(graph: Graph, share: float, seed: Seed) -> Graph:
    """Replace a random `share` of all feature values by the column's mean; by 0 if sparse."""
    features: Any = graph.features
    if features is None or share == 0:
        return graph
    rng = seed.rng("mask")
    if isinstance(features, np.ndarray):
        hidden = rng.random(features.shape) < share
        return graph.update_columns(features=np.where(hidden, features.mean(axis=0), features))
    masked = features.copy()
    masked.data[rng.random(len(masked.data)) < share] = 0.0
    masked.eliminate_zeros()
    return graph.update_columns(features=masked)


def sample_communities(graph: Graph, share: float, seed: Seed) -> Graph:
    """Union of Louvain communities with a size nearest to `share` of the nodes."""
    from core.algorithms.communities import find_communities

    if share >= 1:
        return graph
    labels = find_communities(graph, seed.rng("communities"))
    sizes = np.bincount(labels)
    count = min(len(sizes), MAX_COMMUNITIES)
    chosen = (np.arange(1, 2**count)[:, None] >> np.arange(count)) & 1
    distance = np.abs(chosen @ sizes[:count] - share * graph.num_nodes)
    best = int(np.lexsort((chosen.sum(axis=1), distance))[0])
    return graph.subgraph(np.isin(labels, np.flatnonzero(chosen[best])))


def list_withheld(spec: AuditSpec, graph: Graph) -> list[str]:
    """Item withheld at each point after the first; the last point withholds all."""
    names, features = _list_columns(spec, graph)
    groups = [*names, *([_format_features(features)] if features else [])]
    return [*groups, EVERYTHING] if len(groups) > 1 else groups


def choose_withheld(spec: AuditSpec, graph: Graph, number: int) -> dict[str, Any]:
    """Spec fields of a point: 0 withholds nothing, then as in `list_withheld`."""
    names, features = _list_columns(spec, graph)
    every = [*names, *features]
    wanted = ["", *list_withheld(spec, graph)][number]
    kept = [name for name in every if name != wanted]
    if wanted == EVERYTHING:
        kept = []
    elif features and wanted == _format_features(features):
        kept = list(names)
    rules = [text for text in spec.disclosure.generalize if text.rpartition(":")[0] in kept]
    return {"publish_columns": tuple(kept), "generalize": tuple(rules)}


def _list_columns(spec: AuditSpec, graph: Graph) -> tuple[list[str], list[str]]:
    """Columns that attackers see: attributes one by one, many features only together."""
    graph, disclosure = prepare_graph(spec, graph), spec.disclosure
    nodes = graph.feature_names
    if disclosure.names_columns:
        nodes = list_published(spec, nodes)
    coarse = [Rule.parse(text).column for text in disclosure.generalize]
    links = filter(is_link_column, dict.fromkeys([*(disclosure.publish_columns or ()), *coarse]))
    leaving = [*nodes, *links]
    features = [name for name in leaving if name not in graph.attributes]
    if len(features) <= MAX_COLUMNS:
        return leaving, []
    return [name for name in leaving if name in graph.attributes], features


def _format_features(features: list[str]) -> str:
    return f"all {len(features):,} features"


def _list_attribute_attacks(spec: AuditSpec) -> tuple[MethodChoice, ...]:
    return tuple(choice for choice in spec.attacks if choice.kind == "attribute_attack")


def _keep_links(spec: AuditSpec, graph: Graph) -> tuple[tuple[str, str], ...] | None:
    """The analyst's sensitive links that the graph still has; None if they are drawn."""
    if spec.threats.sensitive_links is None:
        return None
    return tuple(
        (a, b) for a, b in spec.threats.sensitive_links if a in graph.index and b in graph.index
    )
