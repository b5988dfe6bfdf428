"""First part of the report: in short, purpose and threats, the graph."""

from __future__ import annotations

import numpy as np
from scipy.sparse.csgraph import connected_components

from core.findings.numbers import format_percent
from core.findings.profile import compute_degree_counts
from core.findings.tables import list_metrics
from core.graph import Attribute
from core.measures.metrics import METRICS
from core.report import blocks, charts
from core.report.blocks import Block
from core.report.disclosure import SMALL, round_count
from core.report.leaving import describe_leaving, describe_people
from core.report.material import MIN_CELL, Material
from core.report.picture import build_picture
from core.report.text import clean_text

MAX_CLASSES = 10


def build_threats(material: Material) -> list[Block]:
    """Who attacks what, knowing what."""
    spec = material.view.spec
    name = clean_text(spec.graph_name, 80)
    result = [
        blocks.paragraph(
            f"The graph “{name}” is meant to leave the hands of those who keep it. This audit "
            "plays "
            "the adversary: it gives the released data to a set of attackers, measures how much "
            "they "
            "learn that the release was not meant to tell, and compares them with null "
            "attackers who "
            "do not look at the structure of the links. It then does the same for defended "
            "versions "
            "of the graph."
        )
    ]
    repeats = "a single repeat" if spec.num_repeats == 1 else f"each of {spec.num_repeats} repeats"
    threats = spec.threats
    if threats.has_links:
        who = (
            f"The analyst named {material.count(len(threats.sensitive_links))} links as sensitive"
            if threats.sensitive_links is not None
            else f"In {repeats}, {format_percent(threats.hide_links or 0)} of the links are drawn "
            "at random to play the sensitive ones"
        )
        result.append(
            blocks.paragraph(
                "**Sensitive links.** Someone holds the release and names two people. Can they "
                "tell "
                f"that the two are linked, although that link was withheld? {who}; they are "
                "taken out "
                "before anything is defended or released. The attacker scores them and as many "
                "pairs "
                "that are not linked, and never learns which is which. Another "
                f"{format_percent(spec.test_links)} of the links are held back to measure "
                "usefulness."
            )
        )
    if threats.private is not None:
        result.append(
            blocks.paragraph(
                "**Private attribute.** Someone holds the release and knows "
                f"“{threats.private}” for "
                f"{format_percent(threats.known)} of the people, chosen at random within each "
                "class. How "
                "well can they infer it for the others? The attacker sees the links and all other "
                f"features; “{threats.private}” itself is removed from the features."
            )
        )
    if threats.identity is not None:
        result.append(blocks.paragraph(describe_people(spec)))
    result.append(blocks.paragraph(describe_leaving(material)))
    used = [m for t in material.threats for m in list_metrics(material.results, "attack", t)]
    shown = [m for m in ("auc", "accuracy", "tpr_at_fpr_0.01", "precision_at_100") if m in used]
    result.append(blocks.heading("How to read the numbers"))
    result.append(
        blocks.bullets(
            [
                *(f"**{METRICS[m].title}.** {METRICS[m].help}" for m in shown),
                "**Risk of a person.** The probability that an attacker puts on the truth about "
                "them, "
                "calibrated on other people; the headline attacker was chosen without seeing them.",
                "**0.84 [0.80, 0.88]** is an estimate with its 95 % interval over people or "
                "pairs and over "
                "repeats.",
            ]
        )
    )
    return result


def build_graph(material: Material) -> list[Block]:
    """What is about to be shared."""
    graph, spec = material.graph, material.view.spec
    degrees = graph.degrees
    num_components, labels = connected_components(graph.adjacency, directed=False)
    largest = int(np.bincount(labels).max())
    density = graph.density
    rows = [
        ("Nodes", material.count(graph.num_nodes)),
        (
            "Links",
            material.count(graph.num_edges) + " (weighted)" * (graph.weights is not None),
        ),
        ("Linked share of all pairs", f"{100 * density:.2g} %" if density else "none"),
        (
            "Links of a node",
            f"{degrees.mean():.1f} on average"
            if material.is_external
            else f"{degrees.mean():.1f} on average, median {np.median(degrees):.0f}, "
            f"at most {degrees.max():,}",
        ),
        ("Nodes without a link", material.count(int((degrees == 0).sum()))),
        (
            "Components",
            f"{material.count(num_components)}; the largest has {material.count(largest)} nodes",
        ),
        ("Features", f"{len(graph.feature_names):,}" if graph.features is not None else "none"),
    ]
    result = [blocks.facts(rows), *build_picture(material)]
    counts = compute_degree_counts(graph)
    if (counts.degree > 0).any() and not material.is_external:
        image = material.add_image("degrees", lambda: charts.draw_degrees(counts))
        alt = (
            f"Share of the nodes with at least so many links, on log axes: median "
            f"{np.median(degrees):.0f}, maximum {degrees.max()}."
        )
        result.append(blocks.figure(image, alt, "Distribution of the number of links.", 0.6))
    columns = [
        c for c in dict.fromkeys((spec.threats.private, spec.disclosure.utility)) if c is not None
    ]
    for column in columns:
        role = "private" if column == spec.threats.private else "utility"
        attribute = graph.with_private(column).attribute(column)
        result.append(_build_classes(material, attribute, role))
    return result


def _build_classes(material: Material, attribute: Attribute, role: str) -> Block:
    """Counts and shares of the classes; small cells are not told, for outsiders all rounded."""
    counts = np.bincount(attribute.codes[attribute.known], minlength=attribute.num_classes)
    known = int(counts.sum())
    order = np.argsort(-counts, kind="stable")
    groups = [(attribute.classes[code], int(counts[code])) for code in order[:MAX_CLASSES]]
    if len(order) > MAX_CLASSES:
        rest = order[MAX_CLASSES:]
        groups.append((f"{len(rest)} more classes", int(counts[rest].sum())))
    unknown = int((~attribute.known).sum())
    if unknown:
        groups.append(("unknown", unknown))
    rows = []
    for name, count in groups:
        is_small = count < (SMALL if material.is_external else MIN_CELL)
        shown, total = (
            (round_count(count), round_count(known))
            if material.is_external
            else (
                count,
                known,
            )
        )
        text = material.count(count) if material.is_external or not is_small else ""
        share = "" if is_small or name == "unknown" else format_percent(shown / max(total, 1))
        rows.append((name, text or f"fewer than {MIN_CELL}", share))
    return blocks.table(
        [f"“{attribute.name}” ({role})", "Nodes", "Share of known"],
        rows,
        f"Classes of the {role} attribute “{attribute.name}”.",
        numeric=(1, 2),
    )
