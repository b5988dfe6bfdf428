"""Data of all report sections: the selected part of an audit."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, TypeVar, cast

import pandas as pd

from core.audit.asked.release_info import ReleaseInfo, list_short_titles
from core.audit.asked.scenarios import Threat
from core.audit.results.node_risks import NodeRisks
from core.audit.results.view import AuditView, ClaimRun, Layout, ReleaseSummary
from core.errors import InputError
from core.findings.palette import release_color, release_symbol
from core.findings.policy import check_policy
from core.findings.strongest import choose_measure
from core.findings.tables import compute_worst_attacks, list_threats, sort_releases
from core.findings.tradeoff import choose_axes, compute_tradeoff
from core.findings.tried import Tried
from core.findings.verdict import ReleaseVerdict, Verdict, judge
from core.findings.verdict_words import find_subject
from core.graph import Graph
from core.nouns import Noun
from core.privacy.claim_check import ClaimCheck
from core.release import ORIGINAL
from core.report.disclosure import (
    format_count,
    mark_results,
    place_bounds,
    round_control,
    round_count,
)
from core.report.options import ReportOptions
from core.report.text import clean_text

MAX_SHOWN = 8
"""Releases per chart; tables have all."""

MAX_NAME = 40

T = TypeVar("T")

MIN_CELL = 5
"""Smaller groups are pooled: a small cell can single somebody out."""


@dataclass(frozen=True, eq=False)
class ReportData:
    """An audit restricted to the chosen releases. `images` collects the figures: name → SVG."""

    view: AuditView
    options: ReportOptions
    images: dict[str, str] = field(default_factory=dict)
    _remembered: dict[Hashable, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        known = {summary.id for summary in self.view.releases} | {ORIGINAL}
        for release in self.options.releases or ():
            if release not in known:
                raise InputError(
                    "release",
                    "must be one of the audit's",
                    release,
                    "known: " + ", ".join(sorted(known)),
                )

    @cached_property
    def noun(self) -> Noun:
        """What the nodes are called."""
        return self.view.spec.nodes

    @cached_property
    def releases(self) -> tuple[ReleaseSummary, ...]:
        """The chosen releases, original first."""
        chosen = self.options.releases
        kept = [
            summary
            for summary in self.view.releases
            if chosen is None or summary.id in chosen or summary.id == ORIGINAL
        ]
        return tuple(sorted(kept, key=lambda summary: summary.id != ORIGINAL))

    @cached_property
    def ids(self) -> list[str]:
        return [summary.id for summary in self.releases]

    @cached_property
    def results(self) -> pd.DataFrame:
        """Results of the chosen releases as measured, to be compared; what an edition for outsiders
        may not tell has words in its place."""
        rows = self._select(self.view.results)
        return mark_results(rows) if self.is_external else rows

    @cached_property
    def drawn(self) -> pd.DataFrame:
        """The same with the bounds of what may not be told, to be drawn and read one by one."""
        return place_bounds(self.results)

    @cached_property
    def told(self) -> AuditView:
        """The audit as this edition tells it: its results and control nodes, rounded outside.
        Decisions are made on `view`."""
        control = self.view.control
        control = round_control(control) if self.is_external else control
        return replace(self.view, results=self.drawn, control=control)

    @cached_property
    def nodes(self) -> NodeRisks:
        return self.view.nodes.select(self.ids)

    @cached_property
    def profile(self) -> pd.DataFrame:
        return self._select(self.view.profile)

    @cached_property
    def verdict(self) -> Verdict | None:
        """Verdict under the policy of the options, else the audit's own; None without either."""
        policy = self.options.policy
        if policy is None and self.view.spec.policy is not None:
            policy = check_policy(self.view.spec.policy)
        return None if policy is None else judge(self.view, policy)

    @cached_property
    def subject(self) -> ReleaseVerdict | None:
        """The release that the decision is about; None without a policy."""
        return None if self.verdict is None else find_subject(self.verdict)

    @property
    def subject_id(self) -> str | None:
        return None if self.subject is None else self.subject.release

    @property
    def is_external(self) -> bool:
        """Whether the edition is for readers outside the organisation."""
        return self.options.edition != "internal"

    @property
    def claim_checks(self) -> list[tuple[ClaimRun, ClaimCheck]]:
        """Claim checks that are done, of releases in the report."""
        claims = [run for run in self.view.claims if run.release in self.ids]
        return [(run, run.check) for run in claims if run.check is not None]

    def count(self, number: int) -> str:
        """A count of people, links or parts of the graph; rounded to tens in the external
        edition."""
        return format_count(number) if self.is_external else f"{number:,}"

    def round(self, number: int) -> int:
        """The count by which this edition computes ratios, for exact ones would tell it."""
        return round_count(number) if self.is_external else number

    @cached_property
    def density(self) -> float:
        """Linked share of all pairs or, of two modes, of those across; by `round`."""
        graph, num_nodes = self.graph, self.round(self.graph.num_nodes)
        pairs = num_nodes * (num_nodes - 1) / 2
        if graph.modes is not None:
            pairs = math.prod(self.round(count) for count in graph.modes.counts.tolist())
        return self.round(graph.num_edges) / max(pairs, 1)

    @cached_property
    def graph(self) -> Graph:
        return self.view.load_graph()

    @cached_property
    def layout(self) -> Layout:
        return self.view.load_layout()

    @cached_property
    def threats(self) -> list[Threat]:
        return list_threats(self.results)

    @cached_property
    def colors(self) -> dict[str, str]:
        """Colours determined by the whole audit, so that they match those on screen."""
        return release_color(self._made)

    @cached_property
    def symbols(self) -> dict[str, str]:
        return release_symbol(self._made)

    @cached_property
    def names(self) -> dict[str, str]:
        """Short titles of all releases of the audit, for legends."""
        return list_short_titles(self._made)

    @property
    def _made(self) -> list[ReleaseInfo]:
        return [self.view.get_release(ORIGINAL), *(summary.info for summary in self.view.releases)]

    def title(self, release: str) -> str:
        """Title of a release of the audit."""
        return self.view.get_release(release).title

    @cached_property
    def tried(self) -> Tried:
        """The attacks of the audit, whichever releases were chosen."""
        return Tried.of(self.view)

    @cached_property
    def shown(self) -> list[str]:
        """At most eight releases for charts: the original, the Pareto front, then the safest."""
        if len(self.ids) <= MAX_SHOWN:
            return self.ids
        ranked: list[str] = [ORIGINAL]
        for threat in self.threats:
            axes = choose_axes(self.results, threat)
            if axes is None:
                continue
            table = compute_tradeoff(self.results, *axes, threat=threat)
            ranked += table[table.is_pareto].sort_values("risk").release.tolist()
        for threat in self.threats:
            measure = choose_measure(self.results, threat)
            if measure is not None:
                worst = compute_worst_attacks(self.results, measure.metric, threat)
                ranked += worst.sort_values("value").release.tolist()
        kept = set(list(dict.fromkeys([*ranked, *self.ids]))[:MAX_SHOWN])
        return [release for release in self.ids if release in kept]

    @property
    def created(self) -> datetime:
        """Time of the audit, the only time in the report, for reproducible bytes."""
        moment = datetime.fromisoformat(self.view.summary.created)
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)

    def format_nodes(self, nodes: list[str]) -> list[str]:
        """Ids cut to 40 characters, or pseudonyms N-001, N-002, … in the given order.

        A pseudonym is a rank; nothing in the report maps it back to the id.
        """
        if not self.options.pseudonyms:
            return [clean_text(node, MAX_NAME) for node in nodes]
        return [f"N-{rank:03d}" for rank in range(1, len(nodes) + 1)]

    def remember(self, key: Hashable, make: Callable[[], T]) -> T:
        """What `make` returns, computed once for all sections that ask for this key."""
        if key not in self._remembered:
            self._remembered[key] = make()
        return cast(T, self._remembered[key])

    def add_image(self, name: str, draw: Callable[[], str]) -> str:
        """Draw and store an SVG; returns its file name."""
        self.images[f"{name}.svg"] = draw()
        return f"{name}.svg"

    def _select(self, table: pd.DataFrame) -> pd.DataFrame:
        return sort_releases(table[table.release.isin(self.ids)], table)
