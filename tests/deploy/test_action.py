"""GitHub's action and GitLab's example: their steps run here, as far as they can without either."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from core.report.gate import write_gate
from tests.report.test_gate import make_view
from tests.test_readme import write_tables

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".github" / "actions" / "graph-audit"
ACTION = yaml.safe_load((FOLDER / "action.yml").read_text())
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"] if "name" in step}
JUDGE = "relationships.txt\nanonymised.csv\n\n--attack\ncommon_neighbors\n"
bash = pytest.mark.skipif(shutil.which("bash") is None, reason="no bash here")


def run_step(name, folder, arguments, **more):
    """As a runner does: inputs by the step's environment, stopped at the first error."""
    given = {key: item.get("default", "") for key, item in ACTION["inputs"].items()}
    given |= {"arguments": arguments}
    values = {
        key: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda found: given[found[1]], text)
        for key, text in STEPS[name]["env"].items()
    }
    script = folder / "step.sh"
    script.write_text(STEPS[name]["run"])
    return run_script(script, {**values, **more})


def run_script(script, more):
    """By bash in its folder, stopped at the first error."""
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", script],
        env={**os.environ, **more},
        cwd=script.parent,
        capture_output=True,
        text=True,
        timeout=300,
    )


def put_program(folder, name, line):
    """A program of this name in front of all others; the value of PATH."""
    (folder / "bin").mkdir(exist_ok=True)
    program = folder / "bin" / name
    program.write_text(f"#!/bin/sh\n{line}\n")
    program.chmod(0o755)
    return f"{folder / 'bin'}:{os.environ['PATH']}"


def test_the_action_is_a_composite_one_and_no_input_is_part_of_a_script():
    assert ACTION["runs"]["using"] == "composite"
    assert {"command", "arguments", "policy", "out", "upload-sarif"} == set(ACTION["inputs"])
    for step in STEPS.values():
        assert step["shell"] == "bash"
        assert "${{" not in step["run"]
    where = STEPS["Install"]["run"].rpartition("$GITHUB_ACTION_PATH/")[2].strip('"\n')
    assert (FOLDER / where).resolve() == ROOT
    assert (ROOT / "pyproject.toml").is_file()


@bash
def test_arguments_are_words_and_the_exit_code_is_the_commands(tmp_path):
    path = put_program(tmp_path, "graph-audit", 'printf "%s\\n" "$@"; exit 3')
    done = run_step(
        "Audit", tmp_path, "a b.csv\n$(touch x)\n--private\ncountry of birth", PATH=path
    )
    assert done.returncode == 3
    assert done.stdout.splitlines() == [
        *("judge", "a b.csv", "$(touch x)", "--private", "country of birth"),
        *("--policy", "partner", "--format", "sarif,junit,json,markdown", "--out", "graph-audit"),
    ]
    assert not (tmp_path / "x").exists()


@bash
def test_missing_results_fail_and_those_of_an_earlier_run_are_removed(tmp_path):
    (tmp_path / "graph-audit").mkdir()
    for name in ("verdict.md", "verdict.sarif", "alerts.sarif"):
        (tmp_path / "graph-audit" / name).write_text("{}")
    path = put_program(tmp_path, "python", "exit 1")
    assert run_step("Install", tmp_path, "", PATH=path).returncode
    assert not list((tmp_path / "graph-audit").iterdir())
    (tmp_path / "graph-audit" / "verdict.md").write_text("# Gate passed\n")
    done = run_step("Results", tmp_path, "", GITHUB_STEP_SUMMARY=str(tmp_path / "summary"))
    assert done.returncode
    assert not (tmp_path / "graph-audit" / "alerts.sarif").exists()


@bash
def test_a_truncated_result_fails_and_leaves_no_alerts(tmp_path):
    folder = tmp_path / "graph-audit"
    write_results(folder)
    whole = (folder / "verdict.sarif").read_text().rstrip()
    more = {"GITHUB_STEP_SUMMARY": str(tmp_path / "summary")}
    assert run_step("Results", tmp_path, "", **more).returncode == 0
    (folder / "alerts.sarif").unlink()
    for text in ("", "{}", "null", whole[: len(whole) // 2], whole[:-1]):
        (folder / "verdict.sarif").write_text(text)
        assert run_step("Results", tmp_path, "", **more).returncode, text
        assert not (folder / "alerts.sarif").exists()


def write_results(folder):
    folder.mkdir()
    write_gate(make_view(), folder, ["sarif", "markdown"], 0)


@bash
@pytest.mark.slow
@pytest.mark.xdist_group("audit cluster")
def test_the_example_for_gitlab_fails_the_job_and_leaves_its_reports(tmp_path, audit_home):
    text = (ROOT / "assets" / "help" / "command_line.md").read_text()
    ((name, job),) = yaml.safe_load(re.search(r"```yaml\n(.*?)```", text, re.DOTALL)[1]).items()
    assert name == "graph-audit"
    assert set(job) == {"image", "script", "artifacts"}
    write_tables(tmp_path)
    put_program(tmp_path, "python", '[ "$*" = "-m pip install ." ]')
    path = put_program(tmp_path, "graph-audit", f'exec {sys.executable} -m core "$@"')
    script = tmp_path / "job.sh"
    script.write_text("\n".join(job["script"]).replace("quick", "common_neighbors"))
    more = {"PATH": path, "PYTHONPATH": str(ROOT), "AUDIT_WORKERS": "1"}
    done = run_script(script, more)
    assert done.returncode == 3, done.stderr
    assert job["artifacts"]["when"] == "always"
    (kept,) = job["artifacts"]["paths"]
    names = {path.name for path in (tmp_path / kept).iterdir()}
    assert {"verdict.xml", "verdict.html", "verdict.json", "audit.json"} <= names
    assert (tmp_path / job["artifacts"]["reports"]["junit"]).is_file()


@bash
@pytest.mark.slow
@pytest.mark.xdist_group("audit cluster")
def test_a_release_is_judged_and_what_did_not_pass_becomes_an_alert(tmp_path, audit_home):
    write_tables(tmp_path)
    path = put_program(tmp_path, "graph-audit", f'exec {sys.executable} -m core "$@"')
    more = {"PATH": path, "PYTHONPATH": str(ROOT), "AUDIT_WORKERS": "1"}
    done = run_step("Audit", tmp_path, JUDGE, **more)
    assert done.returncode == 3, done.stderr
    out, summary = tmp_path / "graph-audit", tmp_path / "summary.md"
    done = run_step("Results", tmp_path, "", GITHUB_STEP_SUMMARY=str(summary))
    assert done.returncode == 0, done.stderr
    assert summary.read_text().startswith("# Gate not passed")
    found = json.loads((out / "verdict.json").read_text())
    assert (found["passed"], found["exit_code"]) == (False, 3)
    (run,) = json.loads((out / "alerts.sarif").read_text())["runs"]
    bad = [case for case in found["cases"] if case["outcome"] in ("failed", "error")]
    assert [result["ruleId"] for result in run["results"]] == [case["rule"] for case in bad]
    assert len(bad) < len(found["cases"])
