"""A prepared audit: its spec, the graph as published, and the attackers' graphs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from core.audit.asked.publish_spec import PublishSpec
from core.audit.asked.release_info import parse_release
from core.audit.asked.spec import AuditSpec
from core.data.link_release import choose_link_columns, is_link_column
from core.data.release_columns import Rule, choose_columns, forget_values, leave_out_people
from core.data.shared_numbers import bin_like
from core.defenses.external import EXTERNAL
from core.errors import InputError
from core.graph import Graph
from core.methods import Defense
from core.node_column import NodeColumn
from core.release import ORIGINAL


@dataclass(frozen=True, eq=False)
class PreparedAudit:
    """Input of planning, computation and estimation.

    spec       normalised, with the columns named that the shadow graph has
    source     the graph as loaded
    auxiliary  second graph of the same nodes, if given
    shadow     shadow graph for training, if given
    external   the external release under judgement and those held beside it, if any
    """

    spec: AuditSpec
    source: Graph
    auxiliary: Graph | None = None
    shadow: Graph | None = None
    external: tuple[Graph, ...] = ()

    @staticmethod
    def load(spec: AuditSpec, load: Callable[[str], Graph]) -> PreparedAudit:
        """Load the spec's graphs by hash. Raises InputError if the shadow graph has no usable
        column."""
        identity, shadow_hash = spec.threats.identity, spec.knowledge.shadow_graph
        second = None if identity is None else identity.auxiliary_graph
        shadow = None if shadow_hash is None else load(shadow_hash)
        auxiliary = None if second is None else load(second)
        external = tuple(load(name) for name in spec.external_releases)
        return PreparedAudit.build(spec, load(spec.graph_hash), auxiliary, shadow, external)

    @staticmethod
    def build(
        spec: AuditSpec,
        source: Graph,
        auxiliary: Graph | None = None,
        shadow: Graph | None = None,
        external: tuple[Graph, ...] = (),
    ) -> PreparedAudit:
        """The audit of these graphs."""
        spec = _fill_shadow_columns(spec.normalized(), source, shadow)
        return PreparedAudit(spec, source, auxiliary, shadow, external)

    @cached_property
    def graph(self) -> Graph:
        """The graph as it would be published."""
        return prepare_graph(self.spec, self.source)

    @cached_property
    def encoded_shadow(self) -> Graph | None:
        """The shadow graph with its columns encoded as in the audited graph."""
        shadow = self.shadow
        if shadow is not None:
            for column in self.spec.shadow_targets:
                shadow = prepare_shadow_graph(shadow, self.graph.column(column))
        return shadow

    @property
    def held_graphs(self) -> list[Graph]:
        """Graphs held by attackers, external releases included."""
        held = (self.auxiliary, self.shadow, *self.external)
        return [graph for graph in held if graph is not None]


def prepare_graph(spec: AuditSpec | PublishSpec, graph: Graph) -> Graph:
    """The graph as published: without excluded nodes, with columns withheld or coarsened.

    The private and utility columns are attributes, not features, and are kept for evaluation; of
    the features the numbers alone are left.
    Raises InputError for a private column that would be published.
    """
    disclosure, threats = spec.disclosure, spec.threats
    if disclosure.utility in threats.columns:
        rule, remedy = "must not be a private one: it is published", "choose another, or none"
        raise InputError("utility column", rule, disclosure.utility, remedy)
    if disclosure.leave_out:
        left = leave_out_people(graph, disclosure.leave_out)
        graph = forget_values(left, graph, threats.columns, disclosure.publish_columns or ())
    named = (threats.private, *threats.more_private, disclosure.utility)
    kept = [column for column in named if column is not None]
    graph = graph.with_private(*kept)
    if graph.columns.read:
        graph = graph.update_columns(features=graph.features)
    graph = choose_link_columns(graph, disclosure.publish_columns, disclosure.generalize)
    if not disclosure.names_columns:
        return graph
    return choose_columns(
        graph, disclosure.publish_columns, disclosure.generalize, kept, threats.columns
    )


def list_published(
    spec: AuditSpec | PublishSpec, features: Iterable[str], defense: Defense | None = None
) -> tuple[str, ...]:
    """Columns of nodes that leave: whatever is said of a release or written of it asks here.

    Those that the spec names. Where it names none, the utility column alone, though attackers are
    taken to see the features too; once it makes some coarser, these and the features leave as well.

    features  names of the columns that attackers read
    defense   that makes the release; None for the original
    """
    if defense is not None and not defense.keeps_columns:
        return ()
    disclosure, named = spec.disclosure, spec.disclosure.publish_columns
    if named is None:
        coarse = [Rule.parse(text).column for text in disclosure.generalize]
        utility = () if disclosure.utility is None else (disclosure.utility,)
        named = (*(features if coarse else ()), *coarse, *utility)
    secret = spec.threats.columns
    return tuple(dict.fromkeys(n for n in named if not is_link_column(n) and n not in secret))


def list_written(
    spec: AuditSpec | PublishSpec, graph: Graph, defense: Defense | None = None
) -> list[str]:
    """Columns of nodes in the files of a release `graph`, in their order."""
    return [n for n in list_published(spec, graph.feature_names, defense) if n in graph.columns]


def list_seen(spec: AuditSpec, graph: Graph, release: str = ORIGINAL) -> tuple[str, ...]:
    """Attributes that leave with a release, which attackers on links and columns read too, beside
    the features of its graph. A release made elsewhere has its own as features already."""
    if release == EXTERNAL:
        return ()
    leaving = list_published(spec, graph.feature_names, parse_release(release).defense)
    return tuple(name for name in leaving if name in graph.attributes)


def _fill_shadow_columns(spec: AuditSpec, source: Graph, shadow: Graph | None) -> AuditSpec:
    """The spec with the private columns named that the shadow graph has, unless given or only
    the first."""
    columns = spec.threats.columns
    if shadow is None or len(columns) < 2 or spec.knowledge.shadow_columns is not None:
        return spec
    gaps = find_gaps(columns, prepare_graph(spec, source), shadow)
    usable = tuple(column for column in columns if not gaps[column])
    return spec if usable == columns[:1] else spec.update(shadow_columns=usable)


def find_gaps(columns: Sequence[str], graph: Graph, shadow: Graph) -> dict[str, str]:
    """Private column of `graph` → reason why the shadow graph cannot be used for it, or "".

    Raises InputError with the first column's reason if it can be used for none.
    """
    gaps, errors = {}, []
    for column in columns:
        try:
            prepare_shadow_graph(shadow, graph.column(column))
        except InputError as error:
            is_there = column in shadow.columns
            what = "fewer than two of its classes" if is_there else "no such column"
            gaps[column] = f"{what} there"
            errors.append(error)
        else:
            gaps[column] = ""
    if errors and len(errors) == len(gaps):
        raise errors[0]
    return gaps


def describe_shadow_columns(gaps: Mapping[str, str]) -> str:
    """Usable and unusable columns with reasons, from the result of `find_gaps`."""
    usable = " and ".join(column for column, gap in gaps.items() if not gap)
    missing = ", ".join(f"{column} ({gap})" for column, gap in gaps.items() if gap)
    return f"has {usable}" + (f", not {missing}" if missing else "")


def prepare_shadow_graph(graph: Graph, private: NodeColumn) -> Graph:
    """The shadow graph with a private column as an attribute, numbers binned at the audited
    graph's borders. Raises InputError without such a column, or with fewer than two classes."""
    if private.name not in graph.columns:
        remedy = f"it has: {graph.columns.list_some()}"
        raise InputError("shadow graph", "must have the private column", private.name, remedy)
    graph = graph.with_private(private.name)
    column = bin_like(graph.column(private.name), private)
    held = {column.classes[code] for code in np.unique(column.codes[column.known])}
    if len(held & set(private.classes)) < 2:
        raise InputError(
            "shadow graph",
            f"must have people of at least two classes of '{private.name}'",
            ", ".join(sorted(held)[:10]) or "no known value",
            "classes are: " + ", ".join(private.classes[:10]),
        )
    return graph.with_attributes({private.name: column})
