"""Image of all links of a map: lines as density, in one colour."""

from __future__ import annotations

import base64
import io
from functools import lru_cache
from hashlib import blake2b

import numpy as np
from PIL import Image

from core.algorithms.line_density import count_crossings, shade_density

PIXELS = 1600
"""Side length of the density image: sharp on a large screen and after zooming in twice."""

SPAN = 1.08
"""Half the side of the area that it covers."""


class Drawing:
    """Lines between places in one colour; equal if their content is."""

    def __init__(self, positions: np.ndarray, edges: np.ndarray, color: str) -> None:
        self.positions, self.edges, self.color = positions, edges, color
        content = blake2b(color.encode(), digest_size=16)
        for array in (positions, edges):
            content.update(np.ascontiguousarray(array).data)
        self._key = content.digest()

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Drawing) and self._key == other._key


@lru_cache(maxsize=8)
def encode_links(drawing: Drawing) -> str:
    """The links' image as a data URI, cached because encoding dominates the page's time."""
    counts = count_crossings(drawing.positions, drawing.edges, PIXELS, SPAN)
    red, green, blue = (int(drawing.color[i : i + 2], 16) for i in (1, 3, 5))
    file = io.BytesIO()
    opacity = Image.fromarray(shade_density(counts, (red, green, blue))[..., 3])
    opacity.putpalette([red, green, blue] * 256)  # one colour: a byte a pixel instead of four
    opacity.save(file, "PNG", transparency=bytes(range(256)))
    return f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}"
