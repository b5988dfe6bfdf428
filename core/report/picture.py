"""The graph's picture: everybody at their place on the map, shaded by risk. Internal only."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from core.algorithms.line_density import count_crossings, shade_density
from core.audit.jobs.layout import lay_out
from core.findings.people_map import answer_map, compute_people
from core.release import ORIGINAL
from core.report import blocks, charts
from core.report.blocks import Block
from core.report.material import Material

MAX_PEOPLE = 100_000
VECTOR = 400
"""Up to so many people are drawn as vectors; more as an image, which stays small."""

_INCHES, _DPI = 4.2, 220
_PIXELS, _SPAN, _LINK_COLOR = 1000, 1.04, (107, 114, 128)


def build_picture(material: Material) -> list[Block]:
    """Nothing outside: where somebody stands tells who they are linked to."""
    graph = material.graph
    if material.is_external or not 1 < graph.num_nodes <= MAX_PEOPLE or not graph.num_edges:
        return []
    layout = lay_out(graph)
    nodes = material.nodes[material.nodes.release == ORIGINAL]
    people = compute_people(graph, layout.communities, nodes)
    values = people.advantage.to_numpy(float)
    image = material.add_image("people", lambda: draw_people(layout.positions, graph.edges, values))
    said = answer_map(people)
    caption = "Everybody, near each other where few links lie between. "
    if np.isfinite(values).any():
        caption += "Darker: the attacker gains more over the base rate; grey: nothing at stake."
    return [blocks.figure(image, f"Map of the graph. {said}", caption, 0.7)]


def draw_people(positions: np.ndarray, edges: np.ndarray, values: np.ndarray) -> str:
    """SVG of people (n, 2) with values in [0, 1], NaN in grey, above the image of every link."""
    image = shade_density(count_crossings(positions, edges, _PIXELS, _SPAN), _LINK_COLOR)
    is_image = len(positions) > VECTOR
    known = np.isfinite(values)
    order = np.argsort(np.where(known, values, -np.inf), kind="stable")
    size = float(np.clip(2500 / len(positions), 0.8, 22))
    top = max(float(np.quantile(values[known], 0.99)), 0.02) if known.any() else 1.0

    def paint(figure: Figure) -> None:
        figure.set_dpi(_DPI)
        axes = figure.subplots()
        axes.imshow(image, extent=(-_SPAN, _SPAN, -_SPAN, _SPAN), interpolation="none", zorder=1)
        grey, colored = order[~known[order]], order[known[order]]
        dots: dict[str, Any] = {"s": size, "linewidths": 0, "rasterized": is_image, "zorder": 2}
        axes.scatter(*positions[grey].T, color="#b6bcc6", **dots)
        if len(colored):
            shades = {"c": values[colored], "cmap": charts.POINT_MAP, "vmin": 0, "vmax": top}
            points = axes.scatter(*positions[colored].T, **(dots | shades))
            bar = figure.colorbar(points, ax=axes, shrink=0.5, aspect=24)
            bar.set_label("Advantage over the base rate")
            bar.outline.set_visible(False)
        axes.set(xlim=(-_SPAN, _SPAN), ylim=(-_SPAN, _SPAN), aspect="equal")
        axes.set_axis_off()

    return charts.draw(_INCHES * 0.86, paint, _INCHES)
