"""The two templates keep the contract, and a whole audit with adaptive attackers runs them."""

from __future__ import annotations

import os
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

from core import registry
from core.audit.asked.method_choice import MethodChoice
from core.audit.asked.spec import AuditSpec
from core.context import Context
from core.defenses.command import FOLDER
from core.defenses.edge_rand import EdgeRand
from core.errors import InputError
from core.registry import find_method, list_methods, load_plug_ins, make_method
from core.seeding import Seed
from core.threats import Threats
from tests.contract import test_methods as contract
from tests.inline import run_inline
from tests.oracles.graphs import GRAPHS, two_communities

HERE = Path(__file__).parent
LINE = "./anonymise.py {in} {out}"


@pytest.fixture
def install(monkeypatch, tmp_path):
    """Makes a package's entry points and modules known, as pip does, and forgets them again."""

    def write(points: dict[str, str], **modules: str) -> None:
        info = tmp_path / "own_defense-0.1.0.dist-info"
        info.mkdir(exist_ok=True)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: own-defense\nVersion: 0.1.0\n")
        lines = [f"{name} = {place}\n" for name, place in points.items()]
        (info / "entry_points.txt").write_text(f"[{registry.GROUP}]\n{''.join(lines)}")
        for name, text in modules.items():
            (tmp_path / f"{name}.py").write_text(text)
        sys.modules.pop("own_thing", None)
        load_plug_ins.cache_clear()

    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.syspath_prepend(HERE)
    yield write
    load_plug_ins.cache_clear()


@pytest.fixture
def plug_in(install):
    """The class of the template, as its pyproject.toml names it."""
    declared = tomllib.loads((HERE / "pyproject.toml").read_text())
    install(declared["project"]["entry-points"][registry.GROUP])
    return find_method("random_links", "defense")


@pytest.mark.parametrize("name", sorted(GRAPHS))
def test_class_keeps_the_contract(plug_in, name):
    contract.test_shape_determinism_and_inputs_left_unchanged(plug_in, name)


def test_class_is_listed_and_its_settings_are_read(plug_in):
    contract.test_config_round_trips_and_text_parses(plug_in)
    contract.test_a_method_that_takes_time_reports_progress_and_obeys_cancel(plug_in)
    assert list_methods("defense")[-1] is plug_in
    with pytest.raises(InputError, match="random_links: parameter 'kept'"):
        make_method("random_links", {"kept": 2})


def test_class_keeps_the_share_of_links_that_it_is_told(plug_in):
    graph = two_communities(80)
    released = plug_in(kept=0.25).publish(graph, Threats(graph), Context(Seed(1))).graph
    assert graph.contains_pairs(released.edges).all()
    assert abs(released.num_edges / graph.num_edges - 0.25) < 0.1


@pytest.mark.parametrize("text", [f"command:{LINE}", "random_links:kept=0.8"])
def test_whole_audit_with_adaptive_attackers_runs_it(plug_in, text, tmp_path, monkeypatch):
    monkeypatch.setenv(FOLDER, str(HERE))
    graph = two_communities(40)
    choice = MethodChoice.parse(text, "defense")
    fields = {
        "graph_hash": graph.content_hash,
        "private": "private",
        "known": 0.3,
        "hide_links": 0.1,
        "adaptive": True,
        "num_repeats": 2,
        "attacks": [{"key": "adamic_adar"}, {"key": "label_propagation"}],
        "defenses": [choice],
    }
    view = run_inline(AuditSpec.check_spec(fields), graph, tmp_path)
    assert not len(view.cells[view.cells.state != "done"])
    methods = ("adamic_adar@adaptive", "label_propagation@adaptive")
    for method in methods:
        found = view.estimate(choice.id, method, "auc")
        assert (found.is_known, found.seeds) == (True, 2)
    first, second = (view.load_release(choice.id, repeat) for repeat in (0, 1))
    assert first.num_edges < graph.num_edges
    assert len(first.edges) != len(second.edges) or (first.edges != second.edges).any()


def test_template_command_is_repeated_by_its_seed(monkeypatch):
    monkeypatch.setenv(FOLDER, str(HERE))
    assert os.access(HERE / "anonymise.py", os.X_OK)
    graph = two_communities(40)
    command = make_method("command", {"line": LINE}, "defense")
    made = [
        command.publish(graph, Threats(graph), Context(Seed(seed))).graph.edges
        for seed in (1, 1, 2)
    ]
    np.testing.assert_array_equal(made[0], made[1])
    assert not np.array_equal(made[0], made[2])


NO_METHOD = "class Thing:\n    pass\n"
TAKEN = "from core.defenses.edge_rand import EdgeRand as Thing\n"
UNFIT = """
from random_links import RandomLinks
class Thing(RandomLinks):
    info = RandomLinks.info.__class__(**{**vars(RandomLinks.info), "key": "thing"})
    def publish(self, graph, threats, context):
        BODY
"""


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("thing", "import nowhere_to_be_found", "plug-in 'thing' must be importable; got Module"),
        ("thing", "raise SystemExit(3)", "plug-in 'thing' must be importable; got SystemExit"),
        ("thing", NO_METHOD, "plug-in 'thing' must be a class of attack or defense"),
        ("thing", TAKEN, "plug-in 'thing' must have info with its name as key"),
        ("edge_rand", TAKEN, ""),
    ],
)
def test_class_that_is_no_method_is_named_and_harms_no_other(install, name, text, message):
    install({name: "own_thing:Thing"}, own_thing=text)
    ours = make_method("edge_rand", {"epsilon": 1}, "defense")
    assert type(ours) is EdgeRand
    if message:
        with pytest.raises(InputError, match=message) as raised:
            find_method(name, "defense")
        assert "\n" not in str(raised.value)
    else:
        assert "must not have the key of another" in str(load_plug_ins()[1][name])


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("raise ValueError('boom')", "ValueError: boom"),
        ("return 5", "defense 'Random links' must return a Release; got int"),
        (
            "return self.build_release(type(graph).from_pairs(graph.edges, 41))",
            "must keep the 40 nodes of the graph; got 41",
        ),
    ],
)
def test_class_that_fails_or_returns_rubbish_fails_with_one_line(install, body, message, tmp_path):
    install({"thing": "own_thing:Thing"}, own_thing=UNFIT.replace("BODY", body))
    graph = two_communities(40)
    fields = {
        "graph_hash": graph.content_hash,
        "hide_links": 0.1,
        "num_repeats": 1,
        "attacks": [{"key": "adamic_adar"}],
        "defenses": [{"key": "thing"}],
    }
    cells = run_inline(AuditSpec.check_spec(fields), graph, tmp_path / "home").cells
    (made,) = cells[cells.kind == "publish"].itertuples()
    assert made.state == "failed"
    assert message in made.reason
    assert "\n" not in made.reason
