"""What a cell found, typed: what is executed, stored and assembled is one thing."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from core.audit.describe import ReleaseRecord
from core.results import Measurement


@dataclass(frozen=True)
class CellResult:
    """The part of a cell's outcome that lies in the database; arrays lie on the disk.

    measurements  of an attack or a measure
    facts         what an attack says of itself
    release       what a publishing cell made
    """

    measurements: tuple[Measurement, ...] = ()
    facts: dict[str, Any] = field(default_factory=dict)
    release: ReleaseRecord | None = None

    def describe(self) -> dict[str, Any]:
        """As JSON holds it."""
        return {
            "measurements": [asdict(item) for item in self.measurements],
            "facts": self.facts,
            "release": None if self.release is None else self.release.describe(),
        }

    @staticmethod
    def restore(stored: dict[str, Any]) -> CellResult:
        """What `describe` described."""
        release = stored["release"]
        return CellResult(
            tuple(Measurement(**fields) for fields in stored["measurements"]),
            stored["facts"],
            None if release is None else ReleaseRecord.restore(release),
        )
