"""Names that `core` gives scripts are listed, cheap to import, and have an example each; all
examples in docstrings run."""

from __future__ import annotations

import ast
import doctest
import inspect
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import core
from core import Audit
from core.audit.asked.spec import AuditSpec
from core.data.catalogue import load_dataset
from core.findings.policy import find_policy
from tests.inline import run_inline

ROOT = Path(__file__).parents[1]
MODULES = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for path in ROOT.glob("core/**/*.py")
    if ">>> " in path.read_text(encoding="utf-8")
)


@pytest.fixture(scope="module")
def audit(tmp_path_factory) -> Audit:
    """An audit of the karate club, by a policy."""
    graph = load_dataset("karate").graph
    spec = AuditSpec.check_spec(
        {
            "graph_name": "karate",
            "graph_hash": graph.content_hash,
            "hide_links": 0.1,
            "num_repeats": 1,
            "attacks": [{"key": "common_neighbors"}, {"key": "degree_product"}],
            "policy": find_policy("public").model_dump(mode="json"),
        }
    )
    return Audit(run_inline(spec, graph, tmp_path_factory.mktemp("home")))


@pytest.mark.parametrize("module", MODULES)
def test_examples_run(module, audit, audit_home, monkeypatch) -> None:
    monkeypatch.setenv("AUDIT_WORKERS", "1")
    options = doctest.NORMALIZE_WHITESPACE
    found = doctest.testmod(import_module(module), extraglobs={"audit": audit}, optionflags=options)
    assert found.attempted
    assert not found.failed


def test_the_public_names_are_listed_with_an_example_each() -> None:
    listed = (ROOT / "assets/help/scripts.md").read_text()
    assert 10 <= len(core.__all__) <= 14
    for name in core.__all__:
        assert f"`{name}" in listed, name
        public = getattr(core, name)
        assert ">>> " in inspect.getdoc(public), name
        assert public.__module__ in MODULES, name
    tree = ast.parse((ROOT / "core/__init__.py").read_text())
    typed = {a.asname for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) for a in n.names}
    assert typed - {None} == set(core.__all__)
    with pytest.raises(AttributeError, match="no attribute 'new'"):
        _ = core.new


def test_importing_core_imports_nothing_else() -> None:
    code = "import core, sys; print(*(n for n in sys.modules if n.startswith(('core', 'numpy'))))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True
    )
    assert done.stdout.split() == ["core"]
