"""Attacks made of others take what their members' own cells left, and lose nothing by it."""

from __future__ import annotations

import pytest

from core.attacks.attribute.attri_infer import AttriInfer
from core.attacks.attribute.com_infer import ComInfer
from core.attacks.attribute.label_propagation import LabelPropagation
from core.audit.computing.plan import plan_audit
from core.audit.computing.prepared import PreparedAudit
from core.audit.jobs import cells
from tests.inline import run_inline

MEMBERS = ("label_propagation", "attri_infer", "com_infer")
WHOLE = [
    {"key": "ensemble", "config": {"members": "+".join(MEMBERS)}},
    {"key": "best_single", "config": {"members": "+".join(MEMBERS)}},
]
ALONE = [{"key": key} for key in MEMBERS]


@pytest.fixture(scope="module")
def run(make_spec, graph, tmp_path_factory):
    """Runs the given attacks in a home of their own; counts how often members are run."""

    def run(attacks, **fields):
        spec = make_spec(attacks=attacks, hide_links=None, **fields)
        calls: list[str] = []
        cells._shared.clear()
        with pytest.MonkeyPatch.context() as patch:
            for member in (LabelPropagation, AttriInfer, ComInfer):
                patch.setattr(member, "infer", _count(member, calls))
            view = run_inline(spec, graph, tmp_path_factory.mktemp("home"))
        rows = view.results[view.results["method"].str.startswith(("ensemble", "best"))]
        assert set(rows.loc[rows["metric"] == "auc", "status"]) == {"done"}
        return rows.reset_index(drop=True), calls

    return run


def _count(member, calls):
    infer = member.infer

    def counted(self, release, threat, context):
        calls.append(self.info.key)
        return infer(self, release, threat, context)

    return counted


@pytest.mark.parametrize("fields", [{}, {"auxiliary_known": [0.5]}])
def test_results_are_the_same_whether_the_members_are_in_the_audit_or_not(run, fields):
    with_members, calls = run([*WHOLE, *ALONE], **fields)
    without, more = run(WHOLE, **fields)
    names = ["release", "method", "metric", "value", "low", "high", "n"]
    assert with_members[names].equals(without[names])
    num_cells = len(with_members[["release", "method"]].drop_duplicates()) // 2
    # Each once for its own cell; the one that has no search of its own on three parts as well,
    # for both attacks together.
    assert calls.count("label_propagation") == calls.count("attri_infer") == num_cells
    assert calls.count("com_infer") == 4 * num_cells
    assert more.count("label_propagation") == 2 * num_cells


def test_members_come_first_and_renew_what_they_are_part_of(make_spec, graph, monkeypatch):
    spec = make_spec(attacks=[*WHOLE, *ALONE])
    planned = plan_audit(PreparedAudit.build(spec, graph))
    place = {cell.key: number for number, cell in enumerate(planned)}
    made = [cell for cell in planned if cell.members]
    assert len(made) == 4
    for cell in made:
        assert [planned[place[key]].method for key in cell.members] == list(MEMBERS)
        assert all(place[key] < place[cell.key] for key in cell.members)
        assert {planned[place[key]].release for key in cell.members} == {cell.release}
    info = AttriInfer.info
    newer = type(info)(**{**vars(info), "version": info.version + 1})
    monkeypatch.setattr(AttriInfer, "info", newer)
    renewed = {
        cell.label for cell in plan_audit(PreparedAudit.build(spec, graph)) if cell.key not in place
    }
    assert renewed == {
        cell.label for cell in planned if cell.members or cell.method == "attri_infer"
    }


def test_one_who_knows_the_defense_starts_from_what_the_same_attack_says_to_others(
    make_spec, graph
):
    planned = plan_audit(
        PreparedAudit.build(make_spec(attacks=[*WHOLE, *ALONE], adaptive=True), graph)
    )
    place = {cell.key: number for number, cell in enumerate(planned)}
    adaptive = [cell for cell in planned if cell.method.endswith("@adaptive")]
    assert len(adaptive) == 2 * len([*WHOLE, *ALONE])
    for cell in adaptive:
        (key,) = (cell.same_as,) if cell.release == "original" else cell.members
        own = planned[place[key]]
        assert own.method == cell.method.removesuffix("@adaptive")
        assert (own.release, own.repeat) == (cell.release, cell.repeat)
        assert place[key] < place[cell.key]


def test_on_a_replay_each_attack_runs_once_however_many_are_made_of_it(run):
    _, calls = run([*WHOLE, *ALONE], adaptive=True)
    _, blind = run([*WHOLE, *ALONE])
    # Once each, and on three parts more where it has no search of its own.
    assert calls.count("attri_infer") == blind.count("attri_infer") + 1
    assert calls.count("label_propagation") == blind.count("label_propagation") + 1
    assert calls.count("com_infer") == blind.count("com_infer") + 4


@pytest.mark.xdist_group("audit cluster")
def test_workers_wait_for_the_members_and_find_the_same(service, run, make_spec):
    spec = make_spec(attacks=[*WHOLE, *ALONE], hide_links=None)
    audit_id = service.start_audit(spec)
    assert service.wait(audit_id, timeout=120)
    view = service.get_view(audit_id)
    rows = view.results[view.results["method"].str.startswith(("ensemble", "best"))]
    inline, _ = run([*WHOLE, *ALONE])
    names = ["release", "method", "metric", "value", "low", "high", "n"]
    assert rows[names].reset_index(drop=True).equals(inline[names])
