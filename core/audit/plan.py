"""Spec → cells: what an audit computes, piece by piece, and what each piece depends on.

publish (release, repeat) → attack (release, attack, repeat)
                          → measure (release, repeat)

A cell's key is the SHA-256 of everything that determines its result, so that equal cells of
different audits are computed once, and a changed setting renews only what depends on it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from core.audit.cases import Case, list_cases, list_private
from core.audit.knowledge import check_columns
from core.audit.parts import list_parts
from core.audit.spec import AuditSpec, MethodChoice
from core.data.release_columns import Rule, choose_columns, leave_out_people
from core.data.second_graph import draw_identity_threat
from core.data.splits import draw_threats
from core.errors import InputError
from core.graph import Graph
from core.methods import ATTACK_KINDS, AttributeAttack, Method
from core.release import ORIGINAL
from core.results import RELEASE
from core.seeding import Seed
from core.threats import Threats

RESULTS_VERSION = 6
"""Raise it when a measure, a split or the engine changes results: stored cells are renewed."""

CellKind = Literal["publish", "attack", "measure"]

_COST_RANK = {"instant": 0, "seconds": 1, "minutes": 2}


@dataclass(frozen=True)
class Cell:
    """One piece of an audit, small enough to be computed, stored and repeated alone.

    method      id of the attack's case, defense id (publish), or part of the measures (measure)
    choice      key and settings of the attack or defense, as JSON text; "" for measure
    upstream    key of the publish cell that makes the release; "" on the original
    skip        why the cell is not computed at all; "" where it is
    members     keys of the cells of the attacks that this one is made of, in their order; they
                need not be in the audit
    """

    key: str
    kind: CellKind
    release: str
    method: str
    repeat: int
    choice: str = ""
    upstream: str = ""
    uses_gpu: bool = False
    skip: str = ""
    members: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """Unique within an audit, for people: "attack gps on original, repeat 1"."""
        what = self.release if self.kind == "publish" else f"{self.method} on {self.release}"
        return f"{self.kind} {what}, repeat {self.repeat + 1}"

    @property
    def case(self) -> Case:
        """What an attack cell is after, knowing what."""
        return Case.parse(self.method)

    def make_method(self) -> Method:
        """The configured method that the cell runs."""
        return MethodChoice.model_validate_json(self.choice).make(
            *(("defense",) if self.kind == "publish" else ATTACK_KINDS)
        )


def plan_audit(spec: AuditSpec, graph: Graph, known: Graph | None = None) -> list[Cell]:
    """All cells, most urgent first, every publish cell before the cells that need it.

    The original graph and instant methods come first: the analyst reads while the rest runs.
    known: the second graph that the spec names, if any. Raises InputError where the threats
    cannot be drawn on this graph.
    """
    spec = spec.normalized()
    draw_repeat(spec, prepare_graph(spec, graph), 0, known)
    check_columns(spec, prepare_graph(spec, graph))
    base = {
        "version": RESULTS_VERSION,
        "graph": prepare_graph(spec, graph).content_hash,
        "root_seed": spec.root_seed,
        "links": [spec.hide_links, spec.sensitive_links, spec.test_links],
    }
    if spec.evaluation != "uniform":
        base["evaluation"] = spec.evaluation
    if not spec.has_link_threat:
        base["links"] = None
    seen = list_seen(spec, prepare_graph(spec, graph))
    if seen:
        base["seen"] = list(seen)
    attribute = [spec.private, spec.known] if spec.private else None
    utility = [spec.utility, spec.utility_train] if spec.utility else None
    everything = {**base, "attribute": attribute, "utility": utility}
    told = everything
    if spec.publisher_knows != "public":
        told = {**everything, "publisher_knows": spec.publisher_knows}
    cases = list_cases(spec)
    defenses = [(c, c.make("defense"), c.id) for c in spec.defenses]

    ranked: list[tuple[tuple[int, ...], Cell]] = []
    for repeat in range(spec.num_repeats):
        for choice, defense, release in [(None, None, ORIGINAL), *defenses]:
            upstream = ""
            tier = 0 if defense is None else 1
            if choice is not None and defense is not None:
                upstream = _compute_key("publish", release, release, repeat, defense, told)
                cell = Cell(
                    upstream,
                    "publish",
                    release,
                    release,
                    repeat,
                    choice.model_dump_json(),
                    uses_gpu=defense.info.uses_gpu,
                )
                cost = _COST_RANK[defense.info.cost]
                ranked.append(((tier, 0, repeat, 0, cost), cell))
            for attack_choice, attack, case in cases:
                if defense is None and case.needs_defense:
                    continue
                uses_gpu = attack.info.uses_gpu
                if defense is not None and case.needs_defense:
                    uses_gpu |= defense.info.uses_gpu
                facts = {**_describe_stakes(spec, case, base), "upstream": upstream}
                keyed = _key_attack(release, repeat, attack, case, facts)
                cell = Cell(
                    keyed.key,
                    "attack",
                    release,
                    case.id,
                    repeat,
                    attack_choice.model_dump_json(),
                    upstream,
                    uses_gpu,
                    _find_skip_reason(spec, attack, case),
                    tuple(member.key for member in keyed.members),
                )
                cost = _COST_RANK[attack.info.cost]
                rank = (tier, 0 if tier else cost, repeat, 1, cost, keyed.depth)
                ranked.append((rank, cell))
            for name, part in list_parts(spec).items():
                facts = {**everything, "upstream": upstream}
                key = _compute_key("measure", release, name, repeat, None, facts)
                cell = Cell(key, "measure", release, name, repeat, upstream=upstream)
                cost = _COST_RANK[part.cost]
                ranked.append(((tier, 0 if tier else cost, repeat, 1, cost), cell))
    return [cell for _, cell in sorted(ranked, key=lambda pair: pair[0])]


def prepare_graph(spec: AuditSpec, graph: Graph) -> Graph:
    """The graph as it would leave: without those left out, columns published or made coarser.

    The private and utility columns are attributes, not features; they stay for the evaluation.
    """
    graph = leave_out_people(graph, spec.leave_out)
    named = (spec.private, *spec.more_private, spec.utility)
    kept = [column for column in named if column is not None]
    for column in kept:
        graph = graph.with_private(column)
    if spec.publish_columns is None and not spec.generalize:
        return graph
    for column in spec.more_private:
        if column in (spec.publish_columns or ()):
            raise InputError(
                "published column", "must not be a private one", column, "leave it out"
            )
    return choose_columns(graph, spec.publish_columns, spec.generalize, kept, spec.private)


def list_published(spec: AuditSpec, graph: Graph) -> tuple[str, ...] | None:
    """The columns that leave with a prepared graph; None where the spec does not say."""
    if spec.publish_columns is not None:
        return spec.publish_columns
    if not spec.generalize:
        return None
    coarse = [Rule.parse(text).column for text in spec.generalize]
    named = [*graph.feature_names, *coarse, *([spec.utility] if spec.utility else [])]
    return tuple(dict.fromkeys(named))


def list_seen(spec: AuditSpec, graph: Graph) -> tuple[str, ...]:
    """The attributes that a spec publishes: attackers on links and columns read them too."""
    return tuple(name for name in spec.publish_columns or () if name in graph.attributes)


def draw_repeat(spec: AuditSpec, graph: Graph, repeat: int, known: Graph | None = None) -> Threats:
    """The threats of one repeat: a fresh split from the audit's root seed.

    known: the second graph that the spec names, if any.
    """
    given = spec.sensitive_links
    seed = Seed(spec.root_seed).child("repeat", repeat)
    threats = draw_threats(
        graph,
        seed,
        private=spec.private,
        utility=spec.utility,
        known=spec.known,
        hide_links=spec.hide_links,
        sensitive_links=None if given is None else find_pairs(graph, given),
        test_links=spec.test_links,
        utility_train=spec.utility_train,
        evaluation=spec.evaluation,
    )
    if spec.identity is None:
        return threats
    choice = spec.identity
    identity = draw_identity_threat(
        threats.visible,
        seed.child("identity"),
        choice.overlap,
        choice.noise,
        choice.seeds_known,
        known,
    )
    shown = list_published(spec, threats.visible) or ()
    columns = tuple(name for name in shown if name in threats.visible.attributes)
    return replace(threats, identity=replace(identity, columns=columns))


def load_known_graph(spec: AuditSpec, load: Callable[[str], Graph]) -> Graph | None:
    """The second graph that the spec names, by the given way of loading graphs."""
    if spec.identity is None or spec.identity.known_graph is None:
        return None
    return load(spec.identity.known_graph)


def find_pairs(graph: Graph, pairs: tuple[tuple[str, str], ...]) -> np.ndarray:
    """(k, 2) node numbers of pairs of node ids; InputError for an id that is not in the graph."""
    index = {node: number for number, node in enumerate(graph.node_ids)}
    for pair in pairs:
        for node in pair:
            if node not in index:
                raise InputError("sensitive link", "must name nodes of the graph", node)
    return np.array([[index[a], index[b]] for a, b in pairs], np.int64).reshape(-1, 2)


def list_members(attack: Method, case: Case) -> list[tuple[AttributeAttack, Case]]:
    """What an attack is made of, with their own cases in the same audit.

    One who knows the defense corrects what the attack says to one who does not; whatever else
    such an attack is made of runs on replays.
    """
    if not isinstance(attack, AttributeAttack):
        return []
    if case.knowledge == "aware":
        return [(attack, replace(case, knowledge=""))]
    return [
        (member, replace(case, method=MethodChoice.of(member).id))
        for member in attack.list_members()
    ]


def make_cell_seed(spec: AuditSpec, cell: Cell) -> Seed:
    """The stream of one cell, independent of which other cells the audit has."""
    method = RELEASE if cell.kind == "measure" else cell.method
    return _make_seed(spec, cell, method)


def make_member_seeds(spec: AuditSpec, cell: Cell) -> dict[str, Seed]:
    """The streams of the cells of what an attack is made of, by key of the attack."""
    if cell.kind != "attack":
        return {}
    members = list_members(cell.make_method(), cell.case)
    return {member.info.key: _make_seed(spec, cell, own.id) for member, own in members}


def _make_seed(spec: AuditSpec, cell: Cell, method: str) -> Seed:
    return Seed(spec.root_seed).child("repeat", cell.repeat, cell.kind, cell.release, method)


def make_shared_seed(spec: AuditSpec, cell: Cell) -> Seed:
    """The stream of work that all attacks on one release share."""
    return Seed(spec.root_seed).child("repeat", cell.repeat, cell.release, "shared")


def _describe_stakes(spec: AuditSpec, case: Case, base: dict[str, Any]) -> dict[str, Any]:
    """What else determines the result of a case: the links for all, the column for its own."""
    if case.threat == "attribute":
        attribute = [spec.private, spec.known] if spec.private else None
        joint = case.knowledge.startswith("joint:")
        others = {"joint": sorted(list_private(spec))} if joint else {}
        return {**base, "attribute": attribute, **others}
    if case.threat == "identity" and spec.identity is not None:
        return {**base, "identity": spec.identity.model_dump()}
    return base


def _find_skip_reason(spec: AuditSpec, attack: Method, case: Case) -> str:
    if case.threat == "included":
        return ""
    if attack.kind == "link_attack" and not spec.has_link_threat:
        return "no links are hidden in this audit"
    if attack.kind == "attribute_attack" and spec.private is None:
        return "no private column is named in this audit"
    if attack.kind == "identity_attack" and spec.identity is None:
        return "identity is not audited; use --identity"
    return ""


@dataclass(frozen=True)
class _Keyed:
    """The key of an attack's cell, and those of what it is made of."""

    key: str
    members: tuple[_Keyed, ...]

    @property
    def depth(self) -> int:
        """0 for an attack that needs no other's results."""
        return 1 + max(member.depth for member in self.members) if self.members else 0


def _key_attack(
    release: str, repeat: int, attack: Method, case: Case, facts: dict[str, Any]
) -> _Keyed:
    members = tuple(
        _key_attack(release, repeat, member, own, facts)
        for member, own in list_members(attack, case)
    )
    whole = {**facts, "members": [member.key for member in members]} if members else facts
    return _Keyed(_compute_key("attack", release, case.id, repeat, attack, whole), members)


def _compute_key(
    kind: CellKind,
    release: str,
    method_id: str,
    repeat: int,
    method: Method | None,
    facts: dict[str, Any],
) -> str:
    info = None
    if method is not None:
        info = {"key": method.info.key, "version": method.info.version, "config": method.config}
    content = {
        "kind": kind,
        "release": release,
        "method_id": method_id,
        "repeat": repeat,
        "method": info,
        **facts,
    }
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()
