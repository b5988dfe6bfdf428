"""Layout of all nodes for the map, as a job of the graph, computed once and stored with it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

import numpy as np
from pydantic import BaseModel, ConfigDict
from sqlalchemy.engine import Row

from core.algorithms.community_discs import separate_communities
from core.audit.jobs.job import JobContext, Jobs, make_key, read_progress
from core.audit.results.view import JobProgress, Layout
from core.audit.store.files import load_cell
from core.audit.store.states import State
from core.errors import DamagedError, InputError
from core.graph import Graph
from core.partitioned.graph import PartitionedGraph
from core.progress import Progress
from core.seeding import Seed


def lay_out(graph: Graph) -> Layout:
    """Positions and communities, seeded by the graph's content hash alone."""
    return _separate(compute_arrays(graph))


def compute_arrays(graph: Graph, progress: Progress | None = None) -> dict[str, np.ndarray]:
    """What is stored: positions by distance alone, and communities."""
    from core.algorithms.layout import compute_layout  # compiled loops: when asked for

    positions = compute_layout(graph, _seed(graph).rng("places"), progress=progress)
    return {"positions": positions.astype(np.float32), "communities": divide(graph)}


def divide(graph: Graph) -> np.ndarray:
    """(n,) int32 communities, the same wherever they are shown; remembered with the graph."""
    from core.algorithms.communities import find_communities

    if graph not in _divided:
        found = find_communities(graph, _seed(graph).rng("communities"))
        _divided[graph] = found.astype(np.int32)
    return _divided[graph]


_divided: WeakKeyDictionary[Graph, np.ndarray] = WeakKeyDictionary()


def _seed(graph: Graph) -> Seed:
    return Seed(0).child("layout", graph.content_hash)


def _separate(arrays: Mapping[str, np.ndarray]) -> Layout:
    """What is shown: the communities apart."""
    communities = arrays["communities"]
    positions = separate_communities(arrays["positions"].astype(float), communities)
    return Layout(positions.astype(np.float32), communities)


def find_layout(home: Path, graph: Graph, kept: Graph) -> Layout:
    """Of the nodes that are kept in an audit, the stored layout of their graph; computed again if
    there is none."""
    try:
        layout = _read_layout(home, _format_key(graph))
    except (DamagedError, OSError):
        layout = lay_out(graph)
    if kept.node_ids == graph.node_ids:
        return layout
    places = graph.find_nodes(kept.node_ids)
    return Layout(layout.positions[places], layout.communities[places])


def find_partition(home: Path, graph: Graph, kept: Graph) -> np.ndarray | None:
    """Communities of the nodes that are kept in an audit, as the map of their graph has them; None
    where finding them would take long and no map was drawn."""
    if isinstance(graph, PartitionedGraph):
        return None
    try:
        found = load_cell(home, _format_key(graph), ("communities",))["communities"]
    except (DamagedError, OSError):
        if graph.num_nodes > MAX_DIVIDED:
            return None
        found = divide(graph)
    is_whole = kept.node_ids == graph.node_ids
    return found if is_whole else np.asarray(found[graph.find_nodes(kept.node_ids)])


def _format_key(graph: Graph) -> str:
    request = LayoutRequest(graph_hash=graph.content_hash)
    return make_key(LayoutJobs.name, None, *LayoutJobs.format_parts(request))


def _read_layout(home: Path, key: str) -> Layout:
    return _separate(load_cell(home, key))


MAX_DIVIDED = 100_000
"""Number of nodes up to which communities are found at once: 1.4 s of CPU for half a million links,
25 s for ten times as many."""

VERSION = 2
"""Increase when what is stored of a graph's layout changes."""


class LayoutRequest(BaseModel):
    """graph_hash: content hash of a stored graph."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    graph_hash: str
    version: int = VERSION


class LayoutJobs(Jobs[LayoutRequest, JobProgress]):
    """One per graph; belongs to no audit."""

    name: ClassVar[str] = "layout"
    request: ClassVar[type[BaseModel]] = LayoutRequest
    priority: ClassVar[int] = 50
    """Above all cells, since a user waits for it."""
    is_kept: ClassVar[bool] = True

    def start(self, graph_hash: str) -> str:
        """Compute the layout in the background unless it is done or running."""
        return self.submit(LayoutRequest(graph_hash=graph_hash))

    def find(self, graph_hash: str) -> JobProgress | None:
        """None if it was never requested."""
        return self._look_up(self._find_key(graph_hash))

    def stop(self, graph_hash: str) -> None:
        """Cancel the layout of a graph."""
        self.cancel(self._find_key(graph_hash))

    def load(self, graph_hash: str) -> Layout:
        """Result of a finished job. If it is missing or damaged the job is removed, so that it
        can be started again, and InputError is raised."""
        key = self._find_key(graph_hash)
        try:
            return _read_layout(self._store.home, key)
        except (DamagedError, OSError):
            self._store.delete_jobs([key])
            raise InputError("map", "must be stored", graph_hash[:12], "draw it again") from None

    def _find_key(self, graph_hash: str) -> str:
        return self.find_key(LayoutRequest(graph_hash=graph_hash), None)

    @classmethod
    def format_parts(cls, request: LayoutRequest) -> tuple[Any, ...]:
        return request.graph_hash, request.version

    @classmethod
    def compute(cls, request: LayoutRequest, job: JobContext) -> dict[str, Any]:
        arrays = compute_arrays(job.store.load_graph(request.graph_hash), job.progress)
        job.save_arrays(arrays)
        return {"num_communities": int(arrays["communities"].max()) + 1}

    @classmethod
    def read(cls, row: Row[Any], state: State) -> JobProgress:
        return JobProgress(**read_progress(row, state))
