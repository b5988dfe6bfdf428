"""JSON representations of releases and cell results, and the changes made by a defense."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from core.arrays import is_among
from core.audit.store import files
from core.graph import Graph
from core.partitioned.graph import PartitionedGraph
from core.release import Guarantee, Release
from core.results import Measurement


def to_json(value: Any) -> Any:
    """The value in JSON's types: no NumPy scalars, None for numbers that are not finite."""
    if isinstance(value, dict):
        return {str(name): to_json(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_json(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


@dataclass(frozen=True)
class ReleaseRecord:
    """Everything of a release except its graph, stored as JSON."""

    defense: str
    config: dict[str, Any]
    guarantee: Guarantee
    facts: dict[str, Any]
    content_hash: str

    @staticmethod
    def of(release: Release) -> ReleaseRecord:
        """The record of a release."""
        return ReleaseRecord(
            release.defense,
            release.config,
            release.guarantee,
            dict(release.facts),
            release.graph.content_hash,
        )

    def describe(self) -> dict[str, Any]:
        """As JSON."""
        return {**vars(self), "guarantee": asdict(self.guarantee)}

    @staticmethod
    def restore(fields: dict[str, Any]) -> ReleaseRecord:
        """Inverse of `describe`."""
        guarantee = fields["guarantee"]
        guarantee = Guarantee(**{**guarantee, "not_covered": tuple(guarantee["not_covered"])})
        return ReleaseRecord(**{**fields, "guarantee": guarantee})


def pack_release(release: Release, visible: Graph) -> tuple[ReleaseRecord, files.Arrays]:
    """A release as a record and arrays: its links, and its nodes if a defense changed them.

    Of links in partitions the arrays are their division; `find_links` says where they are.
    """
    arrays = files.pack_release(release.graph, visible, release.link_scores)
    return ReleaseRecord.of(release), arrays


def find_links(release: Release) -> Path | None:
    """Folder of a release whose links are in partitions, to be stored with it; or None."""
    graph = release.graph
    return graph.links.folder if isinstance(graph, PartitionedGraph) else None


def unpack_release(
    record: ReleaseRecord, arrays: files.Arrays, visible: Graph, links: Path | None = None
) -> Release:
    """Inverse of `pack_release`, given the graph that was defended.

    links  folder of the release's links, if they are in partitions
    """
    return Release(
        files.unpack_release(arrays, visible, links),
        record.defense,
        record.config,
        record.guarantee,
        facts=record.facts,
    )


def count_changes(before: Graph, after: Graph) -> dict[str, float]:
    """links_kept, links_removed, links_added, counted by comparing the graphs."""
    if isinstance(before, PartitionedGraph) and isinstance(after, PartitionedGraph):
        from core.partitioned.structure import count_kept

        kept = count_kept(before.links, after.links)
    else:
        kept = int(is_among(after.edge_codes, before.edge_codes).sum())
    return {
        "links_kept": float(kept),
        "links_removed": float(before.num_edges - kept),
        "links_added": float(after.num_edges - kept),
    }


@dataclass(frozen=True)
class CellResult:
    """Part of a cell's outcome stored in the database; arrays are stored as files.

    measurements  of an attack or a measure
    facts         recorded by an attack
    release       made by a publish cell
    """

    measurements: tuple[Measurement, ...] = ()
    facts: dict[str, Any] = field(default_factory=dict)
    release: ReleaseRecord | None = None

    def describe(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "measurements": [asdict(item) for item in self.measurements],
            "facts": self.facts,
            "release": None if self.release is None else self.release.describe(),
        }

    @staticmethod
    def restore(stored: dict[str, Any]) -> CellResult:
        """Inverse of `describe`."""
        release = stored["release"]
        return CellResult(
            tuple(Measurement(**fields) for fields in stored["measurements"]),
            stored["facts"],
            None if release is None else ReleaseRecord.restore(release),
        )
