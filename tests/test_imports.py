"""The house: imports point down one order, lazy ones included, and there is no circle."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

BASE = (
    "arrays",
    "device",
    "errors",
    "graph",
    "home",
    "link_table",
    "node_column",
    "node_table",
    "nouns",
    "once",
    "progress",
    "records",
    "release",
    "results",
    "seeding",
    "threats",
    "words",
)
FLOORS = (
    BASE,
    ("context",),
    ("methods",),
    ("algorithms",),
    ("data",),
    ("models",),
    ("privacy",),
    ("measures",),
    ("partitioned",),
    ("attacks",),
    ("defenses",),
    ("registry",),
    ("audit",),
    ("findings",),
    ("search",),
    ("figures", "report", "cli"),
    ("library",),
    ("__main__", "pages"),
    ("app",),
)
"""From the ground up. Rooms of one floor do not import each other, but for the base and the
command line, which writes reports."""

AUDIT_FLOORS = (
    ("asked",),
    ("computing",),
    ("store",),
    ("results",),
    ("jobs",),
    ("assemble", "service", "studies"),
    ("access",),
)
"""The same within `core.audit`: what is asked, how it is computed and kept, what came of it, who
runs it, who may."""

SAME_FLOOR = {("cli", "report"), *((a, b) for a in BASE for b in BASE)}


def list_files() -> list[Path]:
    return [*ROOT.glob("core/**/*.py"), *ROOT.glob("pages/**/*.py"), ROOT / "app.py"]


def find_imports(path: Path) -> Iterator[tuple[str, int]]:
    """Modules of the project that a file imports anywhere, under TYPE_CHECKING too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node.lineno
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            for alias in node.names:
                yield f"{node.module}.{alias.name}", node.lineno


def find_room(module: str) -> str | None:
    parts = module.split(".")
    if parts[0] == "core":
        return parts[1] if len(parts) > 1 else None
    return parts[0] if parts[0] in ("pages", "app") else None


def name_module(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def find_faults(imports: dict[str, list[tuple[str, int]]]) -> list[str]:
    floors = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}
    faults = []
    for module, targets in imports.items():
        room = find_room(module)
        if room is None:
            continue
        for target, line in targets:
            other = find_room(target)
            if other is None or other == room:
                continue
            is_down = floors[other] < floors[room]
            if not is_down and (room, other) not in SAME_FLOOR:
                faults.append(f"{module}:{line} imports {target}")
    return faults


def find_audit_faults(imports: dict[str, list[tuple[str, int]]]) -> list[str]:
    """Imports within `core.audit` that point up its own order."""
    floors = {room: number for number, rooms in enumerate(AUDIT_FLOORS) for room in rooms}
    faults = []
    for module, targets in imports.items():
        if not module.startswith("core.audit."):
            continue
        for target, line in targets:
            if not target.startswith("core.audit."):
                continue
            room, other = module.split(".")[2], target.split(".")[2]
            if floors[other] > floors[room]:
                faults.append(f"{module}:{line} imports {target}")
    return faults


def find_circle(imports: dict[str, list[tuple[str, int]]]) -> list[str]:
    """Files that import each other in a ring; empty where there is none."""
    modules = set(imports)
    edges: dict[str, set[str]] = {}
    for module, targets in imports.items():
        found = {t if t in modules else t.rpartition(".")[0] for t, _ in targets}
        edges[module] = (found & modules) - {module}
    done: set[str] = set()

    def visit(module: str, path: list[str]) -> list[str]:
        if module in path:
            return path[path.index(module) :]
        if module in done:
            return []
        for other in sorted(edges[module]):
            ring = visit(other, [*path, module])
            if ring:
                return ring
        done.add(module)
        return []

    return next((ring for module in sorted(edges) if (ring := visit(module, []))), [])


@pytest.fixture(scope="module")
def imports() -> dict[str, list[tuple[str, int]]]:
    return {name_module(path): list(find_imports(path)) for path in list_files()}


def test_imports_point_down(imports) -> None:
    assert find_faults(imports) == []


def test_imports_within_the_audit_point_down(imports) -> None:
    assert find_audit_faults(imports) == []


def test_no_file_imports_itself_round_a_corner(imports) -> None:
    # `core` itself names what is imported when a script asks for it.
    assert find_circle({name: own for name, own in imports.items() if name != "core"}) == []


def test_every_room_has_a_floor(imports) -> None:
    rooms = {room for module in imports if (room := find_room(module))}
    assert rooms == {room for rooms in FLOORS for room in rooms}


def test_the_core_never_imports_streamlit_nor_reports_plotly(imports) -> None:
    for module, targets in imports.items():
        room, names = find_room(module), {target.split(".")[0] for target, _ in targets}
        if room not in ("pages", "app"):
            assert "streamlit" not in names, module
        if room in ("report", "cli", "audit", "findings"):
            assert "plotly" not in names, module
        if room in ("report", "figures", "findings"):  # they show what was computed elsewhere
            assert not any(t.startswith("core.audit.jobs.") for t, _ in targets), module
        if room in ("pages", "algorithms"):
            assert "torch" not in names, module


GUARDED = ("catalogue", "node_pairs", "sandbox", "text_input")
"""Modules of `core.data` whose `load_` cli and pages may call: bundled graphs, the process that
reads under limits, and lines of text within limits of their own."""

RAW = re.compile(r"(load|read)_(?!text$)\w+|loadtxt|genfromtxt|fromfile")


def find_raw_readers(module: str, tree: ast.AST) -> list[str]:
    """Where cli or pages read a graph or a table in their own process: a reader of `core.data`, or
    one of NumPy, pandas, NetworkX or torch."""
    if not module.startswith(("core.cli", "pages")):
        return []
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("core.data."):
            names = [alias.name for alias in node.names if RAW.fullmatch(alias.name)]
            is_raw = (node.module or "").rpartition(".")[2] not in GUARDED
            found += [f"{module}:{node.lineno} imports {name}" for name in names if is_raw]
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            whole = f"{node.value.id}.{node.attr}"
            is_reader = node.value.id in ("readers", "np", "numpy", "pd", "pandas", "nx")
            if (is_reader and RAW.fullmatch(node.attr)) or whole in ("np.load", "torch.load"):
                found.append(f"{module}:{node.lineno} calls {whole}")
    return found


def test_cli_and_pages_read_files_in_the_reader_process_alone() -> None:
    faults = []
    for path in list_files():
        faults += find_raw_readers(name_module(path), ast.parse(path.read_text(encoding="utf-8")))
    assert faults == []


def test_the_checker_sees_raw_readers() -> None:
    for line in (
        "from core.data.readers import load_graph",
        "from core.data.edge_list import load_edge_list",
        "readers.read_preview(path)",
        "pd.read_csv(path)",
        "np.load(path)",
    ):
        assert find_raw_readers("pages.ui.upload", ast.parse(line)), line
    assert not find_raw_readers("core.data.readers", ast.parse("pd.read_csv(path)"))
    assert not find_raw_readers(
        "pages.data", ast.parse("from core.data.sandbox import load_safely")
    )


def test_the_checker_sees_what_it_is_for() -> None:
    assert find_faults({"core.models.gae": [("core.attacks.link.seal.Seal", 3)]})
    assert find_faults({"core.report.document": [("core.figures.risk_charts", 1)]})
    assert find_audit_faults({"core.audit.store.files": [("core.audit.results.view", 1)]})
    assert find_audit_faults({"core.audit.service": [("core.audit.access.rules", 1)]})
    assert not find_audit_faults({"core.audit.jobs.job": [("core.audit.store.files", 1)]})
    ring = {"core.a": [("core.b.x", 1)], "core.b": [("core.a", 1)]}
    assert find_circle(ring) == ["core.a", "core.b"]


def test_no_figure_has_the_name_of_a_finding() -> None:
    """A line of code tells its room: findings are named by their question, figures by what they
    draw."""
    findings, figures = (
        {path.stem for path in (ROOT / "core" / room).glob("*.py")} - {"__init__"}
        for room in ("findings", "figures")
    )
    assert not findings & figures
