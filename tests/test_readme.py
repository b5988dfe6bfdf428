"""What README and help pages say holds: commands run; options, variables, files exist."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from core.cli.main import build_parser, main
from core.data import catalogue
from core.data.synthetic import generate_social

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
HELP = [path.read_text() for path in sorted(ROOT.glob("assets/help/*.md"))]
DOCS = "\n".join([README, *HELP])
PYTHON = ".venv/bin/python -m core "

SMALLER = {
    "--attack gae_cosine --attack gps": "--attack degree_product",
    "--defense random_deletion:strength=0.3 --defense edge_rand:epsilon=6": "--defense edge_rand",
    "--attack all --defense all": "--attack label_propagation --repeats 1",
    "--repeats 5": "--repeats 1",
    "--graphs karate,social": "--graphs karate",
    "--adaptive": "--adaptive --repeats 1",
    "--attack quick": "--attack quick --repeats 1",
    "--trials 2000": "--trials 100",
    "--within 20": "--within 5",
}
"""The same commands on less: fewer methods, repeats and trials."""


DEPLOYMENT = (ROOT / "assets/help/deployment.md").read_text()


def read_block(heading: str) -> str:
    """The shell block below a heading of the deployment page."""
    found = re.search(rf"## {heading}\n\n```sh\n(.*?)```", DEPLOYMENT, re.DOTALL)
    assert found is not None
    return found[1]


EXECUTED = [read_block("More than one machine"), read_block("More than one person")]
"""Blocks that tests in `tests/reliability` execute."""


def list_commands(text: str) -> list[str]:
    """The lines of all shell blocks, continued lines joined, comments left out."""
    blocks = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    blocks = [block for block in blocks if block not in EXECUTED]
    lines = "\n".join(blocks).replace("\\\n", " ").splitlines()
    return [" ".join(line.split()) for line in lines if line.strip() and line[0] != "#"]


CORE_COMMANDS = [
    line.removeprefix(PYTHON) for line in list_commands(DOCS) if line.startswith(PYTHON)
]
OTHER_COMMANDS = [line for line in list_commands(DOCS) if not line.startswith(PYTHON)]


def shrink(command: str) -> list[str]:
    for old, new in SMALLER.items():
        command = command.replace(old, new)
    return shlex.split(command)


def write_tables(folder: Path) -> None:
    """Two circles of twelve with a private column and a release of them, as the docs name them."""
    people = ["user_id,country,SALARY"]
    people += [f"u{i},{'US' if i < 12 else '-1' if i == 12 else 'FR'},{i % 2}" for i in range(24)]
    (folder / "people.csv").write_text("\n".join(people))
    links = [
        f"u{12 * c + i} u{12 * c + (i + s) % 12}" for c in (0, 1) for i in range(12) for s in (1, 2)
    ]
    (folder / "relationships.txt").write_text("\n".join([*links, "u0 u12"]))
    (folder / "anonymised.csv").write_text("\n".join([*links[3:], "u3 u20"]))
    (folder / "links").mkdir()
    (folder / "links" / "part.txt").write_text("\n".join(links).replace("u", ""))
    rows = [f"{i},{'US' if i < 12 else 'FR'}" for i in range(24)]
    (folder / "accounts.csv").write_text("\n".join(["id,country", *rows]))
    shutil.copy(ROOT / "tests/examples/own_defense/anonymise.py", folder)


@pytest.mark.parametrize("command", CORE_COMMANDS)
def test_commands_are_understood(command: str) -> None:
    build_parser().parse_args(shlex.split(command))


def mark(command: str) -> Any:
    """A command's program runs on workers that this command started."""
    own = "command:" in command
    return pytest.param(command, marks=[pytest.mark.own_cluster] if own else [])


@pytest.mark.slow
@pytest.mark.parametrize("command", [mark(command) for command in CORE_COMMANDS])
def test_commands_run(command: str, tmp_path, audit_home, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AUDIT_WORKERS", "1")
    monkeypatch.setattr(catalogue, "generate_social", lambda: generate_social(200))
    monkeypatch.setenv("_AUDIT_COMMANDS", "")  # what the command sets is taken back
    write_tables(tmp_path)
    arguments = shrink(command)
    before = os.umask(0o077)  # as the entry point sets it
    try:
        assert main(arguments) in ((0, 3) if "--policy" in arguments else (0,))
    finally:
        os.umask(before)
    if "--out" in arguments:
        out = tmp_path / arguments[arguments.index("--out") + 1]
        assert out.exists()
        if arguments[0] in ("audit", "judge"):
            written = json.loads((out / "audit.json").read_text())
            assert written["results"]
            assert not any(row["status"] == "failed" for row in written["results"])
            if "command:" in command:
                rows = [row for row in written["results"] if row["release"] != "original"]
                assert {"auc"} <= {row["metric"] for row in rows if row["status"] == "done"}
            assert (out / "nodes.parquet").is_file()
            assert (out / "report.pdf").is_file() == ("--report" in arguments)
            assert ("verdict" in written) == ("--policy" in arguments)
            formats = [path.name for path in sorted(out.glob("verdict.*"))]
            wanted = ["verdict.sarif", "verdict.xml"] if "--format" in arguments else []
            assert formats == wanted


def test_commands_of_installation_name_files_that_are_there() -> None:
    assert len(OTHER_COMMANDS) == 2
    for command in OTHER_COMMANDS:
        for name in re.findall(r"-r (\S+)|run (\S+\.py)", command):
            assert (ROOT / (name[0] or name[1])).is_file()
    # The options of the test command are those of the installed plugins.
    options = shlex.split(OTHER_COMMANDS[1].rpartition("pytest ")[2])
    subprocess.run(
        [sys.executable, "-m", "pytest", *options, "--version"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        timeout=120,
    )


@pytest.mark.slow
def test_the_installed_tools_of_both_commands_start() -> None:
    for tool in ("streamlit", "pytest"):
        found = shutil.which(tool, path=str(Path(sys.executable).parent))
        assert found is not None
        subprocess.run([found, "--version"], check=True, capture_output=True, timeout=120)


def list_options() -> set[str]:
    """Every option of every command."""
    parser = build_parser()
    commands = next(
        action for action in parser._actions if action.dest == "==SUPPRESS==" or action.choices
    )
    parsers = commands.choices.values()  # type: ignore[union-attr]
    for command in parsers:
        command.complete()
    return {
        option
        for command in parsers
        for action in command._actions
        for option in action.option_strings
    }


def test_options_named_in_the_text_exist() -> None:
    text = re.sub(r"```sh.*?```", "", DOCS, flags=re.DOTALL)
    named = {name.split()[0].split("=")[0] for name in re.findall(r"`(--[a-z][^`]*)`", text)}
    assert named
    assert named <= list_options()


def test_variables_are_those_that_the_code_reads() -> None:
    files = [*ROOT.glob("core/**/*.py"), *ROOT.glob("pages/**/*.py"), ROOT / "app.py"]
    read = {name for file in files for name in re.findall(r"\bAUDIT_[A-Z_]+\b", file.read_text())}
    families = {name for name in read if name.endswith("_")}  # AUDIT_TLS_…
    named = set(re.findall(r"`(AUDIT_[A-Z_]+)", DOCS))
    told = {name for name in named if not any(name.startswith(family) for family in families)}
    assert told == read - families
    assert all(any(name.startswith(family) for name in named) for family in families)


def test_files_named_in_links_are_there() -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (ROOT / target).is_file(), target


def test_it_stays_short_and_every_benchmark_has_its_section() -> None:
    assert len(README.splitlines()) <= 120
    headings = re.findall(r"^## (.+)$", (ROOT / "tests/benchmarks/README.md").read_text(), re.M)
    described = {name for heading in headings for name in heading.split(", ")}
    modules = {path.stem: path.read_text() for path in (ROOT / "tests/benchmarks").glob("*.py")}
    is_script = {name: "__main__" in text for name, text in modules.items()}
    scripts = {name for name in modules if is_script[name] and not name.startswith("test_")}
    assert len(scripts) > 40
    assert scripts <= described, scripts - described
    assert os.path.getsize(ROOT / "assets/screenshots/risk-light.png") > 0
