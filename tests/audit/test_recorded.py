"""The same spec gives the same bytes: an audit recorded once comes out again, digit by digit.

Where a change of results is wanted, its commit says so and replaces the rows here.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.audit.asked.spec import AuditSpec
from core.audit.results.export import describe_audit
from core.data.catalogue import load_dataset
from tests.benchmarks.same_results import compare_results
from tests.inline import run_inline

RECORDED = json.loads((Path(__file__).parent / "recorded_social.json").read_text())
RTOL = 1e-9
"""Of what is counted or added up in float64: another processor may add in another order."""

TRAINED = {
    "link_prediction_auc": 1e-3,
    "pair_embedding_cosine_visible": 5e-3,
    "pair_embedding_cosine_hidden": 5e-3,
    "pair_embedding_cosine_absent": 5e-3,
}
"""Of what an auto-encoder trained in float32 says: sums of 1e-7 relative error, added by as many
threads as are free, part over 200 epochs. Measured with one and two threads on two processors: at
most 6.5e-5 in a value and 2.8e-4 in the end of an interval; with another order of summation in
sparse products 3.5e-3 in the end of an interval; another seed moves the AUC by .02."""


def _list_rows() -> list[dict[str, object]]:
    return [
        {
            "release": release,
            "method": method,
            "metric": metric,
            **dict(zip(RECORDED["fields"], facts, strict=True)),
        }
        for release, methods in RECORDED["rows"].items()
        for method, metrics in methods.items()
        for metric, facts in metrics.items()
    ]


@pytest.mark.slow
def test_a_recorded_audit_comes_out_again(tmp_path: Path) -> None:
    spec = AuditSpec.check_spec(RECORDED["spec"])
    graph = load_dataset("social").graph
    assert graph.content_hash == spec.graph_hash
    found = describe_audit(run_inline(spec, graph, tmp_path))["results"]
    assert compare_results(_list_rows(), found, RTOL, TRAINED) == []


def test_a_real_change_of_a_trained_result_is_seen() -> None:
    rows = _list_rows()
    for metric, tolerance in TRAINED.items():
        place = next(i for i, row in enumerate(rows) if row["metric"] == metric)
        for shift, is_same in ((tolerance / 2, True), (2 * tolerance, False)):
            moved = {**rows[place], "value": rows[place]["value"] + shift}
            others = [*rows[:place], moved, *rows[place + 1 :]]
            assert (compare_results(rows, others, RTOL, TRAINED) == []) is is_same
    exact = next(i for i, row in enumerate(rows) if row["metric"] == "auc")
    moved = {**rows[exact], "value": rows[exact]["value"] + 1e-6}
    assert compare_results(rows, [*rows[:exact], moved, *rows[exact + 1 :]], RTOL, TRAINED)


def test_every_kind_of_difference_is_named() -> None:
    row = {
        **dict.fromkeys(("value", "low", "high"), 0.5),
        **{"n": 7, "seeds": 2, "status": "done", "reason": ""},
        **{"release": "original", "method": "jaccard", "metric": "auc"},
    }
    plain = {**row, "threat": "link", "target": "", "knowledge": "standard"}
    assert compare_results([row], [plain]) == []
    assert compare_results([row], [{**plain, "value": 0.5 + 1e-15}], rtol=1e-9) == []
    assert compare_results([row], [{**plain, "value": 0.5 + 1e-15}])[0].startswith("changed")
    assert compare_results([row], [{**plain, "n": 8}]) == ["changed: original jaccard auc: n 7 → 8"]
    assert compare_results([row], []) == ["missing: original jaccard auc"]
    adaptive = {**plain, "knowledge": "adaptive"}
    assert compare_results([row], [plain, adaptive]) == ["new: original jaccard auc adaptive"]
