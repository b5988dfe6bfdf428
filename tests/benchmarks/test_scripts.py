"""Every script of benchmarks and pictures can be imported, and prints finite figures.

Those of benchmarks run on tiny graphs, which takes less than four CPU seconds each; longer ones
only nightly. What needs a browser, an older commit or other projects' files is imported only.
"""

from __future__ import annotations

import importlib
import runpy
import sys
from pathlib import Path

import pytest

from tests.benchmarks.finite import print_finite

TESTS = Path(__file__).parents[1]
SCRIPTS = [
    ".".join(("tests", folder, path.stem))
    for folder in ("benchmarks", "browser", "reliability")
    for path in sorted((TESTS / folder).glob("*.py"))
    if not path.stem.startswith(("test_", "__"))
]

TINY = {
    "adaptive_attacks": "karate --splits 1 --only random_deletion --attacks degree_product",
    "attribute_attackers": "--graphs noise --splits 0 --releases original --attacks class_prior",
    "blink_ablation": "--dataset karate --epsilons 2",
    "blink_cora": "--dataset social --trials 1 --epsilons 4 --methods hard",
    "claim_checks": "--trials 40 --methods edge_rand",
    "costs": "profile tests/audit/recorded_costs.csv --only nba",
    "exposed_counts": "--classes 6 --people 200 --degree 5 --splits 1 --attacks class_prior",
    "fingerprints_scale": "1000 5000",
    "fresh_attackers": "--splits 0,1 --releases original --attacks label_propagation",
    "ghratio_scale": "1000 5000",
    "gpu": "methods --nodes 300,400 --steps 2 --attacks gae_cosine",
    "gps_defense_nba": "--seeds 0 --defenses random --strengths 0-0 --attacks class_prior",
    "gps_layers": "--backbones sage --splits 2 --starts 1 --epochs 2 --only plain",
    "gps_nba": "--splits 1 --tables 1 --only label_propagation",
    "gps_scale": "--nodes 1000 --epochs 1",
    "identity": "--graphs karate --repeats 1 --tables uniqueness",
    "link_floor": "karate --splits 0",
    "link_attackers": "--graphs households --splits 0 --attacks pair_classifier --only-own",
    "link_attacks_cora": "--graph karate --splits 1 --only katz",
    "link_attacks_scale": "heuristics",
    "link_values": "--people 200 --links 1000",
    "map_scale": "500 2000",
    "million": "{tmp}/links.csv --nodes 1000 --links 5000",
    "node_private": "--repeats 1 --mechanisms dp_1k --epsilons 1",
    "pair_columns": "--graph karate --defense random_deletion --splits 0",
    "ppgsl_cora": "--graph karate --splits 1 --only original",
    "ppgsl_scale": "200 --steps 2",
    "ppgsl_settings": "--graph social --splits 1 --only original",
    "privdpr": "--datasets karate --methods dpr --epsilons 1",
    "swap_attacker": "karate --splits 1",
}
"""Script → what it is called with."""

LONGER = {
    "control": "--graphs nba --repeats 1",
    "costs": "record {tmp}/rows.csv --only karate --budget 1",
    "estimates": "--graphs karate",
    "first_look": "--graphs karate --repeats 1",
    "gpu": "audit --graph karate --preset quick --limit 120",
    "mmd_scale": "--kept 0.5 --repeats 1",
    "netfense_cora": "--splits 1 --targets 2 --starts 1 --columns told --methods linear",
    "pair_profile": "",
    "ppgsl_robustness": "--splits 2",
    "questions": "",
    "search_grid": "karate --policies internal --defenses random_deletion --steps 2",
    "side_by_side": "--nodes 1000 --links 5000",
    "transfer": "--graphs noise:private --known 0",
}
NEEDS_DATA = ("control", "gps_defense_nba", "gps_layers", "gps_nba", "mmd_scale", "netfense_cora")
NEEDS_DATA += ("node_private", "pair_profile", "ppgsl_robustness")

IMPORTED_ONLY = {
    "audit_speed": "an older commit",
    "cluster_links": "a quiet machine",
    "finished_example": "ten minutes",
    "finite": "no script",
    "gallery": "a browser",
    "map_page": "a browser",
    "outside_attacker": "no script",
    "page_switch": "a finished audit",
    "pgb": "results of `core benchmark pgb`",
    "same_results": "two audits; its own test compares some",
    "wordless": "a browser",
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_finds_what_it_imports(name):
    assert importlib.import_module(name).__doc__


def test_every_benchmark_runs_somewhere():
    stems = {name.rpartition(".")[2] for name in SCRIPTS if ".benchmarks." in name}
    assert stems == {*TINY, *LONGER, *IMPORTED_ONLY}


def call(name: str, words: str, monkeypatch, tmp_path, request) -> None:
    """Run a script as the command line does, in this process."""
    if name in NEEDS_DATA:
        monkeypatch.setenv("AUDIT_DATA", str(request.getfixturevalue("data_root")))
    argv = [name, *(word.replace("{tmp}", str(tmp_path)) for word in words.split())]
    monkeypatch.setattr(sys, "argv", argv)
    monkeypatch.setenv("AUDIT_DEVICE", "cpu")
    monkeypatch.delitem(sys.modules, f"tests.benchmarks.{name}", raising=False)
    before = list_constants()
    runpy.run_module(f"tests.benchmarks.{name}", run_name="__main__")
    after = list_constants()
    changed = [name for name in before if after.get(name) != before[name]]
    assert not changed, "the next script would run with them"


def list_constants() -> dict[str, str]:
    """What the constants of core's modules hold."""
    return {
        f"{name}.{key}": repr(value)
        for name, module in sorted(sys.modules.items())
        if name.startswith("core.")
        for key, value in vars(module).items()
        if key.isupper() and isinstance(value, bool | int | float | str | tuple | list | dict | set)
    }


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", TINY)
def test_a_script_prints_finite_figures(name, monkeypatch, tmp_path, audit_home, request):
    call(name, TINY[name], monkeypatch, tmp_path, request)
    if name == "million":
        call(name, f"{tmp_path}/links.csv --measure", monkeypatch, tmp_path, request)


@pytest.mark.nightly
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", LONGER)
def test_a_longer_script_prints_finite_figures(name, monkeypatch, tmp_path, audit_home, request):
    call(name, LONGER[name], monkeypatch, tmp_path, request)


@pytest.mark.parametrize(
    ("printed", "reason"),
    [("AUC nan", "not a finite figure: AUC nan"), ("3.0 s, -inf", "not a finite"), ("", "no fig")],
)
def test_a_script_that_finds_nothing_fails(printed, reason, capsys):
    with pytest.raises(SystemExit, match=reason):
        print_finite(lambda: print(f"  {printed}  "))
    assert printed in capsys.readouterr().out
    print_finite(print, "attri_infer on Nantes: .500 ± .010")
    with pytest.raises(SystemExit, match="2"):
        print_finite(lambda: print(1) or 2)


def test_first_look_reads_what_an_audit_prints_of_its_progress(capsys, monkeypatch):
    """It looked for "cells" where the meter had come to say "parts", and printed nan."""
    from core.cli.audit import _show_on_terminal
    from tests.benchmarks.first_look import PROGRESS, Timed

    show = _show_on_terminal()
    show(0, 12, "starting")
    show(3, 12, "Katz on the original")
    lines = capsys.readouterr().err.replace("\r", "\n").splitlines()
    timed = Timed()
    for at, line in enumerate(lines):
        if found := PROGRESS.match(line):
            timed.cells.setdefault(int(found[1]), float(at))
    assert timed.find_first(0) >= 0
    with pytest.raises(SystemExit, match="no progress of 9 parts"):
        timed.find_first(9)
