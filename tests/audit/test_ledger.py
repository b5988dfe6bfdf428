"""The ledger in the store: entered before a file exists, shared by app and command line."""

from __future__ import annotations

import json
import threading

import pytest

import core.cli.main as command
from core.audit.jobs.publish import enter_publishing, publish_release
from core.audit.ledger import enter_release, list_entries
from core.audit.publishing import PublishSpec
from core.audit.spec import MethodChoice
from core.audit.store.database import Store
from core.errors import InputError
from core.privacy.ledger import compute_totals
from tests.audit.test_service import wait_for

EDGE_RAND = "edge_rand:epsilon=3"


def publish(path, *more, defense=EDGE_RAND):
    parts = ["publish", "--graph", "karate", "--defense", defense, "--out", str(path)]
    return command.main([*parts, *more])


def read_ledger(capsys):
    capsys.readouterr()
    assert command.main(["ledger", "--graph", "karate", "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_eight_runs_at_three_are_twenty_four_in_ledger_and_provenance(audit_home, tmp_path, capsys):
    for number in range(8):
        assert publish(tmp_path / f"r{number}.csv") == 0
    ledger = read_ledger(capsys)
    (total,) = ledger["totals"]
    assert (total["unit"], total["epsilon"], total["delta"]) == ("edge", 24.0, 0.0)
    assert len({entry["run"] for entry in ledger["entries"]}) == 8
    provenance = json.loads((tmp_path / "r7.provenance.json").read_text())
    assert provenance["published_so_far"]["totals"][0]["epsilon"] == 24.0
    assert "not covered" in provenance["published_so_far"]["note"]
    assert command.main(["ledger", "--graph", "karate"]) == 0
    assert "One link: ε = 24 over 8 publishing runs." in capsys.readouterr().out


def test_a_budget_of_ten_refuses_the_fourth_run_and_nothing_is_written(
    audit_home, tmp_path, capsys
):
    codes = [publish(tmp_path / f"r{n}.csv", "--budget", "10") for n in range(4)]
    assert codes == [0, 0, 0, 2]
    assert "budget of ε = 10 would be exceeded" in capsys.readouterr().err
    assert not list(tmp_path.glob("r3*"))
    assert len(read_ledger(capsys)["entries"]) == 3
    # What is refused for one unit may still be spent on another.
    assert publish(tmp_path / "r4.csv", "--budget", "10", defense="sym_rr:epsilon=3") == 0


def test_units_are_kept_apart_and_both_reports_of_a_link_count(audit_home, tmp_path, capsys):
    for number, defense in enumerate(
        [EDGE_RAND, "randomized_response:epsilon=3", "gap:epsilon=2,dimensions=8", "rw_lp"]
    ):
        assert publish(tmp_path / f"r{number}.csv", defense=defense) == 0
    ledger = read_ledger(capsys)
    totals = {t["unit"]: (t["epsilon"], t["delta"]) for t in ledger["totals"]}
    assert totals == {"edge": (5.0, 1e-5), "link": (6.0, 0.0)}
    assert [e["epsilon"] for e in ledger["entries"] if e["unit"] == "none"] == [None]


def test_a_run_is_entered_once_and_runs_at_the_same_time_see_each_other(tmp_path, graph):
    store = Store(tmp_path)
    spec = PublishSpec(graph_hash=graph.content_hash, defense=MethodChoice.parse(EDGE_RAND))
    release = publish_release(graph, spec)
    for _ in range(2):
        enter_release(store, spec.graph_hash, "run", "2026", release, None)
    (total,) = compute_totals(list_entries(store, spec.graph_hash))
    assert (total.epsilon, total.runs) == (3.0, 1)
    limited, refused = spec.model_copy(update={"budget": 12.0}), []

    def enter():
        try:
            enter_publishing(store, limited, release)
        except InputError:
            refused.append(1)

    threads = [threading.Thread(target=enter) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (total,) = compute_totals(list_entries(store, spec.graph_hash))
    assert (total.epsilon, total.runs, len(refused)) == (12.0, 4, 3)
    assert list_entries(store, "another graph") == ()
    store.close()


def test_runs_of_the_app_share_the_ledger_and_obey_its_budget(service, graph):
    spec = PublishSpec(
        graph_hash=graph.content_hash, defense=MethodChoice.parse(EDGE_RAND), budget=4.0
    )
    runs = []
    for _ in range(2):
        run_id = service.start_publish(spec)
        wait_for(lambda run_id=run_id: not service.get_publish(run_id).is_active)
        runs.append(service.get_publish(run_id))
    assert runs[0].release is not None
    assert runs[0].provenance["published_so_far"]["totals"][0]["epsilon"] == 3.0
    assert (runs[1].state, runs[1].release) == ("failed", None)
    assert "would be exceeded" in runs[1].reason
    service.get_publish(runs[0].id)  # a second download
    entries = list_entries(service._store, graph.content_hash)
    assert [entry.run for entry in entries] == [runs[0].id]


@pytest.mark.parametrize("budget", ["0", "-1", "x"])
def test_a_budget_is_a_number_above_zero(audit_home, tmp_path, capsys, budget):
    assert publish(tmp_path / "r.csv", "--budget", budget) == 2
    assert "budget" in capsys.readouterr().err
