"""Every script of benchmarks and pictures can be imported: what it calls is still there."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
SCRIPTS = [
    ".".join(("tests", folder, path.stem))
    for folder in ("benchmarks", "browser", "reliability")
    for path in sorted((TESTS / folder).glob("*.py"))
    if not path.stem.startswith(("test_", "__"))
]


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_finds_what_it_imports(name):
    assert importlib.import_module(name).__doc__
