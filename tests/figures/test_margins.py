"""Margins of an audit that ran: the boxes hold what a loop over its cells gives."""

from __future__ import annotations

import numpy as np
import pytest

from core.audit.asked.method_choice import MethodChoice
from core.audit.asked.spec import AuditSpec
from core.audit.jobs.cells import load_threats
from core.audit.store import files
from core.audit.store.database import Store
from core.figures.margin_boxes import margin_boxes
from core.findings.margins import answer_margins, compute_margin_table, list_margin_attacks
from core.findings.numbers import format_number
from core.report.document import build_content
from core.report.options import ReportOptions
from tests.inline import run_inline
from tests.oracles.graphs import two_communities

DEFENSE = MethodChoice(key="random_deletion", config={"strength": 0.8})


@pytest.fixture(scope="module")
def audit(tmp_path_factory):
    graph = two_communities()
    spec = AuditSpec(
        graph_name="g",
        graph_hash=graph.content_hash,
        private="private",
        utility="label",
        known=0.3,
        num_repeats=2,
        defenses=(DEFENSE,),
        attacks=(MethodChoice(key="class_prior"), MethodChoice(key="label_propagation")),
    )
    store = Store(tmp_path_factory.mktemp("home"))
    yield run_inline(spec, graph, store.home, store=store), store
    store.close()


def read_margins_naively(view, store, release, attack):
    found = []
    rows = store.list_cells(view.summary.id)
    for cell in sorted(rows, key=lambda row: row.repeat):
        if (cell.release, cell.method, cell.kind) != (release, attack, "attack"):
            continue
        values = files.load_cell(store.home, cell.key)["scores"]
        threat = load_threats(store.home, view.spec, cell.repeat).attribute
        for node in range(len(values)):
            code = threat.attribute.codes[node]
            if code >= 0 and not threat.known[node]:
                rest = max(value for c, value in enumerate(values[node]) if c != code)
                found.append(values[node, code] - rest)
    return np.array(found)


def test_the_table_holds_quantiles_and_shares_of_all_hidden_nodes(audit):
    view, store = audit
    releases = ["original", DEFENSE.id]
    table = compute_margin_table(view, "label_propagation", releases)
    assert list(table.what) == ["private"] * 2 + ["label"] * 2
    sizes = compute_margin_table(view, "label_propagation", releases, absolute=True)
    for row, size in zip(
        table[table.what == "private"].itertuples(), sizes.itertuples(), strict=False
    ):
        margins = read_margins_naively(view, store, row.release, "label_propagation")
        assert row.n == len(margins) > 0
        assert row.median == pytest.approx(np.median(margins))
        assert row.mean == pytest.approx(np.mean(margins))
        assert row.below_zero == pytest.approx(np.mean([m < 0 for m in margins]))
        assert size.median == pytest.approx(np.median(abs(margins)))
        assert row.mean_absolute == size.mean == pytest.approx(np.mean(abs(margins)))


def test_the_labels_margins_agree_with_its_accuracy(audit):
    view, _ = audit
    margins = view.load_margins("original", None)
    accuracy = view.estimate("original", "release", "node_classification_f1").value
    assert (margins > 0).mean() == pytest.approx(accuracy, abs=0.02)


def test_the_boxes_draw_the_table_and_null_attackers_come_last(audit):
    view, _ = audit
    assert list_margin_attacks(view) == ["label_propagation", "class_prior"]
    chart = margin_boxes(view, "label_propagation", ["original", DEFENSE.id])
    drawn = [(box.q1[0], box.median[0], box.q3[0]) for box in chart.figure.data]
    np.testing.assert_allclose(drawn, chart.table[["q1", "median", "q3"]])
    assert f"{chart.table.n.max():,} hidden nodes over 2 repeats" in chart.note


def test_the_sentence_states_both_releases_with_intervals(audit):
    view, _ = audit
    text = answer_margins(view.results, "label_propagation", ["original", DEFENSE.id])
    value = view.estimate("original", "label_propagation", "margin_absolute").value
    assert f"{value:.2f} [" in text
    assert "on the original" in text
    assert "on Random" in text
    baseline = view.estimate("original", "class_prior", "margin_absolute").value
    assert f"alone, one is {format_number(baseline)}" in text
    assert "alone" not in answer_margins(view.results, "class_prior", ["original"])


def test_nothing_is_drawn_for_an_attack_that_did_not_run(audit):
    view, _ = audit
    chart = margin_boxes(view, "gcn", ["nowhere"])
    assert chart.is_empty
    assert "run the audit again" in chart.figure.layout.annotations[0].text


def test_the_report_states_the_margins_of_the_surest_attack_on_the_original(audit):
    view, _ = audit
    content, _images = build_content(view, ReportOptions(sections=("homophily",)))
    tables = [
        block
        for section in content["sections"]
        for block in section["blocks"]
        if block["kind"] == "table" and "Margins" in block["caption"]
    ]
    (table,) = tables
    assert "Label propagation" in table["caption"]
    estimate = view.estimate("original", "label_propagation", "margin_absolute")
    cells = table["rows"][0]
    assert cells[0] == "Original"
    assert f"{estimate.value:.2f} [{estimate.low:.2f}, {estimate.high:.2f}]" in cells
    assert len(table["rows"]) == 2
