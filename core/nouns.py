"""What the nodes of a graph are called in sentences: people, accounts, papers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from core.words import count_noun


@dataclass(frozen=True)
class Noun:
    """The nodes of a graph in a sentence."""

    one: str
    many: str

    def count(self, number: int) -> str:
        """ "1 paper", "2,708 papers"."""
        return count_noun(number, self.one, self.many)


NounKey = Literal[
    "people", "accounts", "papers", "blogs", "pages", "companies", "devices", "hosts", "nodes"
]
PEOPLE = Noun("person", "people")
NOUNS: dict[NounKey, Noun] = {
    "people": PEOPLE,
    "accounts": Noun("account", "accounts"),
    "papers": Noun("paper", "papers"),
    "blogs": Noun("blog", "blogs"),
    "pages": Noun("page", "pages"),
    "companies": Noun("company", "companies"),
    "devices": Noun("device", "devices"),
    "hosts": Noun("host", "hosts"),
    "nodes": Noun("node", "nodes"),
}

BY_GRAPH: dict[str, NounKey] = {
    "cora": "papers",
    "citeseer": "papers",
    "pubmed": "papers",
    "polblogs": "blogs",
    "lastfm_asia": "accounts",
    "deezer_europe": "accounts",
    "facebook_pages": "pages",
    "p2p_gnutella": "hosts",
}
"""Graphs of the catalogue that do not hold people."""


def propose_noun(graph_name: str, has_modes: bool = False) -> NounKey:
    """The noun of a graph by its name in the catalogue, people unless it is known; nodes where half
    of them, such as groups, are no people.

    has_modes  whether the links join two modes
    """
    return BY_GRAPH.get(graph_name.casefold(), "nodes" if has_modes else "people")
