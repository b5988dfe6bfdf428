"""Wrong command lines: one line that names the first real mistake and the nearest valid word."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import core.cli.main as command

PUBLISH = "publish --graph karate"
AUDIT = "audit --graph karate"

WRONG = {
    # a missing --out hides nothing
    "publish --graph karate --defense edge_rand": "needs --out; see:",
    "audit --graph karate --hide-links 0.1": "needs --out; see:",
    f"{PUBLISH} --defense edge_rnd": "defense must be a known key; got edge_rnd; did you mean 'edg",
    f"{PUBLISH} --defense edge_rand:epsilon=0": "'epsilon' must be greater than 0; got 0",
    f"{PUBLISH} --defense edge_rand --private lable": "column must be.*got lable.*mean 'label'",
    f"{PUBLISH} --defense edge_rand --utility lable": "column must be.*got lable.*mean 'label'",
    "publish --graph karat --defense edge_rand": "graph must be.*got karat; did you mean 'karate'",
    f"{AUDIT} --attack comon_neighbors": "got comon_neighbors; did you mean 'common_neighbors'",
    f"{AUDIT} --private lable --private label": "column must be.*got lable.*mean 'label'",
    f"{AUDIT} --private label --private lable": "column must be.*got lable.*mean 'label'",
    f"{AUDIT} --atack common_neighbors": "no such option; got --atack; did you mean '--attack'",
    # an unknown column is told before what its absence entails
    f"{AUDIT} --private lable --attack common_neighbors --out OUT": "got lable; did you mean 'labe",
    f"{AUDIT} --attack common_neighbors --private label --out OUT": "needs withheld links; use --h",
    f"{AUDIT} --attack label_propagation --hide-links 0.1 --out OUT": "needs a private column; use",
    # numbers
    f"{PUBLISH} --defense edge_rand:epsilon=nan --out OUT.csv": "'epsilon' must be a number; got n",
    f"{PUBLISH} --defense edge_rand:epsilon=x --out OUT.csv": "'epsilon' must be a valid n",
    f"{AUDIT} --private label --known nan --out OUT": "--known must be a number; got nan",
    f"{AUDIT} --private label --known x --out OUT": "--known must be a number; got x; see",
    f"{AUDIT} --hide-links nan --out OUT": "--hide-links must be a number; got nan",
    f"{PUBLISH} --defense edge_rand --budget nan --out OUT.csv": "budget must be EPS or EPS,DELTA",
    f"{PUBLISH} --defense edge_rand --budget 1,1 --out OUT.csv": "budget must be EPS or EPS,DELTA",
    # words
    "pubish --graph karate": "COMMAND must be one of .*got pubish; did you mean 'publish'",
    f"{PUBLISH} --defence edge_rand": "no such option; got --defence; did you mean '--defense'",
    f"{PUBLISH} --defense=edge_rand:epsilo=1 --out OUT.csv": "'epsilo' is not known.*mean 'epsilon",
    f"{PUBLISH} --defense edge_rand:epsilon --out OUT.csv": "must be written name=value; got epsil",
    f"{PUBLISH} --defense common_neighbors --out OUT.csv": "must not be of the kind link",
    f"{PUBLISH} --defense xyz --out OUT.csv": "defense must be a known key; got xyz; known: pseudo",
    f"{AUDIT} karate --private label --out OUT": "takes no such word; got karate; see:",
    f"{AUDIT} --private label --publisher-knows noen --out OUT": "must be one of.*mean 'none'",
    f"{PUBLISH} --defense edge_rand --out OUT.xls": "output file must end in .csv",
    f"{PUBLISH} --out OUT.csv": "publish needs either --defense or --statistics",
    f"{PUBLISH} --defense edge_rand --pseudonyms kyed:s --out OUT.csv": "or be keyed:FILE",
    f"{PUBLISH} --defense edge_rand --domain clinic --out OUT.csv": "is for keyed pseudonyms only",
    f"{AUDIT} --repeats 2.5 --out OUT": "--repeats must be a whole number; got 2.5; see",
    f"{AUDIT} --hide-links 0.1 --check-claims 10 --out OUT": "of trials must be 40 to 100,000; got",
    "doctor --restor": "--restore needs one value; see",
}


@pytest.mark.parametrize("line", WRONG)
def test_a_wrong_command_line_is_one_line_on_its_first_mistake(line, audit_home, tmp_path, capsys):
    words = [word.replace("OUT", str(tmp_path / "out")) for word in line.split()]
    assert command.main(words) == 2
    captured = capsys.readouterr()
    (*notes, told) = captured.err.splitlines()
    assert told.startswith("error: ")
    assert not any(note.startswith("error") for note in notes)
    assert len(told) < 300 or "known: " in told
    assert re.search(WRONG[line], told), told
    assert not list(tmp_path.glob("out*"))


def test_thirty_lines_are_tried():
    assert len(WRONG) >= 30


def test_help_says_that_out_is_needed(capsys):
    with pytest.raises(SystemExit):
        command.main(["publish", "--help"])
    assert "[--out" not in capsys.readouterr().out


def test_a_name_in_utf_8_is_read_in_a_locale_without_it(tmp_path):
    links = tmp_path / "gr\u00e4ph.csv"
    links.write_text("source,target\na,b\nb,c\n")
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    environment["AUDIT_HOME"] = str(tmp_path / "home")
    parts = ["ledger", "--graph", str(links)]
    done = subprocess.run(
        [sys.executable, "-m", "core", *parts],
        cwd=Path(__file__).parents[2],
        env=environment,
        capture_output=True,
    )
    assert (done.returncode, b"nothing of this graph" in done.stdout) == (0, True), done.stderr
