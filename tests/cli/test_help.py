"""The list of commands is there at once: nothing is imported that it does not show."""

from __future__ import annotations

import subprocess
import sys

LATE = {
    *("distributed", "matplotlib", "networkx", "scipy.optimize", "scipy.spatial", "scipy.stats"),
    *("sklearn", "streamlit", "torch"),
}
"""What methods import where they use it."""

HEAVY = {*LATE, "core.registry", "numba", "numpy", "pandas", "pydantic", "scipy", "sqlalchemy"}


def show_help(*words: str) -> tuple[str, set[str]]:
    """What `words` print, and which of HEAVY that imported."""
    code = f"""
import sys
from core.cli.main import main
try:
    main({[*words, "--help"]})
finally:
    print("imported", *{HEAVY} & set(sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    text, _, imported = done.stdout.rpartition("imported")
    return text, set(imported.split())


def test_the_list_of_commands_imports_nothing_heavy() -> None:
    text, imported = show_help()
    assert "attack a graph and defended releases of it" in text
    assert imported == set()


def test_the_help_of_a_command_has_the_options_of_the_fields() -> None:
    text, imported = show_help("publish")
    assert "--defense KEY" in text
    assert "--publish-columns COLUMN" in text
    assert "core.registry" in imported
    assert not imported & LATE
