"""`pip install .` gives `graph-audit` with all that it needs beside its dependencies."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from core.registry import list_methods

ROOT = Path(__file__).parents[1]
BUILT = ("core", "assets", "pyproject.toml", "requirements.txt", "README.md")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package alone in a folder; its dependencies are this environment's."""
    source, target = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("installed")
    for name in BUILT:
        item = ROOT / name
        if item.is_dir():
            shutil.copytree(item, source / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(item, source / name)
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run(
        [*command, "--no-build-isolation", "--target", target, source], check=True, timeout=300
    )
    return target


@pytest.mark.slow
def test_the_installed_command_lists_all_methods(installed: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, installed / "bin" / "graph-audit", "methods", "--json"],
        env={**os.environ, "PYTHONPATH": str(installed)},
        cwd=tmp_path,
        check=True,
        capture_output=True,
        timeout=300,
    )
    keys = [method["key"] for method in json.loads(done.stdout)]
    assert keys == [method.info.key for method in list_methods()]


@pytest.mark.slow
def test_everything_but_code_that_code_reads_is_installed(installed: Path) -> None:
    for pattern in ("core/**/*", "assets/report/*", "assets/guidance/*"):
        for path in ROOT.glob(pattern):
            if path.is_file() and "__pycache__" not in path.parts:
                assert (installed / path.relative_to(ROOT)).is_file(), path
    assert not (installed / "tests").exists()


def test_the_pinned_torch_stays() -> None:
    pins = (ROOT / "requirements.txt").read_text().splitlines()
    assert "torch==2.13.0" in pins
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert project["tool"]["setuptools"]["dynamic"]["dependencies"] == {
        "file": ["requirements.txt"]
    }


def test_constraints_agree_with_the_requirements() -> None:
    def read(name: str) -> dict[str, str]:
        lines = (ROOT / name).read_text().splitlines()
        pairs = (line.split("==") for line in lines if "==" in line and not line.startswith("#"))
        return {key.split("[")[0].lower().replace("_", "-"): version for key, version in pairs}

    pinned = {**read("requirements.txt"), **read("tests/requirements.txt")}
    constrained = read("tests/constraints.txt")
    assert {key: constrained[key] for key in pinned} == pinned
