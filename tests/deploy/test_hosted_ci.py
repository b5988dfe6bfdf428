"""The hosted workflow and the hooks run what the project runs."""

from __future__ import annotations

import shlex
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
CI = (ROOT / ".ci" / "run").read_text()


def test_the_one_step_of_the_workflow_is_the_script_of_the_project():
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text())
    (job,) = workflow["jobs"].values()
    runs = [shlex.split(step["run"]) for step in job["steps"] if "run" in step]
    assert [words[-1] for words in runs] == [".ci/run"]
    assert workflow["permissions"] == {"contents": "read"}
    uses = [step["uses"] for step in job["steps"] if "uses" in step]
    assert all(name.startswith("actions/") for name in uses)


def test_hooks_are_local_and_are_the_checks_of_the_script():
    (repo,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    assert repo["repo"] == "local"
    for hook in repo["hooks"]:
        assert hook["language"] == "system"
        assert hook["entry"] in CI, hook["id"]
