"""Every example runs as its first line says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted(p for p in Path(__file__).parent.glob("*.py") if not p.name.startswith("test_"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_example_runs(path: Path, tmp_path: Path) -> None:
    module = f"tests.examples.{path.stem}"
    assert f"python -m {module}" in path.read_text().splitlines()[0]
    done = subprocess.run(
        [sys.executable, "-m", module, str(tmp_path)],
        cwd=path.parents[2],
        check=True,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert "adamic_adar" in done.stdout
    assert "edge_rand" in done.stdout
    assert "<html>" in (tmp_path / "ranking.html").read_text()
