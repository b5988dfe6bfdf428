"""The example of the README runs as it stands, but for fewer repeats."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_the_example_runs(tmp_path: Path) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert len([line for line in code.splitlines() if line]) <= 8
    script = tmp_path / "example.py"
    script.write_text(code.replace("known=0.3", "known=0.3, num_repeats=1"))
    own = {"AUDIT_HOME": str(tmp_path / "home"), "AUDIT_WORKERS": "1", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, str(script)],
        cwd=tmp_path,
        env={**os.environ, **own},
        check=True,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert "review" in done.stdout or "do_not_publish" in done.stdout
    assert "edge_rand:epsilon=4" in done.stdout
    assert "<html>" in (tmp_path / "exposure.html").read_text()
