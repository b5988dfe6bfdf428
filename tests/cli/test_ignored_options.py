"""No option on reading is passed over in silence: it is heard, or refused with what to do."""

from __future__ import annotations

import csv

import pytest

from core import load_graph
from core.cli.main import main
from core.data import readers
from core.errors import InputError

LINKS = "source,target,amount\nann,bo,2\nbo,cy,3\ncy,di,1\ndi,ann,4\n"
NODES = 'id,"c,o",income,none\nann,x,1,u\nbo,y,2,v\ncy,x,3,u\ndi,y,4,v\n'
GRAPHML = """<graphml><key id="a" for="node" attr.name="weight" attr.type="double"/>
<key id="b" for="edge" attr.name="weight" attr.type="double"/><graph edgedefault="undirected">
<node id="x"><data key="a">61</data></node><node id="y"><data key="a">70</data></node>
<node id="z"><data key="a">82</data></node>
<edge source="x" target="y"><data key="b">2</data></edge>
<edge source="y" target="z"><data key="b">3</data></edge></graph></graphml>"""


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.setenv("AUDIT_HOME", str(tmp_path / "home"))
    (tmp_path / "l.csv").write_text(LINKS)
    (tmp_path / "n.csv").write_text(NODES)
    return [str(tmp_path / "l.csv"), "--nodes", str(tmp_path / "n.csv"), "--id", "id"]


@pytest.mark.parametrize(
    "option",
    [
        "--ignore label",
        "--id node",
        "--source from",
        "--separator tab",
        "--nodes-header no",
        "--merge sum",
        "--unknown -1",
        "--weight none",
        "--add-undeclared-nodes",
    ],
)
def test_the_catalogue_takes_no_option_on_reading(option, capsys):
    assert main(["inspect", "karate", *option.replace(" ", "=").split()]) == 2
    flag = option.split()[0]
    assert f"{flag} is for a file, not for a graph of the catalogue" in capsys.readouterr().err


def test_columns_of_the_catalogue_are_shown(capsys):
    assert main(["inspect", "karate"]) == 0
    assert "nodes  label   attribute  class" in capsys.readouterr().out


def test_a_column_to_ignore_must_be_there(files, capsys):
    assert main(["inspect", *files, "--ignore", "amount,incomes"]) == 2
    said = capsys.readouterr().err
    assert "column to ignore must be in the data; got incomes; did you mean 'income'?" in said
    for ignore in ("incomes", ["amount", "incomes"]):
        with pytest.raises(InputError, match="did you mean 'income'"):
            load_graph(files[0], nodes_path=files[2], ignore=ignore)
    graph = load_graph(files[0], nodes_path=files[2], ignore="income, amount")
    assert (list(graph.columns), graph.link_table) == (["c,o", "none"], None)
    bare = files[0].replace("l.csv", "bare.csv")
    with open(bare, "w") as file:
        file.write(LINKS.partition("\n")[2])
    assert load_graph(bare, ignore="3").weights is None  # as such columns are numbered
    assert readers.load_graph(files[0], ignore="incomes").report.unheard == ["incomes"]


def test_a_comma_in_a_name_is_part_of_it(files, tmp_path, capsys):
    assert main(["inspect", *files, "--ignore", "c,o"]) == 0
    assert "nodes  c,o     left out" in capsys.readouterr().out
    asked = ["publish", "--graph", *files, "--defense", "random_deletion:strength=0.1"]
    asked += ["--publish-columns", "c,o", "--out", str(tmp_path / "r.csv")]
    assert main(asked) == 0
    with (tmp_path / "r.nodes.csv").open(newline="") as file:
        assert next(csv.reader(file)) == ["id", "c,o"]


def test_none_is_refused_where_it_is_a_column(files, tmp_path, capsys):
    asked = ["publish", "--graph", *files, "--defense", "random_deletion:strength=0.1"]
    asked += ["--publish-columns", "none", "--out", str(tmp_path / "r.csv")]
    assert main(asked) == 2
    assert "which is the name of a column here; leave that column" in capsys.readouterr().err
    assert not (tmp_path / "r.csv").exists()
    assert main([*asked, "--ignore", "none"]) == 0


def test_a_weight_of_a_graph_file_is_ignored_too(tmp_path):
    path = tmp_path / "g.graphml"
    path.write_text(GRAPHML)
    graph = load_graph(path, ignore="weight")
    assert (graph.weights, graph.link_table, list(graph.columns)) == (None, None, [])
    assert load_graph(path).weights.tolist() == [2, 3]
