"""The graph under audit: counts, picture, degrees and classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from scipy.sparse.csgraph import connected_components

from core.algorithms.line_density import count_crossings, shade_density
from core.findings.people_map import (
    compute_people,
    find_amounts,
    has_intervals,
    number_gathering,
    summarize_map,
)
from core.findings.profile import compute_degree_counts
from core.findings.uses import describe_uses
from core.node_column import NodeColumn
from core.partitioned.graph import PartitionedGraph
from core.partitioned.links import ONE_PROCESS
from core.report import blocks, charts
from core.report.blocks import Block
from core.report.data import MIN_CELL, ReportData
from core.report.disclosure import SMALL, round_count
from core.report.text import clean_text
from core.words import format_modes, format_percent

MAX_CLASSES = 10
MAX_FEATURES = 20
MAX_PEOPLE = 100_000
VECTOR = 400
"""Largest number of nodes drawn as vectors; more are rasterised."""

HALF = {"width": 0.5}
_INCHES, _DPI = 3.2, 220
_PIXELS, _SPAN, _LINK_COLOR = 1000, 1.04, (107, 114, 128)


def build_graph(data: ReportData) -> list[Block]:
    """Section on the graph under audit."""
    graph, spec = data.graph, data.view.spec
    degrees = graph.degrees
    num_nodes, num_links = data.round(graph.num_nodes), data.round(graph.num_edges)
    density = data.density
    rows = [
        ("Nodes", data.count(graph.num_nodes)),
        ("Links", data.count(graph.num_edges) + ("" if graph.weights is None else " (weighted)")),
        (
            "Linked share of all pairs" + (" across the modes" if graph.modes else ""),
            f"{100 * density:.2g} %" if density else "none",
        ),
        (
            "Links of a node",
            f"{2 * num_links / max(num_nodes, 1):.1f} on average"
            if data.is_external
            else f"{degrees.mean():.1f} on average, median {np.median(degrees):.0f}, "
            f"at most {degrees.max():,}",
        ),
        ("Nodes without a link", data.count(int((degrees == 0).sum()))),
        ("Components", _describe_components(data)),
        ("Features", f"{len(graph.feature_names):,}" if graph.features is not None else "none"),
    ]
    if graph.modes is not None:
        sizes = zip(graph.modes.classes, graph.modes.counts.tolist(), strict=True)
        modes = format_modes({clean_text(name, 40): data.count(size) for name, size in sizes})
        rows.insert(1, ("Two modes", f"{modes}; every link joins one to the other"))
    figures = _build_picture(data)
    counts = compute_degree_counts(graph)
    if (counts.degree > 0).any() and not data.is_external:
        image = data.add_image("degrees", lambda: charts.draw_degrees(counts))
        alt = (
            f"Share of the nodes with at least so many links, on log axes: median "
            f"{np.median(degrees):.0f}, maximum {degrees.max()}."
        )
        figures.append(blocks.figure(image, alt, "Distribution of the number of links."))
    result = [blocks.facts(rows)]
    result += [blocks.beside(*figures)] if len(figures) == 2 else [f | HALF for f in figures]
    columns = [
        c for c in dict.fromkeys((spec.threats.private, spec.disclosure.utility)) if c is not None
    ]
    for column in columns:
        role = "private" if column == spec.threats.private else "utility"
        attribute = graph.column(column)
        result.append(_build_classes(data, attribute, role))
    if not data.is_external:  # what is left out is not named outside
        result.append(_build_uses(data))
    return result


def _describe_components(data: ReportData) -> str:
    if isinstance(data.graph, PartitionedGraph):
        return f"not counted: this {ONE_PROCESS}"
    num_components, labels = connected_components(data.graph.adjacency, directed=False)
    largest = int(np.bincount(labels).max())
    return f"{data.count(num_components)}; the largest has {data.count(largest)} nodes"


def _build_uses(data: ReportData) -> Block:
    """Every column of the input and its use; of many features their number."""
    uses = describe_uses(data.view)
    features = [use for use in uses if use["use"] == "feature"]
    rows = [
        (
            clean_text(use["name"], 60),
            use["table"],
            use["use"],
            "yes" if use["published"] else "no",
            clean_text(use["why"], 120),
        )
        for use in uses
        if use["use"] != "feature" or len(features) <= MAX_FEATURES
    ]
    if len(features) > MAX_FEATURES:
        count = sum(use["count"] for use in features)
        leaves = "yes" if all(use["published"] for use in features) else "some"
        rows.append((f"{count:,} features", "nodes", "feature", leaves, ""))
    return blocks.table(
        ["Column", "Of the", "Use", "Leaves", "Why"],
        rows,
        "Columns of the input: use in this audit, and whether each leaves with the original.",
        widths=[1.4, 0.6, 1, 0.6, 2],
    )


def _build_classes(data: ReportData, attribute: NodeColumn, role: str) -> Block:
    """Counts and shares of the classes; small cells are suppressed. Externally, counts are rounded
    and small classes not named: a value that one person has tells of that person."""
    counts = attribute.counts
    known = int(counts.sum())
    order = np.argsort(-counts, kind="stable")
    num_named = min(MAX_CLASSES, int((counts >= SMALL).sum()) if data.is_external else len(order))
    groups = [(attribute.classes[code], int(counts[code])) for code in order[:num_named]]
    if len(order) > num_named:
        rest = order[num_named:]
        title = "rarer classes" if data.is_external else f"{len(rest)} more classes"
        groups.append((title, int(counts[rest].sum())))
    unknown = int((~attribute.known).sum())
    if unknown:
        groups.append(("unknown", unknown))
    least, shown = (SMALL, round_count) if data.is_external else (MIN_CELL, int)
    total = max(shown(known), sum(shown(count) for name, count in groups if name != "unknown"), 1)
    rows = []
    for name, count in groups:
        is_told = count >= least and name != "unknown"
        share = format_percent(shown(count) / total) if is_told else ""
        text = f"fewer than {least}" if count < least else data.count(count)
        rows.append((name, text, share))
    return blocks.table(
        [f"“{attribute.name}” ({role})", "Nodes", "Share of known"],
        rows,
        f"Classes of the {role} attribute “{attribute.name}”.",
        numeric=(1, 2),
    )


def _build_picture(data: ReportData) -> list[Block]:
    """Omitted in the external edition: positions reveal links."""
    graph = data.graph
    if isinstance(graph, PartitionedGraph):
        return []
    if data.is_external or not 1 < graph.num_nodes <= MAX_PEOPLE or not graph.num_edges:
        return []
    layout = data.layout
    people = compute_people(graph, layout.communities, data.nodes)
    values = find_amounts(people, "advantage").to_numpy(float)
    least = ", at least" if has_intervals(people) else ""
    marked = number_gathering(people)
    label = None
    if marked is not None:
        own = layout.positions[layout.communities == marked - 1]
        label = (f"community {marked}", np.median(own, axis=0))
    image = data.add_image(
        "people", lambda: draw_people(layout.positions, graph.edges, values, least, label)
    )
    summary = summarize_map(people, data.noun).sentence
    caption = "Map of the graph: linked nodes lie close together. "
    if np.isfinite(values).any():
        few = " or tested in one split" if least else ""
        caption += f"Darker: higher advantage{least}; grey: nothing at stake{few}."
    return [blocks.figure(image, f"Map of the graph. {summary}", caption)]


def draw_people(
    positions: np.ndarray,
    edges: np.ndarray,
    values: np.ndarray,
    least: str = "",
    label: tuple[str, np.ndarray] | None = None,
) -> str:
    """SVG of nodes (n, 2) with values in [0, 1], NaN in grey, above the image of all links.

    least  words behind the title of the scale; label: a text and its place
    """
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
            ticks = MaxNLocator(4)
            bar = figure.colorbar(points, ax=axes, shrink=0.5, aspect=24, ticks=ticks)
            bar.set_label(f"Advantage over the base rate{least}")
            bar.outline.set_visible(False)
        if label is not None:
            box = {"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 1.5}
            place = (float(label[1][0]), float(label[1][1]))
            axes.text(*place, label[0], ha="center", va="center", weight="bold", bbox=box, zorder=3)
        axes.set(xlim=(-_SPAN, _SPAN), ylim=(-_SPAN, _SPAN), aspect="equal")
        axes.set_axis_off()

    return charts.draw(_INCHES * 0.86, paint, _INCHES)
