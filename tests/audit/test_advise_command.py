"""The command `advise`: its words and links are those of the advice that it writes."""

from __future__ import annotations

import core.cli.main as command
from core.audit.computing.advice import Advice
from core.data.catalogue import load_dataset
from core.findings.advice import describe_advice
from core.models.flips import link_effects

KARATE = ["advise", "--graph", "karate", "--private", "label", "--node"]


def test_advice_is_printed_and_written(audit_home, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(link_effects, "EPOCHS", 30)
    path = tmp_path / "advice.json"
    code = command.main(
        [*KARATE, "34", "--known", "0.3", "--links", "2", "--repeats", "2", "--out", str(path)]
    )
    captured = capsys.readouterr()
    assert code == 0, captured.err
    advice = Advice.model_validate_json(path.read_text())
    lines = captured.out.splitlines()
    assert lines[0] == describe_advice(advice)
    names = [tuple(line.split("\t")) for line in lines[1 : 1 + len(advice.links)]]
    graph = load_dataset("karate").graph
    links = {frozenset((graph.node_ids[i], graph.node_ids[j])) for i, j in graph.edges}
    assert names
    assert {frozenset(pair) for pair in names} <= links


def test_bad_input_is_one_line(audit_home, capsys):
    for arguments, word in (
        ([*KARATE, "nobody"], "nobody"),
        ([*KARATE, "34", "--links", "0"], "--links"),
        ([*KARATE, "34", "--repeats", "1"], "--repeats"),
        ([*KARATE, "34", "--out", "/dev/null/advice.json"], "output folder"),
        ([*KARATE, "34", "--attack", "common_neighbors"], "common_neighbors"),
        (["advise", "--graph", "karate", "--node", "34"], "--private"),
    ):
        assert command.main(arguments) == 2
        err = capsys.readouterr().err
        assert len(err.splitlines()) == 1
        assert err.startswith("error: ")
        assert word in err
