"""Ego network of one node as a self-contained page, without network access or scripts from data."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from core.figures.theme import GROUND
from core.findings.ego_network import (
    MAX_NODES,
    SHAPES,
    compute_ego,
    describe_fingerprint,
    find_among,
)
from core.findings.palette import ORIGINAL_GREY, REMOVED_RED, UNKNOWN_GREY, class_marks, risk_color
from core.graph import Graph
from core.node_column import MISSING, NodeColumn
from core.words import cut_text

HEIGHT = 440
"""Of the picture, in pixels."""

PAGE = """<!DOCTYPE html>
<html lang="en"><head><title>Ego network</title>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline';
 style-src 'unsafe-inline'; img-src data:">
<style>{% include "lib/vis-9.1.2/vis-network.css" %}
body { margin: 0; background: {{ network.bgcolor }}; }
#mynetwork { width: {{ network.width }}; height: {{ network.height }}; }</style>
<script>{% include "lib/vis-9.1.2/vis-network.min.js" %}</script></head>
<body><div id="mynetwork"></div>
<script>
nodes = new vis.DataSet({{ network.nodes | tojson }});
edges = new vis.DataSet({{ network.edges | tojson }});
network = new vis.Network(
  document.getElementById("mynetwork"), {nodes: nodes, edges: edges}, {{ network.options | tojson }}
);
</script></body></html>
"""
"""Page for pyvis' templates with the library inside: `tojson` leaves no "<", ">" or "&"."""


def render_ego_html(
    graph: Graph,
    node: int,
    attribute: NodeColumn | None = None,
    risks: Mapping[int, float] | None = None,
    hide: Sequence[tuple[int, int]] = (),
    show_fingerprint: bool = False,
) -> str:
    """A complete HTML page of the ego network of node number `node`.

    show_fingerprint: structural identifiers: degrees behind the names, and links among neighbours
    as heavy as the node's own. hide: links to be hidden, as pairs of node numbers; dashed red,
    whether in the graph or not. Fill: the node's risk (node number → [0, 1]) on the risk scale,
    grey if undefined; shape and border: its class of `attribute`; the centre is larger. The layout
    is computed here and physics is off. Names appear as escaped JSON only (no "<", ">" or "&") and
    are drawn as plain text; nothing is fetched.
    """
    from pyvis.network import Network

    ego = compute_ego(graph, node, MAX_NODES, [end for pair in hide for end in pair])
    hidden = {(min(pair), max(pair)) for pair in hide}
    network = Network(
        height=f"{HEIGHT}px",
        width="100%",
        bgcolor=GROUND.surface,
        font_color=GROUND.text,
        cdn_resources="in_line",
    )
    scale = 90 * np.sqrt(len(ego.nodes))
    for index, (x, y) in zip(ego.nodes.tolist(), ego.positions * scale, strict=True):
        network.add_node(
            index,
            label=_label(graph, index, show_fingerprint),
            title=_describe(graph, index, attribute, risks)
            + (f"\n{describe_fingerprint(graph, index)}" if show_fingerprint else ""),
            x=float(x),
            y=float(y),
            physics=False,
            **_style(index, index == node, attribute, risks),
        )
    for i, j in sorted(hidden):
        network.add_edge(i, j, width=3, physics=False, color=REMOVED_RED, dashes=[6, 5])
    for i, j in graph.edges[find_among(graph, ego.nodes)].tolist():
        if (i, j) in hidden:
            continue
        at_center = show_fingerprint or node in (i, j)  # all but hers are among the neighbours
        network.add_edge(
            i,
            j,
            width=1.6 if at_center else 0.8,
            physics=False,
            color=ORIGINAL_GREY if at_center else GROUND.grid,
        )
    network.set_options(
        json.dumps(
            {
                "physics": {"enabled": False},
                "interaction": {"hover": True, "tooltipDelay": 80},
                "edges": {"smooth": False},
                "nodes": {"font": {"face": "Helvetica,Arial,sans-serif", "size": 13}},
            }
        )
    )
    page: str = network.templateEnv.from_string(PAGE).render(network=network)
    return page


def _label(graph: Graph, node: int, show_fingerprint: bool) -> str:
    name = cut_text(graph.node_ids[node], 18)
    return f"{name} · {graph.degrees[node]}" if show_fingerprint else name


def _style(
    node: int, is_center: bool, attribute: NodeColumn | None, risks: Mapping[int, float] | None
) -> dict[str, Any]:
    code = MISSING if attribute is None else int(attribute.codes[node])
    border = ORIGINAL_GREY
    if attribute is not None and code != MISSING:
        border, _ = class_marks(attribute.classes)[attribute.classes[code]]
    risk = None if risks is None else risks.get(node)
    fill = UNKNOWN_GREY if risk is None or risk != risk else risk_color(risk)
    return {
        "shape": "dot" if code == MISSING else list(SHAPES)[code % len(SHAPES)],
        "size": 22 if is_center else 12,
        "borderWidth": 4 if is_center else 2.5,
        "color": {
            "background": fill,
            "border": GROUND.text if is_center else border,
            "highlight": {"background": fill, "border": GROUND.text},
            "hover": {"background": fill, "border": GROUND.text},
        },
    }


def _describe(
    graph: Graph, node: int, attribute: NodeColumn | None, risks: Mapping[int, float] | None
) -> str:
    """Tooltip; vis.js shows it as plain text (innerText), pyvis writes it as escaped JSON."""
    lines = [cut_text(graph.node_ids[node], 60), f"{graph.degrees[node]} links"]
    if attribute is not None:
        code = attribute.codes[node]
        value = "unknown" if code == MISSING else attribute.classes[code]
        lines.append(f"{attribute.name}: {value}")
    risk = None if risks is None else risks.get(node)
    if risk is not None and risk == risk:
        lines.append(f"risk {risk:.2f}")
    return "\n".join(lines)
