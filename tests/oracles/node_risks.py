"""Risks of nodes from a table by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd

from core.audit.asked.attack import parse_attack
from core.audit.asked.release_info import parse_release
from core.audit.results.node_risks import NODE_COLUMNS, AttackRisk, NodeRisks


def build_risks(table: pd.DataFrame) -> NodeRisks:
    """`NODE_COLUMNS` as `NodeRisks`, releases and attacks in their order; rows without a risk are
    nodes not at stake."""
    names = list(dict.fromkeys(table.node.astype(str)))
    number = {name: place for place, name in enumerate(names)}
    parts = {}
    known = table[table.risk.notna() & table.advantage.notna()]
    for (release, attack), own in known.groupby(["release", "attack"], sort=False, observed=True):
        nodes = own.node.astype(str).map(number).to_numpy(np.int32)
        order = np.argsort(nodes)
        values = (own[name].to_numpy(float)[order] for name in NODE_COLUMNS[3:-1])
        seeds = own.seeds.to_numpy(np.int64)[order]
        parts[str(release), parse_attack(str(attack))] = AttackRisk(nodes[order], *values, seeds)
    made = {parse_release(release) for release, _ in parts}
    return NodeRisks.build(names, parts, made)
