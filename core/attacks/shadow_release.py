"""Runs a defense again on its own release, with secrets that the attacker chose and so knows."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

import numpy as np

from core.algorithms.pairs import hide_links
from core.attacks.link.denoising import describe_obstacle, share_denoised
from core.context import Context
from core.errors import UnsupportedError
from core.graph import Attribute, Graph
from core.methods import Defense
from core.release import Release
from core.threats import AttributeThreat, LinkThreat, Threats

SHARE, MAX_LINKS, RATIO = 0.1, 5000, 4.0
"""Links of the release that the attacker hides, and non-links for each."""

MAX_SHADOW_LINKS = 20_000
"""Links of a release on which a costly defense is run again; of larger ones a part is taken."""

MAX_SHADOW_LINKS_CHEAP = 1_000_000


@dataclass(frozen=True, eq=False)
class ShadowRelease:
    """What a defense made of a release, or of a part of it.

    before   what was defended: the release less the attacker's own secrets
    release  what came out
    hidden, absent  (a, 2), (b, 2) the attacker's own secret links, and non-links
    note     non-empty where only a part of the release was defended again
    """

    before: Graph
    release: Release
    hidden: np.ndarray
    absent: np.ndarray
    attribute: AttributeThreat | None
    note: str = ""


def share_shadow_release(
    defense: Defense, release: Release, threats: Threats, context: Context, number: int = 0
) -> ShadowRelease:
    """One shadow release for all adaptive attacks on a release; see `make_shadow_release`."""
    key = json.dumps(defense.config, sort_keys=True)
    attribute = threats.attribute
    known = "" if attribute is None else attribute.observed.tobytes()
    name = ("replay", defense.info.key, key, release.graph.content_hash, known, number)
    return context.share(
        (*name, threats.link is not None),
        lambda shared: make_shadow_release(defense, release, threats, shared),
    )


def make_shadow_release(
    defense: Defense, release: Release, threats: Threats, context: Context
) -> ShadowRelease:
    """Hide links of the release and known values, and defend what is left once more.

    threats  what the attacker's secrets are like: links where there is a link threat, values of
             nodes whose value the attacker knows where there is an attribute threat; nothing
             that is hidden from the attacker is read

    Raises UnsupportedError where the defense cannot run on its own release.
    """
    context.progress.check()
    graph, nodes, note = _take_part(defense, release.graph, context)
    attribute = _hide_values(threats.attribute, nodes, context)
    hidden = absent = np.empty((0, 2), np.int64)
    link = None
    if threats.link is not None:
        graph = _draw_defended(replace(release, graph=graph), context)
        graph, hidden, absent = hide_links(
            graph, SHARE, MAX_LINKS, context.rng("hidden"), ratio=RATIO
        )
        candidates = graph.num_pairs - graph.num_edges
        link = LinkThreat(hidden, absent[: len(hidden)], prior=len(hidden) / max(candidates, 1))
    utility = _conceal(threats.utility, nodes)
    columns = {t.attribute.name: t.attribute for t in (attribute, utility) if t is not None}
    graph = replace(graph, attributes={**graph.attributes, **columns})
    secrets = Threats(graph, link, attribute, utility=utility)
    reason = defense.supports(graph, secrets)
    if reason:
        raise UnsupportedError(defense.label, f"cannot be run on its own release: {reason}")
    played = defense.publish(graph, secrets, context.child("publish"))
    return ShadowRelease(graph, played, hidden, absent, attribute, note)


def _draw_defended(release: Release, context: Context) -> Graph:
    """A graph that the release may have been made of: its links where the release has no noise of
    known probability, else each of them with its probability of being real. Defended once more,
    it is as noisy as the release, and the attacker's secrets are links rather than noise."""
    if describe_obstacle(release):
        return release.graph
    found = share_denoised(release, context)
    is_real = context.rng("real links").random(len(found.links)) < found.chances
    return release.graph.with_edges(found.links[is_real])


def _take_part(defense: Defense, graph: Graph, context: Context) -> tuple[Graph, np.ndarray, str]:
    """The graph, or where defending it takes long the neighbourhoods of a few of its nodes."""
    limit = MAX_SHADOW_LINKS if defense.info.cost == "minutes" else MAX_SHADOW_LINKS_CHEAP
    everyone = np.arange(graph.num_nodes)
    if graph.num_edges <= limit:
        return graph, everyone, ""
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
    percent = 100 * part.num_edges / graph.num_edges
    said = f"made of a sample: {part.num_edges:,} links, {percent:.2g} % of the release"
    return part, nodes, said


def _hide_values(
    threat: AttributeThreat | None, nodes: np.ndarray, context: Context
) -> AttributeThreat | None:
    """Half of the values that the attacker knows play the secret, class by class."""
    if threat is None:
        return None
    codes, known = threat.observed[nodes], np.zeros(len(nodes), bool)
    for code in np.unique(codes[codes >= 0]):
        members = context.rng("values", code).permutation(np.flatnonzero(codes == code))
        known[members[: (len(members) + 1) // 2]] = True
    attribute = Attribute(threat.attribute.name, codes, threat.attribute.classes)
    return AttributeThreat(attribute, known, (codes >= 0) & ~known)


def _conceal(threat: AttributeThreat | None, nodes: np.ndarray) -> AttributeThreat | None:
    """A threat of which nothing but the known values is left."""
    if threat is None:
        return None
    codes = threat.observed[nodes]
    attribute = Attribute(threat.attribute.name, codes, threat.attribute.classes)
    return AttributeThreat(attribute, codes >= 0, np.zeros(len(codes), bool))
