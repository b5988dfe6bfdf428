"""Plans an audit: its cells, their dependencies and their keys.

publish (release, repeat) → attack (release, attack, repeat)
                          → measure (release, repeat)

A cell's key is the SHA-256 of everything that determines its result, so that equal cells of
different audits are computed once and a changed setting renews only what depends on it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from core.audit.asked.declared import CellGroup
from core.audit.asked.knowledge import ADAPTIVE, STANDARD, Joint, Shadow
from core.audit.asked.method_choice import MethodChoice
from core.audit.asked.parts import PARTS, list_parts
from core.audit.asked.presets import SETTING as DATA_FREE
from core.audit.asked.scenarios import ListedScenario, Scenario, list_scenarios
from core.audit.asked.spec import AuditSpec
from core.audit.computing.cell import Cell, CellKind, list_members
from core.audit.computing.key_inputs import PUBLISHER, READ_COLUMNS, Inputs, list_key_inputs
from core.audit.computing.partitions import explain_method, explain_part
from core.audit.computing.prepared import PreparedAudit
from core.audit.computing.threat_sampling import check_columns, draw_repeat
from core.graph import Graph
from core.methods import Method
from core.release import ORIGINAL

RESULTS_VERSION = 13
"""Increase when a measure, a split or the engine changes results, which renews all cells."""

ADAPTIVE_VERSION = 6
"""Increase when the adaptive form of link attacks changes results, which renews their cells."""

CORRECTION_VERSION = 6
"""The same for the adaptive form of attribute attacks."""

VALUE_RISK_VERSION = 1
"""Increase when the risk of nodes by a private value changes, which renews attribute attacks."""

SMALL = 100_000
"""Nodes plus links up to which an instant cell takes a fraction of a second."""

_LAST = 9
"""Depth of cells after all that any of them is built on."""

_COST_RANK = {"instant": 0, "seconds": 1, "minutes": 2}


def plan_audit(audit: PreparedAudit) -> list[Cell]:
    """All cells in order of urgency, publish cells before the cells that need them.

    The original and instant methods come first, since they give the first results. Raises
    InputError if the threats cannot be drawn on this graph.
    """
    draw_repeat(audit, 0)
    check_columns(audit.spec, audit.graph)
    return list_cells(audit)


def list_cells(audit: PreparedAudit) -> list[Cell]:
    """Cells of `plan_audit` without drawing the threats."""
    spec = audit.spec
    inputs, scenarios = list_key_inputs(audit), list_scenarios(spec)
    ranked: list[_Ranked] = []
    for repeat in range(spec.num_repeats):
        release = _Target(ORIGINAL, 0, repeat, None, "", audit.graph)
        if spec.original_repeats is None or repeat < spec.original_repeats:
            ranked += _plan_attacks(spec, scenarios, inputs, release)
        ranked += _plan_measures(spec, inputs, release)
        for number, choice in enumerate(spec.defenses, 1):
            made, release = _plan_release(choice, number, inputs, repeat, audit.graph)
            ranked += [made, *_plan_attacks(spec, scenarios, inputs, release)]
            ranked += _plan_measures(spec, inputs, release)
    return [cell for _, cell in sorted(ranked, key=lambda pair: pair[0])]


def list_first(audit: PreparedAudit, cells: Iterable[Cell]) -> list[Cell]:
    """Cells of the original on a small graph that need no worker: instant attacks, and measures
    that train nothing."""
    if audit.graph.num_nodes + audit.graph.num_edges > SMALL:
        return []
    return [cell for cell in cells if _is_first(cell)]


def _is_first(cell: Cell) -> bool:
    if cell.release != ORIGINAL or cell.members or cell.same_as:
        return False
    if cell.kind == "measure":
        return PARTS[cell.method].cost != "minutes"
    return cell.scenario.knowledge == STANDARD and cell.make_method().info.cost == "instant"


_Ranked = tuple[tuple[int, ...], Cell]
"""A cell with its rank: tier, kind of work, repeat and cost."""

_Inputs = dict[CellGroup, Inputs]
"""Cell-key inputs by group of cells."""


@dataclass(frozen=True)
class _Target:
    """A release of one repeat, its defense, and the key of its publish cell.

    number  of the release in the spec, from 1; the original is 0
    graph   the audited one, which says what runs
    """

    release: str
    number: int
    repeat: int
    defense: Method | None
    upstream: str
    graph: Graph

    @property
    def is_data_independent(self) -> bool:
        """Whether the release uses only the number of links."""
        return self.defense is not None and bool(self.defense.config.get(DATA_FREE))

    @property
    def tier(self) -> int:
        """Rank of the original before defended releases."""
        return 0 if self.defense is None else 1

    def rank(self, cost: str, depth: int) -> tuple[int, ...]:
        """Rank of a cell on the release: by cost, then release by release to reuse cached shared
        work; measures (−1) before attacks, base models before attacks that need them."""
        rank = _COST_RANK[cost]
        return (self.tier, 0 if self.tier else rank, self.repeat, 1, rank, self.number, depth)


def _plan_release(
    choice: MethodChoice, number: int, inputs: _Inputs, repeat: int, graph: Graph
) -> tuple[_Ranked, _Target]:
    defense, release, facts = choice.make_defense(), choice.id, inputs["release"]
    if not defense.reads_values:
        facts = {name: value for name, value in facts.items() if name != PUBLISHER}
    key = _compute_key("publish", release, release, repeat, defense, facts)
    text, uses_gpu = choice.model_dump_json(), defense.info.uses_gpu
    skip = explain_method(defense, graph)
    cell = Cell(key, "publish", release, release, repeat, text, uses_gpu=uses_gpu, skip=skip)
    place = (1, 0, repeat, 0, _COST_RANK[defense.info.cost])
    return (place, cell), _Target(release, number, repeat, defense, key, graph)


def _plan_attacks(
    spec: AuditSpec, scenarios: list[ListedScenario], inputs: _Inputs, target: _Target
) -> Iterator[_Ranked]:
    """The same attackers on every release. An adaptive attack without anything to adapt to, as
    on the original, shares the standard form's result.

    Quick adaptive attacks follow the first of them on one worker, those on people apart: they share
    a shadow release, which costs far more where the defense is slow.
    """
    defense, first = target.defense, dict[str, str]()
    for choice, attack, scenario in scenarios:
        known = scenario.knowledge
        keyed = _key_scenario(inputs, target, attack, scenario)
        same_as, depth, uses_gpu = "", keyed.depth, attack.info.uses_gpu
        if scenario.runs_defense and not scenario.can_rehearse(defense):
            plain = replace(scenario, knowledge=STANDARD)
            same = _key_scenario(inputs, target, attack, plain)
            same_as, depth, keyed = same.key, same.depth + 1, _Keyed(keyed.key, ())
        elif scenario.runs_defense and defense is not None:
            uses_gpu |= defense.info.uses_gpu
        skip = _find_skip_reason(spec, attack, scenario)
        skip = skip or explain_method(attack, target.graph, scenario)
        if known == ADAPTIVE and target.is_data_independent:
            skip = "no attacker gains by the defense: the release is independent of the links"
        after, is_quick = same_as, attack.info.cost == "instant"
        if known == ADAPTIVE and is_quick and not (skip or same_as):
            depth = _LAST  # after what those that follow are built on
            group = "people" if scenario.threat == "identity" else "others"
            leader = first.setdefault(group, keyed.key)
            after = "" if leader == keyed.key else leader
        cell = Cell(
            keyed.key,
            "attack",
            target.release,
            scenario.id,
            target.repeat,
            choice.model_dump_json(),
            target.upstream,
            uses_gpu,
            skip,
            tuple(member.key for member in keyed.members),
            after=after,
            same_as=same_as,
        )
        yield target.rank(attack.info.cost, depth), cell


def _plan_measures(spec: AuditSpec, inputs: _Inputs, target: _Target) -> Iterator[_Ranked]:
    facts, keys = {**inputs["measure"], "upstream": target.upstream}, {"": ""}
    for name, part in list_parts(spec).items():
        keys[name] = _compute_key("measure", target.release, name, target.repeat, None, facts)
        cell = Cell(
            keys[name],
            "measure",
            target.release,
            name,
            target.repeat,
            upstream=target.upstream,
            skip=explain_part(name, target.graph),
            after=keys.get(part.after, ""),
        )
        yield target.rank(part.cost, -1), cell


def _list_scenario_inputs(inputs: _Inputs, attack: Method, scenario: Scenario) -> dict[str, Any]:
    """Inputs of a scenario: its group's, and versions of what its knowledge runs."""
    if scenario.threat == "attribute":
        if isinstance(scenario.knowledge, Joint):
            return inputs["joint"]
        if isinstance(scenario.knowledge, Shadow):
            version = getattr(attack, "transfer_version", 1)
            return {**inputs["transfer"], "transfer_version": version}
        return inputs["attribute"]
    if scenario.threat == "identity":
        facts, reads = inputs["identity"], getattr(attack, "finds_by", "") == "columns"
        return facts if reads else {k: v for k, v in facts.items() if k != READ_COLUMNS}
    if scenario.threat == "link" and scenario.knowledge == ADAPTIVE:
        return {**inputs["link"], "adaptive_version": ADAPTIVE_VERSION}
    return inputs["link"]


def _find_skip_reason(spec: AuditSpec, attack: Method, scenario: Scenario) -> str:
    if scenario.threat == "included":
        return ""
    if attack.kind == "link_attack" and not spec.threats.has_links:
        return "no links are withheld in this audit"
    if attack.kind == "attribute_attack" and spec.threats.private is None:
        return "no private column is named in this audit"
    if attack.kind == "identity_attack" and spec.threats.identity is None:
        return "re-identification is not audited; use --identity"
    return ""


@dataclass(frozen=True)
class _Keyed:
    """Key of an attack's cell, and those of its base models."""

    key: str
    members: tuple[_Keyed, ...]

    @property
    def depth(self) -> int:
        """0 for an attack without base models."""
        return 1 + max(member.depth for member in self.members) if self.members else 0


def _key_scenario(inputs: _Inputs, target: _Target, attack: Method, scenario: Scenario) -> _Keyed:
    facts = _list_scenario_inputs(inputs, attack, scenario)
    return _key_attack(target, attack, scenario, {**facts, "upstream": target.upstream})


def _key_attack(
    target: _Target, attack: Method, scenario: Scenario, facts: dict[str, Any]
) -> _Keyed:
    members = tuple(
        _key_attack(target, member, own, facts) for member, own in list_members(attack, scenario)
    )
    whole = {**facts, "members": [member.key for member in members]} if members else facts
    if scenario.threat == "attribute":
        whole = {**whole, "risk_version": VALUE_RISK_VERSION}
        if scenario.knowledge == ADAPTIVE:
            # Not of its members: the standard form is a cell of its own.
            whole["adaptive_version"] = CORRECTION_VERSION
    key = _compute_key("attack", target.release, scenario.id, target.repeat, attack, whole)
    return _Keyed(key, members)


def _list_versions(method: Method) -> list[Any]:
    """Key, version and, nested, the same of inner methods, for each inner method."""
    return [[m.info.key, m.info.version, *_list_versions(m)] for m in method.inner_methods]


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
        if method.inner_methods:
            info["inner"] = _list_versions(method)
    content = {
        "version": RESULTS_VERSION,
        "kind": kind,
        "release": release,
        "method_id": method_id,
        "repeat": repeat,
        "method": info,
    }
    assert not content.keys() & facts.keys(), "a field is named as another input"
    content |= facts
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()
