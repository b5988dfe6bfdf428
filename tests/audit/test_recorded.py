"""The same spec gives the same bytes: an audit recorded once comes out again, digit by digit.

Where a change of results is wanted, its commit says so and replaces the rows here.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.audit.export import describe_audit
from core.audit.run import run_inline
from core.audit.spec import AuditSpec
from core.data.catalogue import load_dataset
from tests.benchmarks.same_results import compare_results

RECORDED = json.loads((Path(__file__).parent / "recorded_social.json").read_text())
RTOL = 1e-9
"""Another processor may add in another order."""


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
    assert compare_results(_list_rows(), found, RTOL) == []


def test_every_kind_of_difference_is_named() -> None:
    row = {
        **dict.fromkeys(("value", "low", "high"), 0.5),
        **{"n": 7, "seeds": 2, "status": "done", "reason": ""},
        **{"release": "original", "method": "jaccard", "metric": "auc"},
    }
    plain = {**row, "threat": "link", "target": "", "knowledge": "unaware"}
    assert compare_results([row], [plain]) == []
    assert compare_results([row], [{**plain, "value": 0.5 + 1e-15}], rtol=1e-9) == []
    assert compare_results([row], [{**plain, "value": 0.5 + 1e-15}])[0].startswith("changed")
    assert compare_results([row], [{**plain, "n": 8}]) == ["changed: original jaccard auc: n 7 → 8"]
    assert compare_results([row], []) == ["missing: original jaccard auc"]
    adaptive = {**plain, "knowledge": "aware"}
    assert compare_results([row], [plain, adaptive]) == ["new: original jaccard auc aware"]
