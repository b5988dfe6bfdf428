"""Spec → cells: what an audit computes, piece by piece, and what each piece depends on.

publish (release, repeat) → attack (release, attack, repeat)
                          → measure (release, repeat)

A cell's key is the SHA-256 of everything that determines its result, so that equal cells of
different audits are computed once, and a changed setting renews only what depends on it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from core.audit.cell import Cell, CellKind, list_members
from core.audit.knowledge import check_columns
from core.audit.parts import list_parts
from core.audit.scenarios import ListedScenario, Scenario, list_private, list_scenarios
from core.audit.spec import AuditSpec, MethodChoice
from core.audit.threat_sampling import draw_repeat, list_seen, prepare_graph
from core.graph import Graph
from core.methods import Method
from core.release import ORIGINAL

RESULTS_VERSION = 7
"""Raise it when a measure, a split or the engine changes results: stored cells are renewed."""

_COST_RANK = {"instant": 0, "seconds": 1, "minutes": 2}


def plan_audit(
    spec: AuditSpec, graph: Graph, known: Graph | None = None, shadow_graph: Graph | None = None
) -> list[Cell]:
    """All cells, most urgent first, every publish cell before the cells that need it.

    The original graph and instant methods come first: the analyst reads while the rest runs.
    known: the second graph that the spec names, if any; elsewhere: the attacker's other graph.
    Raises InputError where the threats cannot be drawn on this graph.
    """
    spec = spec.normalized()
    ready = prepare_graph(spec, graph)
    draw_repeat(spec, ready, 0, known, shadow_graph)
    check_columns(spec, ready)
    return _list_ready(spec, ready)


def list_cells(spec: AuditSpec, graph: Graph) -> list[Cell]:
    """The cells of `plan_audit`, with no threat drawn to see whether that can be done."""
    spec = spec.normalized()
    return _list_ready(spec, prepare_graph(spec, graph))


def _list_ready(spec: AuditSpec, graph: Graph) -> list[Cell]:
    key_inputs, scenarios = _KeyInputs.of_spec(spec, graph), list_scenarios(spec)
    ranked: list[_Ranked] = []
    for repeat in range(spec.num_repeats):
        release = _Target(ORIGINAL, 0, repeat, None, "")
        ranked += _plan_attacks(spec, scenarios, key_inputs, release)
        ranked += _plan_measures(spec, key_inputs, release)
        for number, choice in enumerate(spec.defenses, 1):
            made, release = _plan_release(choice, number, key_inputs, repeat)
            ranked += [made, *_plan_attacks(spec, scenarios, key_inputs, release)]
            ranked += _plan_measures(spec, key_inputs, release)
    return [cell for _, cell in sorted(ranked, key=lambda pair: pair[0])]


_Ranked = tuple[tuple[int, ...], Cell]
"""A cell behind its place in the queue: by tier, kind of work, repeat and cost."""


@dataclass(frozen=True)
class _KeyInputs:
    """What else determines results: of link attacks, of measures, and of a defense."""

    links: dict[str, Any]
    all: dict[str, Any]
    told: dict[str, Any]

    @staticmethod
    def of_spec(spec: AuditSpec, graph: Graph) -> _KeyInputs:
        """graph: as it would leave."""
        links: dict[str, Any] = {
            "version": RESULTS_VERSION,
            "graph": graph.content_hash,
            "root_seed": spec.root_seed,
            "links": [spec.hide_links, spec.sensitive_links, spec.test_links],
        }
        if spec.evaluation != "uniform":
            links["evaluation"] = spec.evaluation
        if not spec.has_link_threat:
            links["links"] = None
        seen = list_seen(spec, graph)
        if seen:
            links["seen"] = list(seen)
        attribute = [spec.private, spec.known] if spec.private else None
        utility = [spec.utility, spec.utility_train] if spec.utility else None
        everything = {**links, "attribute": attribute, "utility": utility}
        told = {} if spec.publisher_knows == "public" else {"publisher_knows": spec.publisher_knows}
        return _KeyInputs(links, everything, {**everything, **told})


@dataclass(frozen=True)
class _Target:
    """A release of one repeat, the defense that makes it, and the key of the cell that does.

    number  of the release in the spec, from 1; the original is 0
    """

    release: str
    number: int
    repeat: int
    defense: Method | None
    upstream: str

    @property
    def tier(self) -> int:
        """The original comes before what is made of it."""
        return 0 if self.defense is None else 1

    def rank(self, cost: str, depth: int) -> tuple[int, ...]:
        """The place of what works on the release: by what it costs, then release by release, as
        what is shared on one is soon forgotten; measures (−1) before attacks, those before others
        that need their results."""
        rank = _COST_RANK[cost]
        return (self.tier, 0 if self.tier else rank, self.repeat, 1, rank, self.number, depth)


def _plan_release(
    choice: MethodChoice, number: int, key_inputs: _KeyInputs, repeat: int
) -> tuple[_Ranked, _Target]:
    defense, release = choice.make("defense"), choice.id
    key = _compute_key("publish", release, release, repeat, defense, key_inputs.told)
    text, uses_gpu = choice.model_dump_json(), defense.info.uses_gpu
    cell = Cell(key, "publish", release, release, repeat, text, uses_gpu=uses_gpu)
    place = (1, 0, repeat, 0, _COST_RANK[defense.info.cost])
    return (place, cell), _Target(release, number, repeat, defense, key)


def _plan_attacks(
    spec: AuditSpec, scenarios: list[ListedScenario], key_inputs: _KeyInputs, target: _Target
) -> Iterator[_Ranked]:
    defense = target.defense
    for choice, attack, scenario in scenarios:
        if defense is None and scenario.needs_defense:
            continue
        uses_gpu = attack.info.uses_gpu
        if defense is not None and scenario.needs_defense:  # who knows it runs it
            uses_gpu |= defense.info.uses_gpu
        facts = {
            **_list_key_inputs(spec, attack, scenario, key_inputs.links),
            "upstream": target.upstream,
        }
        keyed = _key_attack(target.release, target.repeat, attack, scenario, facts)
        cell = Cell(
            keyed.key,
            "attack",
            target.release,
            scenario.id,
            target.repeat,
            choice.model_dump_json(),
            target.upstream,
            uses_gpu,
            _find_skip_reason(spec, attack, scenario),
            tuple(member.key for member in keyed.members),
        )
        yield target.rank(attack.info.cost, keyed.depth), cell


def _plan_measures(spec: AuditSpec, key_inputs: _KeyInputs, target: _Target) -> Iterator[_Ranked]:
    facts, keys = {**key_inputs.all, "upstream": target.upstream}, {"": ""}
    for name, part in list_parts(spec).items():
        keys[name] = _compute_key("measure", target.release, name, target.repeat, None, facts)
        cell = Cell(
            keys[name],
            "measure",
            target.release,
            name,
            target.repeat,
            upstream=target.upstream,
            after=keys[part.after],
        )
        yield target.rank(part.cost, -1), cell


def _list_key_inputs(
    spec: AuditSpec, attack: Method, scenario: Scenario, base: dict[str, Any]
) -> dict[str, Any]:
    """What else determines the result of a case: the links for all, the column for its own."""
    if scenario.threat == "attribute":
        attribute = [spec.private, spec.known] if spec.private else None
        joint = scenario.knowledge.startswith("joint:")
        others: dict[str, Any] = {"joint": sorted(list_private(spec))} if joint else {}
        if scenario.knowledge == "transfer":
            others = {"elsewhere": spec.shadow_graph}
            others["transfer_version"] = getattr(attack, "transfer_version", 1)
        return {**base, "attribute": attribute, **others}
    if scenario.threat == "identity" and spec.identity is not None:
        return {**base, "identity": spec.identity.model_dump()}
    return base


def _find_skip_reason(spec: AuditSpec, attack: Method, scenario: Scenario) -> str:
    if scenario.threat == "included":
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
    release: str, repeat: int, attack: Method, scenario: Scenario, facts: dict[str, Any]
) -> _Keyed:
    members = tuple(
        _key_attack(release, repeat, member, own, facts)
        for member, own in list_members(attack, scenario)
    )
    whole = {**facts, "members": [member.key for member in members]} if members else facts
    return _Keyed(_compute_key("attack", release, scenario.id, repeat, attack, whole), members)


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
