"""Results of an audit as read by pages, figures, report and command line.

Assembled from the store by `core.audit.service`.
"""

from __future__ import annotations

import html
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, TypeVar, cast

import numpy as np
import pandas as pd

from core.audit.asked.attack import Attack, parse_attack
from core.audit.asked.publish_spec import PublishSpec
from core.audit.asked.release_info import ReleaseInfo, parse_release
from core.audit.asked.scenarios import list_scenarios
from core.audit.asked.spec import AuditSpec
from core.audit.computing.link_sample import LinkSample
from core.audit.results.link_channels import LinkChannels
from core.audit.results.node_channels import NodeChannels
from core.audit.results.node_risks import NodeRisks
from core.audit.store.accounts import LOCAL
from core.audit.store.decisions import Decision
from core.audit.store.estimate import TimeRange
from core.audit.store.states import State
from core.graph import Graph
from core.privacy.claim_check import ClaimCheck
from core.privacy.ledger import Entry
from core.release import Guarantee, Release
from core.results import Estimate

RESULT_COLUMNS = (
    "release",
    "defense",
    "config",
    "method",
    "metric",
    "value",
    "low",
    "high",
    "n",
    "seeds",
    "status",
    "reason",
)
"""Columns of `AuditView.results`, the flat list in audit.json.

release  "original" or the defense's id (`MethodChoice.id`)
method   attack id, or "release" for measures of the release itself (utility, structure, GHRatio)
status   "done"; "skipped" where others of the method's metrics are done, "not_tested" where it
         finished and none could be measured; without a finished repeat "failed", "cancelled" or
         "skipped" (does not apply), the gravest of the repeats;
         `reason` says why where it is not "done", and which repeats are missing where it is

Ids are for storage, addresses and audit.json. What they refer to stands in two further columns:
`made`, the ReleaseInfo, and `attack`, the Attack, None for measures of the release itself.
"""

REPEATS = "repeats"
"""Further column of `AuditView.results`, not part of audit.json: repeat → value, used to compare
two rows of one audit repeat by repeat."""

CONTROL_COLUMNS = (
    "release",
    "method",
    "metric",
    "value",
    "low",
    "high",
    "n",
    "seeds",
    "difference",
    "difference_low",
    "difference_high",
)
"""Columns of `AuditView.control`: one row per release, attack and metric that has values on control
nodes as well as on the others.

value       on control nodes; low/high: 95 % interval; n: control pairs or nodes per repeat
difference  figure in `results` minus `value`: the effect of being in the release
"""

PROFILE_COLUMNS = (
    "node",
    "release",
    "degree",
    "class",
    "class_share",
    "ghratio_proximity",
    "ghratio_role",
    "ghratio_combined",
)
"""Columns of `AuditView.profile`: one row per node and release (first repeat's release)."""

CELL_COLUMNS = (
    "kind",
    "release",
    "method",
    "seed",
    "state",
    "progress",
    "message",
    "seconds",
    "cpu_seconds",
    "device",
    "reason",
)
"""Columns of `AuditView.cells`; kind: "publish", "attack", "measure"; seconds elapsed, and of the
processor."""


Rocs = dict[tuple[str, str], pd.DataFrame]

REPR_ROWS = 30
"""Rows of the results shown in a notebook."""


@dataclass(frozen=True)
class ReleaseSummary:
    """One release of the audit: what it is, guarantee and effect.

    facts   name → Estimate over repeats: links_kept, links_added, … and the defense's own facts
    curves  training curves of the first repeat: name → [(step, value), …]
    """

    info: ReleaseInfo
    guarantee: Guarantee
    facts: dict[str, Estimate] = field(default_factory=dict)
    curves: dict[str, list[tuple[float, float]]] = field(default_factory=dict)

    @property
    def id(self) -> str:
        return self.info.id


@dataclass(frozen=True)
class AuditSummary:
    """One row of the history; `study` if it is a point of one (core.audit.studies), `search` if
    it is a trial of one (core.search).

    person         subject of the owner (core.audit.store.accounts)
    policy         title of the policy that it was started with; "" without one
    cells_skipped  of `cells_done`, those that do not apply to this graph
    """

    id: str
    name: str
    state: State
    created: str
    seconds: float
    graph_name: str
    graph_hash: str
    num_nodes: int
    num_edges: int
    cells_done: int
    cells_total: int
    cells_failed: int
    threats: tuple[str, ...]
    attacks: tuple[Attack, ...]
    defenses: tuple[ReleaseInfo, ...]
    study: dict[str, Any] | None = None
    search: dict[str, Any] | None = None
    person: str = LOCAL.subject
    cells_skipped: int = 0
    policy: str = ""

    @property
    def is_step(self) -> bool:
        """Whether it is a step of something larger: a point of a study, or a trial of a search
        before its confirmation."""
        return self.is_trial or self.study is not None

    @property
    def is_trial(self) -> bool:
        """Whether it is a trial of a search before its confirmation."""
        return self.search is not None and not self.is_confirmation

    @property
    def is_confirmation(self) -> bool:
        """Whether it confirms what a search chose, on new splits."""
        return self.search is not None and self.search["stage"] == "confirmation"


@dataclass(frozen=True, eq=False)
class Layout:
    """positions (n, 2) float32 within [-1, 1]; communities (n,) int32, 0 the largest."""

    positions: np.ndarray
    communities: np.ndarray


@dataclass(frozen=True)
class JobProgress:
    """Progress of a job; fraction 0 to 1, `reason` of a failure."""

    id: str
    state: State
    fraction: float
    message: str
    reason: str
    seconds: float

    @property
    def is_active(self) -> bool:
        return self.state.is_active


@dataclass(frozen=True, kw_only=True)
class ClaimRun(JobProgress):
    """A claim check of a release by up to `trials` runs of its defense.

    check  its result, once done
    """

    release: str
    trials: int
    check: ClaimCheck | None = None


@dataclass(frozen=True, kw_only=True)
class PublishProgress(JobProgress):
    """A publishing run; `provenance` is set once it is done, `release` once it is signed.

    description  everything of the release except its graph
    prepared_by, signed_by  subjects of two people, or twice the local user; "" if not signed
    """

    spec: PublishSpec
    provenance: dict[str, Any]
    description: dict[str, Any]
    release: Release | None = None
    prepared_by: str = LOCAL.subject
    signed_by: str = ""


@dataclass(frozen=True)
class AuditView:
    """Everything known about one audit so far.

    results, profile, cells, control  tables with the columns named above; control is empty without
    control nodes
    rocs     (release, attack) → table fpr, tpr: mean ROC over repeats at fixed FPRs
    load_nodes, load_profile, load_rocs  what these properties return, read when it is first asked
    for. They, and all that is called load_ and find_, raise DamagedError if a cell differs from
    what was written; of a view that a service gives, that cell is then computed again
    load_graph    the original graph
    load_second_graph  the one given to attackers who look for people; None if it is simulated
    load_layout   its layout
    load_communities  (n,) communities of its nodes, from 0, those of the map; None if it is large
    and has no map
    load_release  (release id, repeat) → the released graph of that repeat
    load_sample   release id of a defense → links among a few nodes before and after, first repeat
    load_link_scores  (defense's release id, repeat) → (m,) learned score of each link of the
    defended graph, or None
    link_channels  columns of links of the graph and of what leaves
    node_channels  the same of nodes, and whether a release is the original
    load_margins  (release id, attribute attack or None for the label) → (k,) margins of the true
    class over hidden nodes and repeats, from uncalibrated probabilities
    claims   claim checks of the releases, oldest first, in any state
    ledger   publishing runs of the graph, in any audit or none, oldest first
    decisions  on releases of the graph, in any audit, oldest first
    """

    summary: AuditSummary
    spec: AuditSpec
    provenance: dict[str, Any]
    releases: tuple[ReleaseSummary, ...]
    results: pd.DataFrame
    cells: pd.DataFrame
    load_nodes: Callable[[], NodeRisks]
    load_profile: Callable[[], pd.DataFrame]
    load_rocs: Callable[[], Rocs]
    load_graph: Callable[[], Graph]
    load_layout: Callable[[], Layout]
    load_release: Callable[[str, int], Graph]
    load_sample: Callable[[str], LinkSample]
    control: pd.DataFrame = field(
        default_factory=lambda: pd.DataFrame(columns=[*CONTROL_COLUMNS, "attack", "made"])
    )
    claims: tuple[ClaimRun, ...] = ()
    ledger: tuple[Entry, ...] = ()
    decisions: tuple[Decision, ...] = ()
    load_link_scores: Callable[[str, int], np.ndarray | None] = lambda _release, _repeat: None
    link_channels: LinkChannels = field(default_factory=LinkChannels)
    node_channels: NodeChannels = field(default_factory=NodeChannels)
    load_margins: Callable[[str, str | None], np.ndarray] = lambda _release, _attack: np.zeros(0)
    load_communities: Callable[[], np.ndarray | None] = lambda: None
    load_second_graph: Callable[[], Graph | None] = lambda: None

    @property
    def nodes(self) -> NodeRisks:
        """Risk of each node at stake, by release and attack."""
        return self.load_nodes()

    @property
    def profile(self) -> pd.DataFrame:
        """One row per node and release (`PROFILE_COLUMNS`)."""
        return self.load_profile()

    @property
    def rocs(self) -> Rocs:
        """Mean ROC curve of each release and attack."""
        return self.load_rocs()

    def get_attack(self, attack_id: str) -> Attack:
        """The attack of an id; without a method if neither spec nor this version has it."""
        return self._attacks.get(attack_id) or parse_attack(attack_id)

    def get_release(self, release_id: str) -> ReleaseInfo:
        """The release of an id; without a defense if neither audit nor this version has it."""
        return self._made.get(release_id) or parse_release(release_id)

    @cached_property
    def _attacks(self) -> dict[str, Attack]:
        listed = list_scenarios(self.spec)
        return {one.id: Attack(one.id, method, one) for _, method, one in listed}

    @cached_property
    def _made(self) -> dict[str, ReleaseInfo]:
        return {summary.id: summary.info for summary in self.releases}

    @property
    def num_repeats(self) -> int:
        """Number of repeats, fewer than in the spec if the audit stopped early."""
        return int(self.cells["seed"].nunique()) or self.spec.num_repeats

    @property
    def stopped_early(self) -> bool:
        """Whether the audit ended before its last repeat."""
        return self.num_repeats < self.spec.num_repeats

    def _repr_html_(self) -> str:
        """Notebook representation; names are escaped."""
        run, shown = self.summary, ["release", "method", "metric", "value", "low", "high", "n"]
        head = (
            f"{run.name}: {run.state}, {run.num_nodes:,} nodes and {run.num_edges:,} links, "
            f"{run.cells_done} of {run.cells_total} cells done, {run.cells_failed} failed"
        )
        table = self.results[[*shown, "seeds", "status"]].head(REPR_ROWS)
        more = len(self.results) - len(table)
        rest = f"<p>{more:,} more rows in <code>results</code>.</p>" if more > 0 else ""
        return f"<p>{html.escape(head)}</p>{table.to_html(index=False, na_rep='–')}{rest}"

    def estimate(self, release: str, method: str, metric: str) -> Estimate:
        """Estimate of one row of `results`; with a reason if it has no value."""
        table = self.results
        row = table[
            (table.release == release) & (table.method == method) & (table.metric == metric)
        ]
        if row.empty:
            return Estimate(None, None, None, 0, 0, "not computed")
        first = row.iloc[0]
        if first.status != State.DONE:
            return Estimate(None, None, None, int(first.n), int(first.seeds), first.reason)
        return Estimate(
            float(first.value),
            _number(first.low),
            _number(first.high),
            int(first.n),
            int(first.seeds),
        )


V = TypeVar("V")


def wrap_readers(found: V, wrap: Callable[[Callable[..., Any]], Callable[..., Any]]) -> V:
    """A view, or its channels, with each function that reads what is stored replaced by `wrap` of
    it: those that begin with load_ or find_."""
    changed: dict[str, Any] = {}
    for part in fields(cast(Any, found)):
        value = getattr(found, part.name)
        if part.name.startswith(("load_", "find_")):
            changed[part.name] = wrap(value)
        elif part.name.endswith("_channels"):
            changed[part.name] = wrap_readers(value, wrap)
    return cast(V, replace(cast(Any, found), **changed))


def _number(value: Any) -> float | None:
    return None if pd.isna(value) else float(value)


Curves = dict[str, list[tuple[float, float]]]


@dataclass(frozen=True)
class RunningCell:
    """A cell being computed; `seed` counts repeats from 0, `fraction` 0 to 1.

    curves  training curves so far: name → [(step, value), …]
    """

    kind: str
    release: str
    method: str
    seed: int
    fraction: float
    message: str
    curves: Curves = field(default_factory=dict)

    @property
    def attack(self) -> Attack | None:
        """The attack that is running; None for any other kind of cell."""
        return parse_attack(self.method) if self.kind == "attack" else None

    @property
    def made(self) -> ReleaseInfo:
        """The release that it is made or read in."""
        return parse_release(self.release)


@dataclass(frozen=True)
class AuditProgress:
    """Progress of an audit, cheap enough to poll several times a second.

    cells_done  done, skipped and failed cells, without cancelled ones
    fraction    0 to 1, running cells counted in part
    seconds     spent so far, over all runs of this audit
    note        status message, such as that workers are starting; "" if none
    time_left   estimate of the remaining time; None if nothing runs
    """

    state: State
    cells_done: int
    cells_total: int
    fraction: float
    running: tuple[RunningCell, ...]
    seconds: float
    note: str
    time_left: TimeRange | None = None

    @property
    def is_active(self) -> bool:
        return self.state.is_active
