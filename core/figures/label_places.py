"""Greedy placement of point labels in pixels without overlaps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

CHAR_WIDTH, LINE_HEIGHT = 6.4, 17.0
"""Width of a character and height of a line at 12 px, conservatively."""

MARKER = 9.0
"""Half the side of a marker's square."""

NEAR = 12.0
DISTANCES = (NEAR, 30.0, 54.0, 84.0, 120.0)
"""Distances of a label from its point; beyond the first it gets a leader line."""

DIRECTIONS = ((1, 0), (-1, 0), (1, -1), (-1, -1), (1, 1), (-1, 1), (0, -1), (0, 1))
CROSSING_COST = 35.0
"""Cost, in pixels of distance, of covering a whisker or a line."""
COVERING_COST = 15.0
"""Of covering a dot."""


@dataclass(frozen=True)
class Place:
    """dx, dy: offset of the label's nearest corner or side from its point, in pixels, y downwards.

    side  anchor of the label: −1 left, 0 centred, 1 right
    """

    dx: float
    dy: float
    side: int

    @property
    def needs_leader(self) -> bool:
        return max(abs(self.dx), abs(self.dy)) > NEAR

    @property
    def anchor(self) -> dict[str, Any]:
        """What places a Plotly annotation so: its arrow is the leader."""
        side = {1: "left", 0: "center", -1: "right"}[self.side]
        place = {"ax": self.dx, "ay": self.dy, "xanchor": side, "yanchor": "middle"}
        return {**place, "showarrow": True, "arrowhead": 0, "arrowwidth": 1}

    def box(self, point: np.ndarray, text: str) -> np.ndarray:
        """left, top, right, bottom of the label of a point, in lines of the text."""
        lines = text.split("\n")
        width, height = CHAR_WIDTH * max(map(len, lines)), LINE_HEIGHT * len(lines)
        x, y = point[0] + self.dx, point[1] + self.dy
        left = {1: x, -1: x - width, 0: x - width / 2}[self.side]
        return np.array([left, y - height / 2, left + width, y + height / 2])


PLACES = tuple(
    Place(direction[0] * distance, direction[1] * distance, direction[0])
    for distance in (0.0, *DISTANCES)
    for direction in (DIRECTIONS if distance else ((0, 0),))
)
"""The first, on the point, is free where points have no marker."""


def place_labels(
    points: Sequence[np.ndarray],
    texts: Sequence[str],
    sizes: Sequence[tuple[float, float]],
    whiskers: Sequence[np.ndarray] = (),
    lines: Sequence[np.ndarray] = (),
    marker: float = MARKER,
    dots: Sequence[np.ndarray] = (),
) -> list[Place | None]:
    """A place for the label of each point, None if there is none; earlier points choose first.

    A chart's width changes with its window, so several sizes may be given: a place is free in all.
    points    per size: (k, 2) pixels from the upper left
    texts     labels (k) in lines, "" for a point without
    sizes     per size: width and height of the plot
    whiskers  per size: (k, 4) left, top, right, bottom of each point's whiskers
    lines     per size: (l,) x of the vertical lines through the plot
    marker    half the side of a marker's square; 0: a label may cover points
    dots      per size: (d, 2) pixels of what a label had better not cover
    """
    whiskers = whiskers or [np.full((len(chart), 4), np.nan) for chart in points]
    lines = lines or [np.empty(0)] * len(points)
    dots = dots or [np.empty((0, 2))] * len(points)
    taken: list[list[np.ndarray]] = [
        [np.array([x - marker, y - marker, x + marker, y + marker]) for x, y in chart if marker]
        for chart in points
    ]
    found: list[Place | None] = []
    for index, text in enumerate(texts):
        best: Place | None = None
        least = np.inf
        for place in PLACES if text else ():
            boxes = [place.box(chart[index], text) for chart in points]
            charts = zip(boxes, taken, sizes, strict=True)
            if not all(_is_free(box, boxed, size) for box, boxed, size in charts):
                continue
            crossed = sum(
                _count_crossed(box, chart, cross) + ((box[0] < x) & (x < box[2])).sum()
                for box, chart, cross, x in zip(boxes, points, whiskers, lines, strict=True)
            )
            covered = sum(_count_inside(box, chart) for box, chart in zip(boxes, dots, strict=True))
            cost = max(abs(place.dx), abs(place.dy))
            cost += (CROSSING_COST * crossed + COVERING_COST * covered) / len(boxes)
            if cost < least:
                best, least = place, cost
        found.append(best)
        if best is not None:
            for chart, boxed in zip(points, taken, strict=True):
                boxed.append(best.box(chart[index], text))
    return found


def _is_free(box: np.ndarray, taken: list[np.ndarray], size: tuple[float, float]) -> bool:
    inside = box[0] >= 0 and box[1] >= 0 and box[2] <= size[0] and box[3] <= size[1]
    return bool(inside) and not _overlap(box, np.reshape(taken, (-1, 4))).any()


def _count_crossed(box: np.ndarray, points: np.ndarray, crosses: np.ndarray) -> int:
    """Number of whiskers that cross the box: horizontal and vertical bar of each point."""
    x, y = points.T
    level = np.stack([crosses[:, 0], y, crosses[:, 2], y], axis=1)
    upright = np.stack([x, crosses[:, 1], x, crosses[:, 3]], axis=1)
    return int(_overlap(box, level).sum() + _overlap(box, upright).sum())


def _count_inside(box: np.ndarray, dots: np.ndarray) -> int:
    """Number of these dots (d, 2) inside the box."""
    return int(((dots > box[:2]) & (dots < box[2:])).all(axis=1).sum())


def _overlap(box: np.ndarray, others: np.ndarray) -> np.ndarray:
    """(k,) bool: which of the boxes (k, 4) share a point with `box`."""
    return np.asarray(
        (others[:, 0] < box[2])
        & (others[:, 2] > box[0])
        & (others[:, 1] < box[3])
        & (others[:, 3] > box[1])
    )
