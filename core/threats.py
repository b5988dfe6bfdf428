"""Threat models, drawn per seed on the original graph: secrets and attackers' knowledge."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from core.graph import Graph
from core.node_column import MISSING, NodeColumn


@dataclass(frozen=True, eq=False)
class LinkThreat:
    """Sensitive link inference (PPGSL §II): tell withheld links from non-links.

    hidden   (h, 2) sensitive links E_s, withheld from every release
    absent   (a, 2) non-links E_n of the original graph, as many as there are judged links
    prior    share of links among the pairs that an adversary could name: the withheld links over
             all pairs that the visible graph does not link
    judged   (h,) bool: the withheld links on which attacks are judged; None: all of them
    more_absent  (b, 2) further non-links, drawn alike, by which false positives too rare for
             `absent` are told
    """

    hidden: np.ndarray
    absent: np.ndarray
    prior: float
    judged: np.ndarray | None = None
    more_absent: np.ndarray | None = None

    @property
    def targets(self) -> np.ndarray:
        """(t, 2) the withheld links on which attacks are judged."""
        return self.hidden if self.judged is None else self.hidden[self.judged]

    @property
    def pairs(self) -> np.ndarray:
        """(h + a, 2): the withheld links, then the non-links."""
        return np.concatenate([self.targets, self.absent])

    @property
    def truth(self) -> np.ndarray:
        """(h + a,) bool: True for the withheld links."""
        return np.arange(len(self.targets) + len(self.absent)) < len(self.targets)


@dataclass(frozen=True, eq=False)
class ReleasedThreat(LinkThreat):
    """Which links of a release are real, and which real links were released.

    hidden   (h, 2) links of the defended graph, in the release or not
    absent   (a, 2) pairs it does not link: those of the release, and a sample of the others
    prior    share of links among all pairs of the defended graph
    weights  (h + a,) number of pairs of the graph that each pair of `pairs` represents
    released (h + a,) bool: in the release
    """

    weights: np.ndarray = field(default_factory=lambda: np.zeros(0))
    released: np.ndarray = field(default_factory=lambda: np.zeros(0, bool))


@dataclass(frozen=True, eq=False)
class AttributeThreat:
    """Private attribute inference (GPS §2): infer Z of the hidden nodes.

    attribute  the private attribute with all its values (evaluation only!)
    known      (n,) bool, nodes whose value the adversary knows
    hidden     (n,) bool, nodes whose value is inferred and compared; disjoint from `known`,
               nodes without a value are in neither

    Attacks and defenses read values through `observed` only.
    """

    attribute: NodeColumn
    known: np.ndarray
    hidden: np.ndarray

    @property
    def num_classes(self) -> int:
        return self.attribute.num_classes

    @property
    def observed(self) -> np.ndarray:
        """(n,) int64 codes of the known nodes, MISSING (−1) elsewhere: the adversary's
        knowledge."""
        return np.where(self.known, self.attribute.codes, MISSING)

    @property
    def observed_shares(self) -> np.ndarray:
        """(C,) class shares among the known nodes, with one pseudo-count per class."""
        return count_shares(self.observed, self.num_classes)


def count_shares(observed: np.ndarray, num_classes: int) -> np.ndarray:
    """(C,) class shares among the codes (n,) that are known, with one pseudo-count per class."""
    counts = np.bincount(observed[observed != MISSING], minlength=num_classes) + 1.0
    return np.asarray(counts / counts.sum())


@dataclass(frozen=True, eq=False)
class IdentityThreat:
    """Re-identification: matching the nodes of a pseudonymous release.

    original  the attacker's knowledge of each node; node i is node i of every release
    known     an auxiliary graph of the same nodes by id: an older copy, another network. Its nodes
              are in an order of their own
    people    (k,) int64 the release's node of each node of `known`, −1 if not in it
              (evaluation only!)
    seeds     (s, 2) int64 known matches: node of `known`, node of the release
    source    origin of `known`, in words
    columns   names of the published attributes; features always are
    unread    columns of a release made elsewhere that cannot be compared with the original's, so
              that no attacker knows them

    A release's nodes are in the original's order here, and in random order when published: attacks
    must not use the order.
    """

    original: Graph
    known: Graph
    people: np.ndarray
    seeds: np.ndarray
    source: str = ""
    columns: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()

    @property
    def wanted(self) -> np.ndarray:
        """(k,) bool: targets: nodes of `known` that are in the release, have links in `known` and
        in the original, and are no seeds. Nothing else tells them from others."""
        present = (self.people >= 0) & (self.known.degrees > 0)
        present[present] = self.original.degrees[self.people[present]] > 0
        present[self.seeds[:, 0]] = False
        return present


@dataclass(frozen=True, eq=False)
class Control:
    """Control nodes, of which no link and no private value is in a release.

    people     (n,) bool
    links      (l, 2) the graph's links that touch one of them
    link       a sample of these against as many non-links that touch one of them
    num_pairs  pairs of nodes that touch one of them
    """

    people: np.ndarray
    links: np.ndarray
    link: LinkThreat
    num_pairs: int

    @property
    def members(self) -> np.ndarray:
        """(m,) the other nodes, ascending."""
        return np.flatnonzero(~self.people)


@dataclass(frozen=True, eq=False)
class Threats:
    """What one repeat of an audit sets up on the original graph.

    visible   the graph that gets defended and released: the original less the sensitive links,
              less the links held back for testing utility and less those of control people
    test_links, test_non_links  (t, 2) each; for link-prediction utility, never shown to anyone
    shadow_graph  another graph with the private columns of all its nodes, for training
              known, or None
    external  a release that was made elsewhere and those that the adversary holds beside it,
              their nodes in the order of `visible`; empty: none
    others    further private columns, as an attacker meets them who infers all of them together
    utility   the utility label Y, and its train/test masks (n,), or None
    control   people who were left out, on whom the same attackers are tried, or None
    """

    visible: Graph
    link: LinkThreat | None = None
    attribute: AttributeThreat | None = None
    test_links: np.ndarray | None = None
    test_non_links: np.ndarray | None = None
    utility: AttributeThreat | None = None
    identity: IdentityThreat | None = None
    others: tuple[AttributeThreat, ...] = ()
    shadow_graph: Graph | None = None
    external: tuple[Graph, ...] = ()
    control: Control | None = None
