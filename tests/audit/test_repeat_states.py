"""One row from the repeats of an attack, whatever their states and order, and what follows."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations_with_replacement, product
from types import SimpleNamespace

import pandas as pd
import pytest

from core.audit.asked.attack import attach_referents
from core.audit.assemble import _combine_cells
from core.audit.results.view import REPEATS, RESULT_COLUMNS
from core.audit.store.describe import CellResult
from core.audit.store.states import State
from core.findings.verdict import judge
from core.report.appendix import _describe_missing_rows
from core.report.data import ReportData
from core.report.options import ReportOptions
from core.results import Measurement
from tests.oracles.audits import UNREHEARSED, list_attack_keys, make_audit, make_noise

# D measured, N finished and measured nothing, F failed, C cancelled, S skipped, Q queued.
KINDS = "DNFCSQ"
EXPECTED = {
    "failed": "F FC FS FQ FCS FCQ FSQ",
    "cancelled": "C CS CQ CSQ",
    "skipped": "S",
    "not_tested": "N NF NC NS NQ NFC NFS NFQ NCS NCQ NSQ",
    "done": "D DN DF DC DS DQ DNF DNC DNS DNQ DFC DFS DFQ DCS DCQ DSQ",
    "no row": "Q SQ",
}
STATUS = {"".join(sorted(key)): status for status, keys in EXPECTED.items() for key in keys.split()}
STATES = {"F": State.FAILED, "C": State.CANCELLED, "S": State.SKIPPED, "Q": State.QUEUED}
ORDERS = ["".join(order) for order in product(KINDS, repeat=3)]
SETS = ["".join(kinds) for kinds in combinations_with_replacement(KINDS, 3)]

RELEASE = "random_deletion"
ATTACKS = list_attack_keys()
PUBLIC = UNREHEARSED


def make_cell(repeat, kind):
    value = 0.5 if kind == "D" else None
    result = CellResult((Measurement("auc", value, n=400, reason="" if value else "one class"),))
    state = STATES.get(kind, State.DONE)
    reason = f"why {kind}" if kind in "FCS" else ""
    return SimpleNamespace(state=state, repeat=repeat, result=result.describe(), reason=reason)


def combine(order):
    cells = [make_cell(repeat, kind) for repeat, kind in enumerate(order)]
    columns = [*RESULT_COLUMNS[4:], REPEATS]
    return pd.DataFrame(list(_combine_cells(cells, "auc", 1.0, 0.95)), columns=columns)


def audit(order):
    """An audit that would be published, but for one required attack with these repeats."""
    noise = make_noise(("original", RELEASE), ATTACKS)
    view = make_audit(noise, ATTACKS)
    of_attack = (view.results.method == "mlp") & (view.results.release == RELEASE)
    row = combine(order).assign(release=RELEASE, defense=RELEASE, method="mlp")
    if "D" in order:  # as measured, with intervals that are inside
        row[["value", "low", "high"]] = [0.5, 0.49, 0.51]
    parts = [part.astype(object) for part in (view.results[~of_attack], row) if len(part)]
    return replace(view, results=attach_referents(pd.concat(parts, ignore_index=True)))


@pytest.mark.parametrize("order", ORDERS)
def test_the_status_is_that_of_the_table_in_every_order(order):
    found, expected = combine(order), STATUS["".join(sorted(set(order)))]
    if expected == "no row":
        assert found.empty
        return
    (row,) = found.itertuples()
    assert row.status == expected
    assert (row.seeds == order.count("D")) or expected == "not_tested"
    told = {kind: f"{order.count(kind)} of 3 repeats" for kind in "FCS" if kind in order}
    if expected in ("done", "not_tested"):
        assert all(f"{count} {STATES[k]}: why {k}" in row.reason for k, count in told.items())
        assert ("one class" in row.reason) == (expected == "not_tested")
    else:
        assert row.reason == f"why {expected[0].upper()}"


@pytest.mark.parametrize("order", SETS)
def test_only_repeats_enough_or_an_attack_that_does_not_apply_publish(order):
    view = audit(order)
    release = judge(view, PUBLIC).find(RELEASE)
    clears = order in ("DDD", "SSS")
    assert PUBLIC.repeats == 3
    assert release.decision == ("publish" if clears else "review")
    assert bool(release.untried) != clears
    for text in release.untried:
        is_empty = STATUS["".join(sorted(set(order)))] == "not_tested"
        assert ("measured nothing" in text) == is_empty


@pytest.mark.parametrize("more", ["F", "C", "S", "N", "FCS"])
def test_repeats_that_did_not_finish_do_not_hurt_where_enough_did(more):
    assert judge(audit("DDD" + more), PUBLIC).find(RELEASE).decision == "publish"
    assert judge(audit(more + "DDD"), PUBLIC).find(RELEASE).decision == "publish"


def test_a_metric_without_a_value_is_skipped_where_another_has_one():
    both = CellResult((Measurement("auc", 0.5, n=9), Measurement("f1", None, reason="one class")))
    cell = SimpleNamespace(state=State.DONE, repeat=0, result=both.describe(), reason="")
    rows = _combine_cells([cell], "auc", 1.0, 0.95)
    assert [(row[0], row[6], row[7]) for row in rows] == [
        ("auc", "done", ""),
        ("f1", "skipped", "one class"),
    ]


def test_a_measure_without_a_value_is_told_in_words():
    rows = _describe_missing_rows(ReportData(audit("NNN"), ReportOptions(policy=PUBLIC)))
    assert [row[2] for row in rows] == ["not tested"]
