"""What the nodes of a graph are called: papers in a citation graph, people unless it is known."""

from __future__ import annotations

from dataclasses import dataclass

from core.words import count_noun


@dataclass(frozen=True)
class Noun:
    """The nodes of a graph in a sentence."""

    one: str
    many: str

    def count(self, number: int) -> str:
        """ "1 paper", "2,708 papers"."""
        return count_noun(number, self.one, self.many)


PEOPLE = Noun("person", "people")
_PAPERS = Noun("paper", "papers")
_NOUNS = {
    "cora": _PAPERS,
    "citeseer": _PAPERS,
    "pubmed": _PAPERS,
    "polblogs": Noun("blog", "blogs"),
    "lastfm_asia": Noun("account", "accounts"),
    "deezer_europe": Noun("account", "accounts"),
    "facebook_pages": Noun("page", "pages"),
    "p2p_gnutella": Noun("host", "hosts"),
}
"""Graphs of the catalogue that do not hold people."""


def find_noun(graph_name: str) -> Noun:
    """The noun of a graph by its name in the catalogue."""
    return _NOUNS.get(graph_name.casefold(), PEOPLE)
