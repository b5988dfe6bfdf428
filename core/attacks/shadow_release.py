"""Shadow releases: the defense applied to its own release, with secrets chosen by the attacker."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from core.algorithms.pairs import hide_links
from core.arrays import find_places, pair_codes
from core.attacks.link.denoising import describe_obstacle, share_denoised
from core.context import Context
from core.errors import UnsupportedError
from core.graph import Graph
from core.methods import Defense
from core.node_column import NodeColumn
from core.privacy.real_links import estimate_link_probabilities, has_known_noise
from core.release import Release, keep_to_modes
from core.threats import AttributeThreat, LinkThreat, Threats
from core.words import format_percent

SHARE, MAX_LINKS, RATIO = 0.1, 5000, 4.0
"""Maximum number of links that are hidden, and non-links for each of them."""

MAX_SHADOW_LINKS = 20_000
"""Number of links above which a costly defense is rerun on a part only."""

MAX_SHADOW_LINKS_CHEAP = 1_000_000


@dataclass(frozen=True, eq=False)
class ShadowRelease:
    """Output of a defense on a release, or on a part of it.

    before          its input: the release without the attacker's secrets
    nodes           (m,) numbers in the release of the nodes of `before`
    release         its output
    hidden, absent  (a, 2), (b, 2) secret links and non-links drawn by the attacker
    probabilities   (a,) that each secret link is real, not noise of the release
    attribute       threat on known values that the attacker hid; None without such a threat
    note            non-empty if only a part of the release was defended again
    """

    before: Graph
    nodes: np.ndarray
    release: Release
    hidden: np.ndarray
    absent: np.ndarray
    probabilities: np.ndarray
    attribute: AttributeThreat | None
    note: str = ""


def share_shadow_release(
    defense: Defense, release: Release, threats: Threats, context: Context
) -> ShadowRelease:
    """One shadow release for all adaptive attacks on a release; see `make_shadow_release`."""
    attribute = threats.attribute
    known = "" if attribute is None else attribute.observed.tobytes()
    # The key seeds the work: its 0 is part of every result.
    name = ("replay", *defense.work_key, release.graph.content_hash, known, 0)
    return context.share(
        (*name, threats.link is not None),
        lambda shared: make_shadow_release(defense, release, threats, shared),
    )


def make_shadow_release(
    defense: Defense, release: Release, threats: Threats, context: Context
) -> ShadowRelease:
    """Hide links of the release and known values, and defend the rest once more.

    threats  kinds of secrets: links with a link threat, values of known nodes with an attribute
             threat; nothing hidden from the attacker is used

    Raises UnsupportedError if the defense cannot run on its own release.
    """
    context.progress.check()
    graph, nodes, note = _sample_subgraph(defense, release.graph, context)
    attribute = hide_values(threats.attribute, nodes, context)
    hidden = absent = np.empty((0, 2), np.int64)
    link, probabilities = None, np.empty(0)
    if threats.link is not None:
        reduced = replace(release, graph=graph)
        graph, hidden, absent = hide_links(
            _draw_plausible_input(reduced, context),
            SHARE,
            MAX_LINKS,
            context.rng("hidden"),
            ratio=RATIO,
        )
        probabilities = _compute_real_probabilities(reduced, hidden, context)
        candidates = graph.num_candidates - graph.num_edges
        link = LinkThreat(hidden, absent[: len(hidden)], prior=len(hidden) / max(candidates, 1))
    utility = _keep_known_values(threats.utility, nodes)
    columns = {t.attribute.name: t.attribute for t in (attribute, utility) if t is not None}
    graph = graph.with_attributes(columns)
    secrets = Threats(graph, link, attribute, utility=utility)
    reason = defense.supports(graph, secrets)
    if reason:
        raise UnsupportedError(defense.label, f"cannot be run on its own release: {reason}")
    shadow = defense.publish(graph, secrets, context.child("publish"))
    if defense.keeps_nodes:
        shadow = keep_to_modes(shadow, graph.modes)
    return ShadowRelease(graph, nodes, shadow, hidden, absent, probabilities, attribute, note)


def _draw_plausible_input(release: Release, context: Context) -> Graph:
    """Sample a plausible input of the release: its links, each kept with its probability of being
    real if the defense's rule tells it. Defended again it is as noisy as the release, and the
    secrets are mostly real links."""
    if describe_obstacle(release):
        return release.graph
    denoised = share_denoised(release, context)
    is_real = context.rng("real links").random(len(denoised.links)) < denoised.probabilities
    return release.graph.with_edges(denoised.links[is_real])


def _compute_real_probabilities(
    release: Release, links: np.ndarray, context: Context
) -> np.ndarray:
    """(a,) probability that each of the released links (a, 2) is real; 1 if no noise is known.

    By the defense's rule alone if there are too many links to denoise.
    """
    if not has_known_noise(release):
        return np.ones(len(links))
    if describe_obstacle(release):
        _, released, probabilities = estimate_link_probabilities(release)
    else:
        denoised = share_denoised(release, context)
        released, probabilities = denoised.links, denoised.probabilities
    n = release.graph.num_nodes
    places = find_places(pair_codes(links, n), pair_codes(released, n))
    return np.asarray(probabilities[places])


def _sample_subgraph(
    defense: Defense, graph: Graph, context: Context
) -> tuple[Graph, np.ndarray, str]:
    """Subgraph to defend, its nodes and a note: the whole graph, or if it is too large the
    neighbourhoods of random nodes."""
    limit = MAX_SHADOW_LINKS if defense.info.cost == "minutes" else MAX_SHADOW_LINKS_CHEAP
    all_nodes = np.arange(graph.num_nodes)
    if graph.num_edges <= limit:
        return graph, all_nodes, ""
    rng, adjacency = context.rng("part"), graph.adjacency
    inside = np.zeros(graph.num_nodes, bool)
    front, links = np.empty(0, np.int64), 0
    while links < limit:
        if not len(front):
            front = rng.choice(np.flatnonzero(~inside), 1)
        # in a random order, so that the last ring is cut evenly
        front = rng.permutation(front)
        reached = np.cumsum(graph.degrees[front]) // 2
        front = front[: max(int(np.searchsorted(reached, limit - links)), 1)]
        inside[front] = True
        links += int(graph.degrees[front].sum()) // 2
        front = np.setdiff1d(np.unique(adjacency[front].indices), np.flatnonzero(inside))
    nodes = np.flatnonzero(inside)
    part = graph.subgraph(nodes)
    share = format_percent(part.num_edges / graph.num_edges)
    return part, nodes, f"made of a sample: {part.num_edges:,} links, {share} of the release"


def hide_values(
    threat: AttributeThreat | None, nodes: np.ndarray, context: Context
) -> AttributeThreat | None:
    """Turn half of the known values into secrets, stratified by class."""
    if threat is None:
        return None
    codes, known = threat.observed[nodes], np.zeros(len(nodes), bool)
    for code in np.unique(codes[codes >= 0]):
        members = context.rng("values", code).permutation(np.flatnonzero(codes == code))
        known[members[: (len(members) + 1) // 2]] = True
    attribute = NodeColumn(threat.attribute.name, codes, threat.attribute.classes)
    return AttributeThreat(attribute, known, (codes >= 0) & ~known)


def _keep_known_values(threat: AttributeThreat | None, nodes: np.ndarray) -> AttributeThreat | None:
    """The threat reduced to its known values."""
    if threat is None:
        return None
    codes = threat.observed[nodes]
    attribute = NodeColumn(threat.attribute.name, codes, threat.attribute.classes)
    return AttributeThreat(attribute, codes >= 0, np.zeros(len(codes), bool))
